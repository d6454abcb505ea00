import fc from 'fast-check';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import type { Route } from '#shared/contract/route.ts';
import { readProbe } from '#test/support/probe-routes.ts';
import { checkBody } from './checked-body.ts';
import type { CheckedBody } from './checked-body.ts';

const probe = readProbe('reports');
const answering = (schema: z.ZodType): Pick<Route, 'success'> => ({
  ...probe,
  success: { ...probe.success, schema },
});
/** Takes a value as it is: `z.json()` would make a copy, without members called `__proto__`. */
const anything = answering(z.unknown());

function check(body: unknown, row = anything): CheckedBody {
  const result = checkBody(row, body);
  if (!result.ok) throw new Error(result.error.join());
  return result.value;
}

describe('checkBody', () => {
  it('takes what the schema makes of a body, and nothing that the schema does not know', () => {
    const row = answering(z.strictObject({ view: z.string().default('summary'), rows: z.array(z.int()) }));
    expect(check({ rows: [1] }, row).text()).toBe('{"view":"summary","rows":[1]}');
    expect(checkBody(row, { rows: ['canary', 1, 1.5], canary: 1 })).toEqual({
      ok: false,
      error: ['invalid_type at /body/rows/0', 'invalid_type at /body/rows/2', 'unrecognized_keys at /body'],
    });
  });

  it('names at most a hundred places', () => {
    const refused = checkBody(
      answering(z.array(z.int())),
      Array.from({ length: 5000 }, () => 'x'),
    );
    expect(!refused.ok && refused.error.length).toBe(100);
  });

  it('refuses what has no JSON', () => {
    expect(checkBody(answering(z.unknown()), undefined)).toEqual({ ok: false, error: ['no JSON at /body'] });
  });
});

describe('the pieces of a checked body', () => {
  it('are its JSON, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }), (value) => {
        const body = check(value);
        expect([...body.pieces()].join('')).toBe(JSON.stringify(value));
        expect(body.text()).toBe(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [[]],
    [{}],
    [{ a: undefined }],
    [{ a: undefined, b: [undefined, 1], c: undefined, d: { e: undefined } }],
    [[undefined]],
    [{ when: new Date(0), deep: { when: [new Date(1)] } }],
    [JSON.parse('{"__proto__":{"a":[1]},"2":1,"1":2}') as object],
    ['\ud800'],
  ])('are what JSON.stringify says of %j', (value) => {
    expect([...check(value).pieces()].join('')).toBe(JSON.stringify(value));
  });

  it('are one a row, also of a list that lies deeper, and can be had again', () => {
    const row = { evidence: [1, 2, 3] };
    const body = check({ header: 'h', report: { rows: [row, row, row] } });
    const pieces = [...body.pieces()];
    expect(pieces.filter((piece) => piece.includes('evidence'))).toEqual([
      '[{"evidence":[1,2,3]}',
      ',{"evidence":[1,2,3]}',
      ',{"evidence":[1,2,3]}',
    ]);
    expect([...body.pieces()]).toEqual(pieces);
  });
});
