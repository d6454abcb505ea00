import fc from 'fast-check';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { checkBody, jsonPieces } from './check-response.ts';

describe('checkBody', () => {
  it('takes what the schema makes of a body, and nothing that the schema does not know', () => {
    const schema = z.strictObject({ view: z.string().default('summary'), rows: z.array(z.int()) });
    expect(checkBody(schema, { rows: [1] })).toEqual(ok({ view: 'summary', rows: [1] }));
    expect(checkBody(schema, { rows: ['canary', 1, 1.5], canary: 1 })).toEqual(
      err(['invalid_type at /body/rows/0', 'invalid_type at /body/rows/2', 'unrecognized_keys at /body']),
    );
  });

  it('names no member that could be an id', () => {
    const body = { sizes: { 'form-1': 'x', form_2: 'x' } };
    expect(checkBody(z.object({ sizes: z.record(z.string(), z.int()) }), body)).toEqual(
      err(['invalid_type at /body/sizes/*', 'invalid_type at /body/sizes/form_2']),
    );
  });

  it('names at most a hundred places', () => {
    const refused = checkBody(z.array(z.int()), Array<string>(5000).fill('x'));
    expect(!refused.ok && refused.error.length).toBe(100);
  });
});

describe('the pieces of a checked body', () => {
  it('are its JSON, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 }), (value) => {
        expect([...jsonPieces(value)].join('')).toBe(JSON.stringify(value));
      }),
      {
        numRuns: 200,
        examples: [
          [{ a: undefined, b: {}, c: undefined, d: { e: undefined } }],
          [JSON.parse('{"__proto__":{"a":[1]},"2":1,"1":2}') as never],
        ],
      },
    );
  });

  it('are one a row, also of a list that lies deeper', () => {
    const row = { evidence: [1, 2, 3] };
    const pieces = [...jsonPieces({ header: 'h', report: { rows: [row, row, row] } })];
    expect(pieces.filter((piece) => piece.includes('evidence'))).toEqual([
      '[{"evidence":[1,2,3]}',
      ',{"evidence":[1,2,3]}',
      ',{"evidence":[1,2,3]}',
    ]);
  });
});
