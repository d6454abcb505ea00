import type { Route } from '#shared/contract/route.ts';
import { createCompiler } from '#test/support/json-schema.ts';
import type { TestRequest } from '#test/support/lambda.ts';
import { readPublishedDocument } from '#test/support/published-contract.ts';

// Values at the edges of what the published document admits, for every parameter, header and body member of a route. They are derived from the
// document alone, so that a form which becomes stricter there is drawn at its new edge.

type Json = Readonly<Record<string, unknown>>;

/** One place of a request with its schema, references resolved, and values around what the schema admits. */
export interface Place {
  /** For example `path attemptId`, or `body`. */
  readonly name: string;
  readonly schema: Json;
  readonly required: boolean;
  readonly trials: readonly Trial[];
}

/** A value of a place, undefined where it has none, and the request that has it there; everything else in the request is admitted. */
export interface Trial {
  readonly value: unknown;
  readonly request: TestRequest;
}

/** Whether the document admits a value in a place. */
export function isAdmitted({ schema, required }: Omit<Place, 'trials'>, value: unknown): boolean {
  return value === undefined ? !required : admits(schema, value);
}

const compile = createCompiler((reference) => {
  throw new Error(`${reference} is not resolved`);
});

function admits(schema: Json, value: unknown): boolean {
  return compile(schema)(value).length === 0;
}

type Kind = 'path' | 'query' | 'headers';

/** Every place of a route's requests. */
export function placesOf(route: Route): readonly Place[] {
  const { operation: operationOf, resolved } = readPublishedDocument(route.service);
  const inlined = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (_, part: unknown) => resolved(part as Json)));
  // SAFETY: these members of an OpenAPI document have these types.
  const { parameters = [], requestBody } = inlined(operationOf(route)) as {
    readonly parameters?: readonly {
      readonly in: string;
      readonly name: string;
      readonly schema: Json;
      readonly required?: boolean;
    }[];
    readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Json; example: Json }>> };
  };
  const named = parameters.map(({ in: part, ...parameter }) => ({
    // SAFETY: the documents have parameters in these three parts alone.
    part: (part === 'header' ? 'headers' : part) as Kind,
    ...parameter,
    good: goodText(parameter.schema),
  }));
  const sound: Required<Pick<TestRequest, Kind>> = { path: {}, query: {}, headers: {} };
  for (const { part, name, good, required } of named)
    if (required === true) Object.assign(sound[part], { [name]: good });
  const json = requestBody?.content['application/json'];
  const bodies = json === undefined ? [] : bodiesOf(json.schema, shortened(json.example));
  // The one with the most members: each of them is drawn.
  const [body] = bodies
    .filter((one) => admits(json!.schema, one))
    .toSorted((one, other) => Object.keys(other).length - Object.keys(one).length);
  return [
    ...named.map(({ part, name, schema, good, required }): Place => {
      const withText = (text: string): TestRequest => ({
        ...sound,
        [part]: { ...sound[part], [name]: text },
        body,
      });
      const texts = textsOf(schema, good).filter(
        // An empty segment names no route.
        (text) => text.isWellFormed() && !(part === 'path' && text === ''),
      );
      const without = { ...sound, [part]: { ...sound[part], [name]: undefined }, body } as TestRequest;
      const absent: readonly Trial[] =
        // Without If-Match a request is valid, and 428.
        part === 'path' || name === 'If-Match' ? [] : [{ value: undefined, request: without }];
      return {
        name: `${part} ${name}`,
        schema,
        required: required === true,
        trials: [
          ...texts.map((text) => ({ value: valueOf(schema, text), request: withText(text) })),
          ...absent,
        ],
      };
    }),
    ...(json === undefined
      ? []
      : [
          {
            name: 'body',
            schema: json.schema,
            required: true,
            trials: [...bodies, ...valuesOf(json.schema, body)].map((value) => ({
              value,
              request: { ...sound, body: value },
            })),
          },
        ]),
  ];
}

/** Keywords without which a schema admits more. A length says nothing new beside a limit in bytes. */
const BOUNDS = [
  'pattern',
  'maxLength',
  'x-max-bytes',
  'enum',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
  'additionalProperties',
  'propertyNames',
  'allOf',
];

/** The schema without one of its keywords, for each of them, at every depth. */
export function loosened(schema: Json, at = ''): readonly (readonly [what: string, schema: Json])[] {
  const part = (name: string, of: unknown, put: (to: Json) => Json): ReturnType<typeof loosened> =>
    typeof of === 'object' ? loosened(of as Json, `${at}/${name}`).map(([what, to]) => [what, put(to)]) : [];
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, Json>> };
  return [
    ...BOUNDS.filter(
      (keyword) => keyword in schema && !(keyword === 'maxLength' && 'x-max-bytes' in schema),
    ).map((keyword) => {
      const { [keyword]: _, ...rest } = schema;
      return [`${at}/${keyword}`, rest] as const;
    }),
    ...['items', 'additionalProperties', 'propertyNames'].flatMap((name) =>
      part(name, schema[name], (to) => ({ ...schema, [name]: to })),
    ),
    ...Object.entries(properties).flatMap(([name, property]) =>
      part(name, property, (to) => ({ ...schema, properties: { ...properties, [name]: to } })),
    ),
  ];
}

/** What the text of a parameter stands for: a number in its one spelling where the schema asks for one. */
function valueOf({ type }: Json, text: string): unknown {
  return type === 'integer' && String(Number(text)) === text ? Number(text) : text;
}

const SEEDS = ['a', '7', '05', '2026-01-31T09:30:00.5Z'];

function goodText(schema: Json): string {
  const { enum: options = [], examples = [] } = schema as Readonly<Record<string, readonly string[]>>;
  const good = [...options, ...SEEDS, ...examples].find((text) => admits(schema, valueOf(schema, text)));
  if (good === undefined) throw new Error(`no text is known that ${JSON.stringify(schema)} admits`);
  return good;
}

/**
 * The example, and it with every value of its enumerations and another one, each with and without every optional member. Not all of them are
 * admitted.
 */
function bodiesOf(schema: Json, example: Json): readonly Json[] {
  const properties = schema['properties'] as Readonly<Record<string, Json>>;
  const required = schema['required'] as readonly string[];
  return Object.entries(properties).reduce<readonly Json[]>(
    (found, [name, property]) =>
      found.flatMap((body) => {
        const { [name]: held, ...rest } = body;
        const { enum: values } = property as { readonly enum?: readonly string[] };
        const options = values === undefined ? [held ?? goodText(property)] : [...values, 'x'];
        return [
          ...options.map((option) => ({ ...body, [name]: option })),
          ...(required.includes(name) ? [] : [rest]),
        ];
      }),
    [example],
  );
}

/** A good value with another one in each of its places. */
function valuesOf(schema: Json, good: unknown): readonly unknown[] {
  const others: unknown[] = [null, true, 0, 1.5, '', 'x', '0.5', [], ['x'], {}, { x: 1 }];
  if (typeof good === 'string') return [...others, ...textsOf(schema, good)];
  if (typeof good === 'number') return [...others, ...numbersOf(schema)];
  if (Array.isArray(good)) {
    const [first, ...rest] = good as readonly unknown[];
    const { items, minItems, maxItems } = schema as { items: Json; minItems?: number; maxItems?: number };
    const lists = around(minItems, maxItems).map((length) =>
      Array.from({ length }, (_, at) => distinct(good[at % good.length] as unknown, at)),
    );
    return [...others, ...lists, ...valuesOf(items, first).map((item) => [item, ...rest])];
  }
  const members = good as Json;
  const replaced = (name: string, value: unknown): Json =>
    Object.fromEntries([...Object.entries(members).filter(([held]) => held !== name), [name, value]]);
  const { properties } = schema as { readonly properties?: Readonly<Record<string, Json>> };
  const unknown = [
    'x',
    '__proto__',
    'constructor',
    ...Object.keys(members).map((name) => name.toUpperCase()),
  ];
  if (properties === undefined) {
    const { propertyNames, additionalProperties, minProperties, maxProperties } = schema as {
      readonly propertyNames: Json;
      readonly additionalProperties: Json;
      readonly minProperties?: number;
      readonly maxProperties?: number;
    };
    const [first = ''] = Object.keys(members);
    const named = (at: number): string => first.slice(0, -4) + at.toString(16).padStart(4, '0');
    return [
      ...others,
      ...around(minProperties, maxProperties).map((length) =>
        Object.fromEntries(Array.from({ length }, (_, at) => [named(at), members[first]])),
      ),
      ...[...unknown, ...textsOf(propertyNames, first)].map((name) => replaced(name, members[first])),
      ...valuesOf(additionalProperties, members[first]).map((value) => replaced(first, value)),
    ];
  }
  return [
    good,
    ...others,
    ...unknown.map((name) => replaced(name, 1)),
    ...Object.keys(members).map((name) =>
      Object.fromEntries(Object.entries(members).filter(([held]) => held !== name)),
    ),
    ...Object.entries(properties).flatMap(([name, property], at, all) => {
      const values = valuesOf(property, members[name]).map((value) => replaced(name, value));
      // Members of one form are read alike: from the second one on, each has some of the values.
      const isFirst = all.findIndex(([, other]) => formOf(other) === formOf(property)) === at;
      return isFirst ? values : values.filter((_, index) => index % 9 === at % 9);
    }),
  ];
}

function formOf(schema: Json): string {
  return JSON.stringify({ ...schema, description: undefined });
}

/** A copy with one row of each list: a small body is read fast. */
function shortened(value: Json): Json {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    Array.isArray(part) ? part.slice(0, 1) : part,
  ) as Json;
}

/** A copy whose texts occur nowhere else. */
function distinct(value: unknown, at: number): unknown {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === 'string' ? `${part}${at}` : part,
  );
}

function around(...bounds: readonly (number | undefined)[]): readonly number[] {
  const near = bounds.flatMap((bound) => (bound === undefined ? [] : [bound - 1, bound, bound + 1]));
  return [...new Set([0, 1, 2, ...near])].filter((length) => length >= 0);
}

function numbersOf({ minimum, maximum }: Json): readonly number[] {
  const bounds = [minimum, maximum].filter((bound) => typeof bound === 'number');
  const steps = [0, Number.EPSILON, Number.MIN_VALUE, 1e-7, 0.1, 1];
  return [
    ...bounds.flatMap((bound) => steps.flatMap((step) => [bound - step, bound + step])),
    ...[0.5, -0, 1e-300, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MAX_SAFE_INTEGER],
  ];
}

const code = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at));
/** ASCII, every white space with what is beside it, and characters that look like none, or like a digit or a letter. */
const CHARACTERS = [
  ...code(0, 0x86),
  ...code(0x1ffe, 0x200f),
  ...code(0x2027, 0x2030),
  ...code(0x205e, 0x2060),
  ...Array.from(
    '\u009f\u00a0\u00a1\u00ad\u00e9\u00ff\u1680\u180e\u3000\u0131\u017f\u0301\u0660\u212a\ue000\ufefe\ufeff\uff00\uff11\ufffd\uffff😀',
  ),
];
const DIGITS = Array.from('0123456789aA .:-+_~/%"');
/** Words that look like something else. */
const WORDS = [
  ...'. .. ... .a ..a a. null true __proto__ constructor toString'.split(' '),
  ...['latest', 'current', 'default', 'newest', 'stable'].flatMap((word) => [
    word,
    word.toUpperCase(),
    `${word}1`,
  ]),
  ...'0 1 100 101 1e2 1.0 +1 -1 01 0x1 1_0 NaN Infinity'.split(' '),
];
const DAYS = '0000 0004 1900 2000 2023 2024 2100 9999'
  .split(' ')
  .flatMap((year) =>
    ['00', '01', '02', '03', '04', '06', '09', '11', '12', '13'].flatMap((month) =>
      ['00', '01', '28', '29', '30', '31', '32'].map((day) => `${year}-${month}-${day}`),
    ),
  );
const TIMES = `
  T09:30Z T09:30:00 T09:30:00z t09:30:00Z T09:30:00+00:00 T09:30:00-00:00 T09:30:00+02:00 T09:30:60Z T23:59:59Z T23:59:60Z
  T24:00:00Z T23:60:00Z T09:30:00.Z T09:30:00,5Z T09:30:00.5Z T09:30:00.123456789012Z T09:30:00.5ZZ T9:30:00Z
`
  .trim()
  .split(/\s+/);
const INSTANTS = [
  ...DAYS.map((day) => `${day}T00:00:00Z`),
  ...TIMES.map((time) => `2026-01-31${time}`),
  ...['2026-01-31', '2026-01-31 09:30:00Z', '+002026-01-31T09:30:00Z', '1769851800'],
  `2026-01-31T09:30:00.${'0'.repeat(5_000)}Z`,
];

/** Texts near what a schema admits: at its lengths, in characters and in bytes; beside its values; and near a good one. */
function textsOf(schema: Json, good: string): readonly string[] {
  const {
    type,
    enum: options = [],
    format,
  } = schema as {
    readonly type?: string;
    readonly enum?: readonly string[];
    readonly format?: string;
  };
  const {
    minLength,
    maxLength,
    'x-max-bytes': maxBytes,
    minimum,
    maximum,
  } = schema as Readonly<Record<string, number>>;
  if (Object.keys(schema).every((name) => /^(?:type|examples|description)$/.test(name)))
    return ['', good, ...WORDS];
  const lengths = around(minLength, maxLength, maxBytes);
  const filled = ['a', 'é', '‰', '😀'].flatMap((unit) =>
    lengths.flatMap((length) => {
      const units = Math.floor(length / Buffer.byteLength(unit));
      return [unit.repeat(length), unit.repeat(units) + 'a'.repeat(length - units * Buffer.byteLength(unit))];
    }),
  );
  const beside = options.flatMap((option) => [
    ...[option, option.toUpperCase(), option.toLowerCase(), option.charAt(0).toUpperCase() + option.slice(1)],
    ...[option.slice(1), option.slice(0, -1), option + option, `${option},`, `${option}\0`],
  ]);
  // A long text is changed near both ends: no form has a rule for the middle of one.
  const places = Array.from(good, (_, at) => at).filter((at, _, { length }) => at < 40 || at > length - 10);
  const near = places.flatMap((at) => [
    good.slice(0, at) + good.slice(at + 1),
    good.slice(0, at) + good.charAt(at) + good.slice(at),
    ...DIGITS.map((digit) => good.slice(0, at) + digit + good.slice(at + 1)),
  ]);
  const odd = CHARACTERS.flatMap((one) => [
    one,
    one + good,
    good + one,
    good.charAt(0) + one + good.slice(1),
  ]);
  const numbers = [minimum, maximum].flatMap((bound) =>
    bound === undefined ? [] : [bound - 1, bound, bound + 1, bound + 0.5].map(String),
  );
  return [
    ...new Set([
      ...[good, ...filled, ...beside, ...odd, ...numbers, ...WORDS],
      ...(options.length > 0 || type === 'integer' ? [] : near),
      ...(format === 'date-time' ? INSTANTS : []),
    ]),
  ];
}
