import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { createFact, httpAnswer } from './stage.ts';

describe('a fact of a stage', () => {
  it('belongs to one request', () => {
    const fact = createFact<{ readonly n: number }>('token');
    const [one, two] = [{} as Context, {} as Context];
    fact.set(one, { n: 1 });
    expect(fact.of(one)).toEqual({ n: 1 });
    expect(fact.find(two)).toBeUndefined();
    expect(() => fact.of(two)).toThrow('the stage "token" has not run');
  });
});

describe('an answer on its way out', () => {
  it.each([undefined, null, { body: { seen: {} } }])('must have been checked: not %j', (response) => {
    expect(() => httpAnswer(response as never)).toThrow('has not been checked');
  });
});
