import fc from 'fast-check';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { checkedOf } from '#test/support/probe-routes.ts';
import { checkBody } from './checked-body.ts';

describe('checkBody', () => {
  it('takes what the schema makes of a body, and nothing that the schema does not know', () => {
    const schema = z.strictObject({ view: z.string().default('summary'), rows: z.array(z.int()) });
    expect(checkedOf({ rows: [1] }, schema).text()).toBe('{"view":"summary","rows":[1]}');
    expect(checkBody(schema, { rows: ['canary', 1, 1.5], canary: 1 })).toEqual({
      ok: false,
      error: ['invalid_type at /body/rows/0', 'invalid_type at /body/rows/2', 'unrecognized_keys at /body'],
    });
  });

  it('names at most a hundred places', () => {
    const refused = checkBody(z.array(z.int()), Array<string>(5000).fill('x'));
    expect(!refused.ok && refused.error.length).toBe(100);
  });

  it('refuses what has no JSON', () => {
    expect(checkBody(z.unknown(), undefined)).toEqual({
      ok: false,
      error: ['no JSON at /body'],
    });
  });
});

describe('the pieces of a checked body', () => {
  it('are its JSON, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }), (value) => {
        expect([...checkedOf(value).pieces()].join('')).toBe(JSON.stringify(value));
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
    expect([...checkedOf(value).pieces()].join('')).toBe(JSON.stringify(value));
  });

  it('are one a row, also of a list that lies deeper, and can be had again', () => {
    const row = { evidence: [1, 2, 3] };
    const body = checkedOf({ header: 'h', report: { rows: [row, row, row] } });
    const pieces = [...body.pieces()];
    expect(pieces.filter((piece) => piece.includes('evidence'))).toEqual([
      '[{"evidence":[1,2,3]}',
      ',{"evidence":[1,2,3]}',
      ',{"evidence":[1,2,3]}',
    ]);
    expect([...body.pieces()]).toEqual(pieces);
  });
});
