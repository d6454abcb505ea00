import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allOpen } from '#shared/release/release-state.ts';
import { changed, placesOf } from '#test/support/changed.ts';
import { createCompiler, type JsonSchema, type Validate } from '#test/support/json-schema.ts';
import { renderSandboxOpenApi } from '#tools/docs/sandbox.ts';
import { extensible } from './describe.ts';
import { renderOpenApi } from './openapi.ts';
import { tolerant } from './tolerant.ts';

type Json = Readonly<Record<string, unknown>>;
interface Media {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

describe('a tolerant schema', () => {
  const status = { type: 'string', enum: ['open', 'shut'], [extensible]: ['open', 'shut'] };
  const listed = (...values: readonly string[]) => ({ type: 'string', enum: values, [extensible]: values });
  const either = (kind: string, name: string): Json => ({
    type: 'object',
    properties: { kind: { ...listed(kind), description: `Kind.\n\n- ${kind}` }, [name]: { type: 'integer' } },
    required: ['kind', name],
  });
  const closed = ['size', 'table'].map((name) => ({
    properties: { [name]: { type: 'integer' } },
    additionalProperties: false,
  }));
  const schemaOf = (schema: Json): unknown =>
    Object.values(
      tolerant({ components: { schemas: { schema, Status: status } } }) as Record<string, Json>,
    ).map(({ schemas }) => (schemas as Json)['schema'])[0];

  it.each<readonly [string, Json, Json]>([
    [
      'takes any value of an enumeration that may gain values, and keeps its description',
      { ...status, description: 'A state.' },
      { description: 'A state.', anyOf: [status, { type: 'string' }] },
    ],
    [
      'has one list of alternatives for such an enumeration that may be null',
      { anyOf: [status, { type: 'null' }] },
      { anyOf: [status, { type: 'string' }, { type: 'null' }] },
    ],
    [
      'has one list of alternatives also for a named one',
      { anyOf: [{ $ref: '#/components/schemas/Status' }, { type: 'null' }] },
      { anyOf: [status, { type: 'string' }, { type: 'null' }] },
    ],
    [
      'keeps an enumeration and a constant that stay closed',
      { type: 'object', properties: { view: { enum: ['a'] }, object: { type: 'string', const: 'run' } } },
      { type: 'object', properties: { view: { enum: ['a'] }, object: { type: 'string', const: 'run' } } },
    ],
    ['has no conditions', { type: 'object', allOf: [{ if: {}, then: { not: {} } }] }, { type: 'object' }],
    [
      'is the envelope where a response narrows it',
      { allOf: [{ $ref: '#/p' }, { properties: { status: { const: 400 } } }] },
      { $ref: '#/p' },
    ],
    [
      'is the type of its constants',
      { type: 'integer', anyOf: [{ const: 0 }, { const: 1 }] },
      { type: 'integer' },
    ],
    [
      'is one object with the members of its alternatives, which are required if they are in each',
      { description: 'x', anyOf: [either('a', 'size'), either('b', 'table')] },
      {
        ...{ type: 'object', description: 'x', required: ['kind'] },
        properties: {
          kind: { description: 'Kind.', anyOf: [listed('a', 'b'), { type: 'string' }] },
          size: { type: 'integer' },
          table: { type: 'integer' },
        },
      },
    ],
    ['stays one of several objects that are closed', { anyOf: closed }, { anyOf: closed }],
    [
      'has no reference beside what it repeats',
      { type: 'string', minLength: 1, $ref: '#/Id' },
      { type: 'string', minLength: 1 },
    ],
    [
      'keeps a reference with its text',
      { $ref: '#/Id', description: 'x' },
      { $ref: '#/Id', description: 'x' },
    ],
    [
      'names the precision of a number',
      { type: ['number', 'null'] },
      { type: ['number', 'null'], format: 'double' },
    ],
    [
      'has members of any name, and the same examples',
      {
        properties: { allOf: { type: 'string' }, links: { type: 'string' } },
        examples: [{ allOf: [], type: 'number' }],
      },
      {
        properties: { allOf: { type: 'string' }, links: { type: 'string' } },
        examples: [{ allOf: [], type: 'number' }],
      },
    ],
  ])('%s', (_, strict, expected) => {
    expect(schemaOf(strict)).toEqual(expected);
  });
});

describe.each([
  ['mastery', renderOpenApi('mastery', allOpen)],
  ['reports', renderOpenApi('reports', allOpen)],
  ['sandbox', renderSandboxOpenApi()],
] as const)('the tolerant document of %s', (_name, rendered) => {
  const strict = JSON.parse(JSON.stringify(rendered)) as Json;
  const open = tolerant(strict) as Json;

  /** Every JSON body of a document that has an example, by its place: its schema, and the examples. */
  function bodiesOf(document: unknown, place = ''): (readonly [string, Media])[] {
    if (typeof document !== 'object' || document === null) return [];
    return Object.entries(document).flatMap(([name, member]): (readonly [string, Media])[] =>
      /^application\/(?:problem\+)?json$/.test(name)
        ? [[`${place}/${name}`, member as Media]]
        : bodiesOf(member, `${place}/${name}`),
    );
  }
  const validators = (document: Json): Map<string, Validate> => {
    const compile = createCompiler(
      (reference) =>
        reference
          .slice(2)
          .split('/')
          .reduce<unknown>((at, step) => (at as Json)[step], document) as JsonSchema,
    );
    return new Map(bodiesOf(document).map(([place, { schema }]) => [place, compile(schema)]));
  };
  const [byStrict, byOpen] = [validators(strict), validators(open)];
  const bodies = bodiesOf(strict).flatMap(([place, { example, examples = {} }]) =>
    [example, ...Object.values(examples).map(({ value }) => value)]
      .filter((value) => value !== undefined)
      .map((value) => ({ place, value })),
  );
  const isValid = (by: ReadonlyMap<string, Validate>, place: string, value: unknown): boolean =>
    by.get(place)?.(value).length === 0;

  it('admits whatever the strict one admits', () => {
    const draw = fc.constantFrom(...bodies).chain(({ place, value }) =>
      fc.record({
        place: fc.constant(place),
        value: fc
          .array(
            fc.tuple(
              fc.constantFrom(...[...placesOf(value)].map(([path]) => path)),
              fc.constantFrom(undefined, null, 0, 0.5, 'x', 'unknown', true, [], {}),
            ),
            { maxLength: 3 },
          )
          .map((changes) =>
            changes.reduce<unknown>((to, [path, member]) => {
              try {
                return changed(to, path, member);
              } catch {
                // An earlier change has removed what this one changes.
                return to;
              }
            }, value),
          ),
      }),
    );
    let valid = 0;
    fc.assert(
      fc.property(draw, ({ place, value }) => {
        if (!isValid(byStrict, place, value)) return;
        valid += 1;
        expect([place, byOpen.get(place)?.(value)]).toEqual([place, []]);
      }),
      { numRuns: 300, seed: 1 },
    );
    expect(valid).toBeGreaterThan(60);
  });

  it('admits an unknown value wherever the strict one refuses it in a response as none of the listed ones', () => {
    const responses = bodies.filter(({ place }) => place.includes('responses'));
    const unknown = responses.flatMap(({ place, value }) =>
      [...placesOf(value)]
        .map(([path]) => ({ place, path, other: changed(value, path, 'a-later-value') }))
        .filter(({ path, other }) => byStrict.get(place)?.(other).includes(`/${path} enum`) === true),
    );
    expect(unknown.length).toBeGreaterThan(5);
    for (const { place, path, other } of unknown)
      expect([place, path, byOpen.get(place)?.(other)]).toEqual([place, path, []]);
  });

  it('has no condition, and differs in nothing of requests but their conditions', () => {
    expect(JSON.stringify(bodiesOf(open).map(([, { schema }]) => schema))).not.toContain('"if":');
    const requests = ({ paths }: Json): unknown =>
      Object.values(paths as Record<string, Record<string, Json>>).flatMap((methods) =>
        Object.values(methods).map(({ parameters, requestBody }) => [parameters, requestBody]),
      );
    expect(requests(open)).toEqual(requests(strict));
    const schemas = ({ components }: Json): Record<string, Json> =>
      (components as Record<string, Record<string, Json>>)['schemas'] ?? {};
    // What has become a part of one object has no name any more.
    const isNamed = (name: string): boolean =>
      JSON.stringify(open).includes(`"#/components/schemas/${name}"`);
    expect(Object.keys(schemas(open))).toEqual(Object.keys(schemas(strict)).filter(isNamed));
    for (const [name, schema] of Object.entries(schemas(strict)).filter(
      ([, each]) => each['additionalProperties'] === false,
    )) {
      const { allOf: _, ...others } = schema;
      expect([name, schemas(open)[name]]).toEqual([name, others]);
    }
  });
});
