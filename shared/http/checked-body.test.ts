import fc from 'fast-check';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import type { Route } from '#shared/contract/route.ts';
import { readProbe } from '#test/support/probe-routes.ts';
import { checkBody } from './checked-body.ts';
import type { CheckedBody } from './checked-body.ts';

const probe = readProbe('reports');
const answering = (schema: z.ZodType): Pick<Route, 'operationId' | 'success'> => ({
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

  it('passes a checked body for its own route without another look, and for no other', () => {
    let looks = 0;
    const row = answering(z.json().refine(() => (looks += 1) > 0));
    const body = check({ a: 1 }, row);
    expect(check(body, row)).toBe(body);
    expect(looks).toBe(1);
    expect(checkBody(anything, body)).toEqual({
      ok: false,
      error: ['checked for another route than readProbe'],
    });
  });

  it('is not taken in by what only looks like a checked body', () => {
    const { pieces, text, template } = check({});
    expect(checkBody(answering(z.strictObject({})), { pieces, text, template }).ok).toBe(false);
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

describe('a template', () => {
  const marks = ['mark-ba42c1', 'mark-0e77f3'] as const;

  it('gives the JSON of the same body with other values, whatever has to be escaped', () => {
    const value = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.jsonValue(), value, value, (rest, first, second) => {
        const body = (a: string, b: string): unknown => ({
          requestId: a,
          instance: `urn:uuid:${a}`,
          rest,
          rows: [{ at: b }, { at: b, of: `${a}${b}` }],
        });
        const filled = check(body(...marks))
          .template(marks)
          .fill([first, second]);
        expect(filled.text()).toBe(JSON.stringify(body(first, second)));
        expect([...filled.pieces()].join('')).toBe(filled.text());
      }),
    );
  });

  it('gives the same text piece by piece as from one text, also when a value holds another placeholder', () => {
    const part = fc.oneof(fc.constantFrom(...marks, '"', '\\', 'mark-', ''), fc.string({ unit: 'binary' }));
    const texts = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        fc.array(fc.record({ at: texts, of: fc.array(texts, { maxLength: 3 }) }), { maxLength: 6 }),
        fc.tuple(texts, texts),
        (rows, values) => {
          const template = check({ requestId: marks[1], rows, last: marks[0] }).template(marks);
          const text = template.fill(values).text();
          expect([...template.fill(values).pieces()].join('')).toBe(text);
          expect(template.keep(Infinity)?.fill(values).text()).toBe(text);
          const filled = (value: string): string =>
            value.replaceAll(/mark-ba42c1|mark-0e77f3/g, (mark) => values[mark === marks[0] ? 0 : 1]);
          expect(JSON.parse(text)).toEqual({
            requestId: values[1],
            rows: rows.map(({ at, of }) => ({ at: filled(at), of: of.map(filled) })),
            last: values[0],
          });
        },
      ),
    );
  });

  it('leaves the pieces of the body as they are, but for those that hold a placeholder', () => {
    const rows = [{ a: 1 }, { at: marks[0] }, { a: 2 }];
    const body = check({ rows });
    const [, , second = '', , fourth = ''] = body.pieces();
    const filled = [...body.template(marks).fill(['x', 'y']).pieces()];
    expect(filled).toEqual(['{"rows":', '[{"a":1}', ',{"at":"x"}', ',{"a":2}', ']', '}']);
    expect([...body.pieces()]).toHaveLength(filled.length);
    expect([second, fourth]).toEqual([`,{"at":"${marks[0]}"}`, ']']);
  });

  it('can be filled again and again, and made of a filled body', () => {
    const template = check({ a: marks[0], b: marks[1] }).template(marks);
    for (const each of [template, template.keep(Infinity)!]) {
      expect(each.fill(['1', '2']).text()).toBe('{"a":"1","b":"2"}');
      expect(each.fill([marks[1], marks[0]]).text()).toBe(`{"a":"${marks[1]}","b":"${marks[0]}"}`);
      expect(each.fill([marks[0], 'x']).template([marks[0]]).fill(['y']).text()).toBe('{"a":"y","b":"x"}');
    }
  });

  it('counts as checked for the same route, without another look at the schema', () => {
    let looks = 0;
    const row = answering(z.json().refine(() => (looks += 1) > 0));
    const filled = check({ a: marks[0] }, row).template([marks[0]]).fill(['b']);
    expect(check(filled, row)).toBe(filled);
    expect(looks).toBe(1);
  });

  it('is kept as one text that says what it takes up, up to a length', () => {
    const text = `{"a":"${marks[0]}"}`;
    const template = check({ a: marks[0] }).template(marks);
    expect(template.keep(text.length)?.length).toBe('{"a":""}'.length);
    expect(template.keep(text.length - 1)).toBeUndefined();
  });

  it('that is too long to be kept is made into no more text than that', () => {
    let written = 0;
    const row = {
      toJSON() {
        written += 1;
        return 'x'.repeat(100);
      },
    };
    const body = check({ rows: Array.from({ length: 1000 }, () => row) });
    expect(body.template(marks).keep(1000)).toBeUndefined();
    expect(written).toBe(10);
  });

  it('asks for each piece of the body only when its own is asked for', () => {
    let written = 0;
    const row = { toJSON: () => (written += 1) };
    const body = check({ rows: [row, row, row] });
    const pieces = body.template(marks).fill(['1', '2']).pieces()[Symbol.iterator]();
    expect([pieces.next().value, written]).toEqual(['{"rows":', 0]);
    expect([pieces.next().value, written]).toEqual(['[1', 1]);
    expect([pieces.next().value, written]).toEqual([',2', 2]);
  });

  it('refuses placeholders that could be mistaken, and values that do not match them in number', () => {
    const body = check({ a: 'mark' });
    for (const placeholders of [[''], ['a"b'], ['a\nb'], ['mark', 'mark'], ['mark', 'mark-2']])
      expect(() => body.template(placeholders), placeholders.join()).toThrow(TypeError);
    expect(() => body.template(['mark']).fill([])).toThrow(TypeError);
    expect(() => body.template(['mark']).keep(Infinity)?.fill([])).toThrow(TypeError);
  });
});
