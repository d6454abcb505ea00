import * as z from 'zod';
// Gives schemas their names, by which `forms` knows them.
import '#shared/openapi/openapi.ts';
import type { ProblemKey } from '#shared/contract/problems.ts';
import type { Route } from '#shared/contract/route.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';

// Every way to spoil a request, derived from the route's row: each field of path, query, headers and body by each kind of defect that its
// schema can have. What is expected follows from the kind.

export type Header = readonly [name: string, value: string];
type Segment = string | number;
/** Where a value is in a request; `*` is the first name of a record. */
type Place = readonly [part: 'path' | 'query' | 'headers' | 'body', ...segments: Segment[]];

/** A request in the parts that a case changes. */
export interface Draft {
  /** The parameters of the path, encoded. */
  readonly path: Readonly<Record<string, string>>;
  /** Encoded, without the question mark. */
  readonly query: string;
  readonly headers: readonly Header[];
  readonly body: string | undefined;
}
type Change = (draft: Draft) => Draft;

/** Requests that are spoilt in the same way, and what all of them are answered with. */
export interface Case {
  /** Where and how, for the title. */
  readonly what: string;
  readonly problem: ProblemKey;
  /** What the problem names. */
  readonly findings: readonly Finding[];
  readonly requests: readonly Spoilt[];
}
export type Finding = readonly [place: Place, reason: string];
/** `findings`: instead of those of the case. */
type Spoilt = readonly [name: string, change: Change, findings?: readonly Finding[]];

/** Text that no response may repeat. */
export const CANARY = 'canary5eed';
/** A name: a response names it, and no log line does. */
export const NAME = 'n4me5eed';

export function draftOf({ request }: Route, { path = {}, body, ifMatch }: GatewayCall, token: string): Draft {
  return {
    path: Object.fromEntries(Object.entries(path).map(([name, value]) => [name, encodeURIComponent(value)])),
    query: '',
    headers: [
      ['Authorization', `Bearer ${token}`],
      ...(request.body === undefined ? [] : [['Content-Type', 'application/json'] as const]),
      ...(request.idempotencyKey ? [['Idempotency-Key', crypto.randomUUID()] as const] : []),
      ...(ifMatch === undefined ? [] : [['If-Match', ifMatch] as const]),
    ],
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** The request line's target below the service's address. */
export function targetOf(route: Route, { path, query }: Draft): string {
  const target = Object.entries(path).reduce<string>(
    (text, [name, value]) => text.replace(`{${name}}`, () => value),
    route.path,
  );
  return query === '' ? target : `${target}?${query}`;
}

/** A finding as the problem of a draft has it: its pointer and its reason. */
export function findingIn({ body }: Draft, [[part, ...segments], reason]: Finding): string {
  const names = part === 'body' ? namesIn(JSON.parse(textOf(body)) as unknown, segments) : segments;
  return `/${[part, ...names].map(shown).join('/')} ${reason}`;
}

/** A name as a pointer has it (RFC 6901), at most its first hundred characters. */
function shown(segment: Segment): string {
  const name = String(segment);
  const whole = Array.from(name);
  while (whole.join('').length > 100) whole.pop();
  const kept = whole.join('');
  return `${kept.replaceAll('~', '~0').replaceAll('/', '~1')}${kept === name ? '' : '…'}`;
}

const words = (texts: string): readonly string[] => texts.trim().split(/\s+/);
const textOf = (body: Draft['body']): string => body ?? '{}';

export const inPath =
  (name: string, encoded: string): Change =>
  (draft) => ({ ...draft, path: { ...draft.path, [name]: encoded } });
export const withQuery =
  (query: string): Change =>
  (draft) => ({ ...draft, query: draft.query === '' ? query : `${draft.query}&${query}` });
export const withHeader =
  (name: string, ...values: readonly string[]): Change =>
  (draft) => ({
    ...draft,
    headers: [
      ...draft.headers.filter(([held]) => held.toLowerCase() !== name.toLowerCase()),
      ...values.map((value) => [name, value] as const),
    ],
  });
const withBody =
  (change: (text: string) => Draft['body']): Change =>
  (draft) => ({ ...draft, body: change(textOf(draft.body)) });
/** Another value in a place of the body; `undefined` removes it. */
export const inBody = (segments: readonly Segment[], value: unknown): Change =>
  withBody((text) => JSON.stringify(replaced(JSON.parse(text) as unknown, segments, value)));

function replaced(held: unknown, [first, ...rest]: readonly Segment[], value: unknown): unknown {
  if (first === undefined) return value;
  if (Array.isArray(held))
    return held.map((item: unknown, at) => (at === first ? replaced(item, rest, value) : item));
  const members = held as Readonly<Record<string, unknown>>;
  const name = first === '*' ? (Object.keys(members)[0] ?? '') : String(first);
  // A copy keeps a member of the name `__proto__`.
  return Object.fromEntries([
    ...Object.entries(members).filter(([key]) => key !== name),
    [name, replaced(members[name], rest, value)],
  ]);
}

function namesIn(held: unknown, segments: readonly Segment[]): readonly Segment[] {
  let value = held;
  return segments.map((segment) => {
    const members = (value ?? {}) as Readonly<Record<Segment, unknown>>;
    const name = segment === '*' ? (Object.keys(members)[0] ?? '') : segment;
    value = members[name];
    return name;
  });
}

/** What texts of a kind are refused for, and texts that are taken. */
interface Form {
  readonly reason: string;
  readonly refused: readonly string[];
  /** Why no text at all is refused, if for another reason. */
  readonly empty?: string;
  /** Encoded values that are refused in a query only. */
  readonly refusedInQuery?: readonly string[];
  readonly taken: readonly string[];
}

/** Ids that look like something else and that nobody has. */
export const oddIds: readonly string[] = [
  'x'.repeat(255),
  `${'é'.repeat(127)}a`,
  '😀'.repeat(63),
  ...words('a/b / ../../v1 %2F %00 % %zz a?view=x a#b a;b=c a+b * null __proto__ constructor ...'),
  ...words("é e\u0301 {{7*7}} '/**/OR/**/1=1 latest-1 mylatest x@current"),
  ...['\0', 'a\0b', '\u001b[0m', '\u202e', CANARY],
];

/** Text in which the gateway has replaced bytes. */
const REPLACED = ['\ufffd', `${CANARY}\ufffd`];
const LONGER_THAN_AN_ID = ['x'.repeat(4_000), 'é'.repeat(128)];

/**
 * By the id of a schema or, where it has none, the name of its field. A new kind of text needs its entry. What a form refuses is here by
 * example: edges.test.ts tries what lies around everything that the documents admit.
 */
const forms: Readonly<Record<string, Form>> = {
  RequestReference: {
    reason: 'invalid-format',
    refused: [...LONGER_THAN_AN_ID, ...REPLACED, 'a b', 'a\r\nX-Evil: 1'],
    taken: [...oddIds, 'latest', 'Default'],
  },
  RequestIdentifier: {
    reason: 'invalid-format',
    refused: REPLACED,
    empty: 'out-of-range',
    taken: [...oddIds, 'latest', 'Default'],
  },
  RecordIdentifier: {
    reason: 'invalid-format',
    refused: [...REPLACED, 'latest', 'nEWEST'],
    empty: 'out-of-range',
    taken: [...oddIds, ' latest', 'ſtable'],
  },
  StudentReference: {
    reason: 'invalid-format',
    refused: [...LONGER_THAN_AN_ID, ...REPLACED, ' a', 'a\nb', '\u001b[0m'],
    taken: [],
  },
  SourceKey: {
    reason: 'invalid-format',
    refused: [...words('. .. a/b é a%b'), ...LONGER_THAN_AN_ID],
    taken: [...words('~ - ... __proto__ constructor'), 'x'.repeat(255)],
  },
  continuationToken: {
    reason: 'invalid-format',
    refused: words('x a.b.c a..b.c.d= a..b.c.é'),
    taken: [],
  },
  syntheticProfileId: {
    reason: 'invalid-format',
    refused: ['student-1', 'synthetic:', 'synthetic:\ufffd'],
    taken: [],
  },
  Instant: {
    reason: 'invalid-format',
    refused: words(
      '2026-01-31 2026-01-31T09:30:00+00:00 2026-01-31T09:30:60Z 2026-02-29T00:00:00Z 1769851800 now',
    ),
    refusedInQuery: ['2026-01-31T09:30:00+00:00', '+2026-01-31T09:30:00Z'],
    taken: ['2024-02-29T00:00:00Z', `2026-01-31T09:30:00.${'0'.repeat(5_000)}Z`],
  },
  limit: {
    reason: 'invalid-format',
    refused: [...words('0 101 -1 5.0 1e1 05 ５ null'), ' 5', '9'.repeat(5_000)],
    refusedInQuery: ['+5', '%', '%ff'],
    taken: ['1', '100'],
  },
  cursor: {
    reason: 'not-allowed',
    refused: ['x'.repeat(2_048), 'x'.repeat(2_049), '\0', ...words('x eyJhbGciOiJkaXIifQ....')],
    taken: [],
  },
};

/** A value of one of a few texts has these neighbours. */
function enumForm(options: readonly string[]): Form {
  const near = options.flatMap((option) => [option.toUpperCase(), option.toLowerCase(), `${option},`]);
  const far = ['unknown', '*', '..%2F', '__proto__', 'x'.repeat(2_000)];
  return {
    reason: 'not-allowed',
    refused: [...new Set([...near, ...far])].filter((text) => !options.includes(text)),
    refusedInQuery: ['%', '%ff', `+${options[0] ?? ''}`],
    taken: options,
  };
}

/** A schema in JSON Schema, as far as requests use it. */
interface Node {
  readonly $ref?: string;
  readonly id?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly additionalProperties?: Node | false;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}
type Resolve = (node: Node) => Node;

function schemaOf(schema: z.ZodType): { readonly root: Node; readonly resolve: Resolve } {
  // SAFETY: what Zod makes of the schemas of requests has these members alone, or `bodyCases` throws.
  const root = z.toJSONSchema(schema, { io: 'input' }) as Node & {
    readonly $defs?: Readonly<Record<string, Node>>;
  };
  const resolve: Resolve = (node) => {
    const id = node.$ref?.split('/').at(-1);
    return id === undefined ? node : { ...root.$defs?.[id], id };
  };
  return { root: resolve(root), resolve };
}

function formOf(name: string, node: Node): Form {
  if (node.enum !== undefined) return enumForm(node.enum);
  const form = forms[node.id ?? name];
  if (form === undefined) throw new Error(`${name}: state what its text may be in "forms"`);
  return form;
}

/** The parameters of a part of the request, each with its form. */
function parametersOf(route: Route, part: 'path' | 'query'): readonly (readonly [string, Form])[] {
  const { root, resolve } = schemaOf(route.request[part]);
  return Object.entries(root.properties ?? {}).map(([name, node]) => [name, formOf(name, resolve(node))]);
}

/** Ids of a form that a place takes, and that nobody has. */
export function oddIdsAt(route: Route, part: 'path' | 'body', name: string): readonly string[] {
  const schema = part === 'path' ? route.request.path : route.request.body;
  if (schema === undefined) throw new Error(`${route.operationId} takes no ${part}`);
  const { root, resolve } = schemaOf(schema);
  const node = root.properties?.[name];
  return node === undefined ? oddIds : formOf(name, resolve(node)).taken;
}

const brief = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value ?? null)).slice(0, 60);

/** The problems of a service for what a row does not allow. */
const refusals = {
  mastery: { invalid: '400 invalid-request', unsupported: '400 invalid-request' },
  reports: { invalid: '400 validation', unsupported: '400 unsupported-parameter' },
} as const satisfies Readonly<Record<Route['service'], Readonly<Record<string, ProblemKey>>>>;

/** Every case of a route. */
export function casesOf(route: Route): readonly Case[] {
  return [
    ...pathCases(route),
    ...queryCases(route),
    ...(route.request.idempotencyKey ? keyCases(route) : []),
    ...(route.request.body === undefined ? noBodyCases(route) : bodyCases(route, route.request.body)),
    ...everythingAtOnce(route),
  ].filter(({ requests }) => requests.length > 0);
}

function refusal(
  { service }: Route,
  place: Place,
  what: string,
  reason: string,
  requests: readonly Spoilt[],
): Case {
  const { invalid } = refusals[service];
  return { what: `/${place.join('/')} ${what}`, problem: invalid, findings: [[place, reason]], requests };
}

function pathCases(route: Route): readonly Case[] {
  return parametersOf(route, 'path').flatMap(([name, { reason, refused }]) => {
    const at = (texts: readonly string[]): readonly Spoilt[] =>
      texts.map((encoded) => [brief(encoded), inPath(name, encoded)]);
    const malformed = words('% a% %2 %zz a%u0041 %C3 %C3%28 %ED%A0%80 %C0%AF %ff %F5%80%80%80');
    return [
      refusal(
        route,
        ['path', name],
        'that is not UTF-8 in percent-encoding',
        'malformed-encoding',
        at(malformed),
      ),
      refusal(route, ['path', name], 'in no documented form', reason, at(refused.map(encodeURIComponent))),
    ];
  });
}

/** Names that no route has, and names of parameters that another route has. */
const UNKNOWN_NAMES = words(`
  view limit sort cursor status testKind qtiTestId modifiedSince targetModule testId tenantId tenant foo fields page VIEW Limit
  __proto__ constructor toString hasOwnProperty access_token attemptId sourceKey analysisPolicyId continuationToken X-Tenant-Id
`);
/** Names of any characters, and one of a token's length. */
const ODD_NAMES = [
  ...words(`view[] testKind[] $top größe a/b a~1b <b> 😀 %zz a.b-c:d ${NAME}`),
  ...['limit ', ' limit', '\0', '\r\nX-Evil: 1', '\ufffd', ''],
  ...[
    'x'.repeat(100),
    '/'.repeat(101),
    `${'x'.repeat(99)}😀`,
    `${NAME}.${'eyJhbGciOiJFUzI1NiJ9.'.repeat(20)}`,
  ],
];

function queryCases(route: Route): readonly Case[] {
  const { invalid, unsupported } = refusals[route.service];
  const known = parametersOf(route, 'query');
  const unknown = UNKNOWN_NAMES.filter((name) => !known.some(([held]) => held === name));
  const values = known.flatMap(([name, { reason, empty = reason, refused, refusedInQuery = [] }]): Case[] => {
    const problem = name === 'sort' ? unsupported : invalid;
    const refusedFor = (what: string, why: string, queries: readonly string[], key = problem): Case => ({
      what: `/query/${name} ${what}`,
      problem: key,
      findings: [[['query', name], why]],
      requests: queries.map((query) => [brief(query), withQuery(query)]),
    });
    const because = problem === invalid ? (why: string) => why : () => 'unsupported-parameter';
    const encoded = [...refused.map(encodeURIComponent), ...refusedInQuery];
    return [
      refusedFor(
        'in no documented form',
        because(reason),
        encoded.map((value) => `${name}=${value}`),
      ),
      refusedFor('that is empty', because(empty), [`${name}=`, name]),
      refusedFor(
        'more than once',
        'repeated',
        [
          `${name}=a&${name}=a`,
          `${name}=a&${name}=b`,
          `${name}=&${name}=`,
          `${name}=a&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=a`,
        ],
        invalid,
      ),
    ];
  });
  return [
    ...values,
    {
      what: '/query with a name that the route does not have',
      problem: unsupported,
      findings: [],
      requests: unknown.flatMap((name) =>
        (name === 'foo' ? ['foo=1', 'foo', 'foo=1&foo=1'] : [`${name}=1`]).map((query): Spoilt => [
          query,
          withQuery(query),
          [[['query', name], 'unsupported-parameter']],
        ]),
      ),
    },
    {
      what: '/query with a name of any characters',
      problem: unsupported,
      findings: [],
      requests: ODD_NAMES.map((name): Spoilt => [
        brief(name),
        withQuery(`${encodeURIComponent(name)}=${CANARY}`),
        [[['query', name], 'unsupported-parameter']],
      ]),
    },
  ];
}

function keyCases(route: Route): readonly Case[] {
  const place: Place = ['headers', 'idempotency-key'];
  const sent = (...values: readonly string[]): Spoilt => [
    brief(values),
    withHeader('Idempotency-Key', ...values),
  ];
  const malformed = ['', ' ', 'x'.repeat(256), `${CANARY} b`, 'a\tb', 'cl\u00e9'];
  return [
    refusal(route, place, 'that is absent', 'required', [sent()]),
    refusal(route, place, 'more than once', 'repeated', [sent('one', 'one'), sent('one', 'two')]),
    refusal(
      route,
      place,
      'that is not 1 to 255 visible ASCII characters',
      'invalid-format',
      malformed.map((key) => sent(key)),
    ),
  ];
}

/** Requests that are served however they are written. */
export function servedVariants(route: Route): readonly Spoilt[] {
  const { request } = route;
  const filters = parametersOf(route, 'query').flatMap(([name, { taken }]) =>
    taken.map((text) => `${name}=${encodeURIComponent(text)}`),
  );
  const type = (value: string): Spoilt => [value, withHeader('Content-Type', value)];
  return [
    ...[...filters, '&', '&&&'].map((query): Spoilt => [brief(query), withQuery(query)]),
    ...(request.idempotencyKey
      ? ['', `"${CANARY}"!~`, 'x'.repeat(219)].map((key): Spoilt => [
          brief(key),
          withHeader('Idempotency-Key', `${key}${crypto.randomUUID()}`),
        ])
      : []),
    ...(request.body === undefined
      ? ([
          [
            'a body of no bytes',
            (draft: Draft) => ({ ...withHeader('Content-Type', 'text/plain')(draft), body: '' }),
          ],
        ] as const)
      : [
          type('Application/JSON;charset=UTF-8'),
          type('application/json; charset="utf-8"'),
          ['as large as it may be', withBody((text) => text.padEnd(request.maxBodyBytes))] as const,
        ]),
  ];
}

const MEDIA_TYPES = [
  ...words('text/plain application/problem+json'),
  'application/json; charset=utf-16',
  'application/json, text/plain',
];

function noBodyCases(route: Route): readonly Case[] {
  const bodies = ['{}', ' ', `{"${CANARY}":`, 'x'.repeat(300_000)];
  const types = ['application/json', 'text/plain', undefined];
  return [
    refusal(
      route,
      ['body'],
      'where the route takes none',
      'not-allowed',
      bodies.flatMap((body) =>
        types.map((type): Spoilt => [
          `${brief(body)} ${type ?? ''}`,
          (draft) => ({ ...withHeader('Content-Type', ...(type === undefined ? [] : [type]))(draft), body }),
        ]),
      ),
    ),
  ];
}

function bodyCases(route: Route, body: z.ZodType): readonly Case[] {
  const { request } = route;
  const { root, resolve } = schemaOf(body);
  const whole = (
    what: string,
    reason: string,
    changes: readonly (readonly [string, (text: string) => Draft['body'], member?: string])[],
  ) =>
    refusal(
      route,
      ['body'],
      what,
      reason,
      changes.map(([name, change, member]): Spoilt =>
        member === undefined
          ? [name, withBody(change)]
          : [name, withBody(change), [[['body', member], reason]]],
      ),
    );
  const type = (what: string, reason: string, ...values: readonly (readonly string[])[]) =>
    refusal(
      route,
      ['headers', 'content-type'],
      what,
      reason,
      values.map((sent) => [
        brief(sent),
        (draft) => ({ ...withHeader('Content-Type', ...sent)(draft), body: `{${CANARY}` }),
      ]),
    );
  const over = (text: string): string => text.padEnd(request.maxBodyBytes + 1);
  return [
    type('that is absent', 'required', []),
    type('more than once', 'repeated', ['application/json', 'application/json']),
    type('that is not JSON in UTF-8', 'not-allowed', ...MEDIA_TYPES.map((one) => [one])),
    whole('that is not one JSON value', 'malformed-json', [
      ...['', ' ', '{', "{'a':1}", '{"a":NaN}', CANARY].map((text) => [brief(text), () => text] as const),
      ['two values', (text) => text + text],
      ['a byte order mark', (text) => `\ufeff${text}`],
    ]),
    whole('with the same name twice', 'repeated-member', [
      ['a member', (text) => text.replace('{', `{"${NAME} x":"${CANARY}","${NAME} x":2,`), `${NAME} x`],
      ['an escaped one', (text) => text.replace('{', String.raw`{"a x":1,"\u0061 x":2,`), 'a x'],
    ]),
    whole('that is not I-JSON', 'not-i-json', [
      ['a lone surrogate', (text) => text.replace('{', String.raw`{"\ud800":1,`), '\ufffd'],
      ['a number', (text) => text.replace('{', '{"a":1e999,'), 'a'],
      ['a number that is not zero and too small', (text) => text.replace('{', '{"a/b":-1e-999,'), 'a/b'],
    ]),
    whole('of too many levels', 'too-deep', [['70 levels', () => `${'['.repeat(70)}${']'.repeat(70)}`]]),
    {
      what: `/body of more than ${request.maxBodyBytes} bytes`,
      problem: '413 payload-too-large',
      findings: [],
      requests: [
        ['spaces', withBody(over)],
        [
          'text',
          (draft) => ({
            ...withHeader('Content-Type', 'text/plain')(draft),
            body: '['.repeat(request.maxBodyBytes + 1),
          }),
        ],
      ],
    },
    ...valueCases(route, [], root, resolve),
  ];
}

const WRONG_TYPES: Readonly<Record<string, readonly unknown[]>> = {
  object: [null, [], [0.5], 'x', 7, true],
  array: [null, {}, 'x', 7, true],
  string: [null, 7, true, [], ['x'], { id: 'x' }],
  number: [null, '0.5', true, [], {}],
};

/** Everything that can be wrong with the value of one place of the body, and below it. */
function valueCases(route: Route, at: readonly Segment[], node: Node, resolve: Resolve): readonly Case[] {
  const place: Place = ['body', ...at];
  const refused = (what: string, reason: string, values: readonly unknown[], where = place): Case =>
    refusal(
      route,
      where,
      what,
      reason,
      values.map((value) => [brief(value), inBody(at, value)]),
    );
  const below = (name: Segment, child: Node | undefined): readonly Case[] =>
    child === undefined ? [] : valueCases(route, [...at, name], resolve(child), resolve);
  const { type = '' } = node;
  const wrongType = refused(
    'of another type',
    node.enum === undefined ? 'wrong-type' : 'not-allowed',
    WRONG_TYPES[type] ?? [],
  );
  switch (type) {
    case 'string': {
      const { reason, refused: texts, empty = reason } = formOf(String(at.at(-1)), node);
      return [
        wrongType,
        refused('that is empty', empty, ['']),
        refused('in no documented form', reason, texts),
      ];
    }
    case 'number': {
      const { minimum = -Infinity, maximum = Infinity } = node;
      return [wrongType, refused('out of range', 'out-of-range', [minimum - 0.01, maximum + 0.01])];
    }
    case 'array': {
      const tooMany = Array.from({ length: (node.maxItems ?? Infinity) + 1 }, () => null);
      return [
        wrongType,
        refused('that is empty', 'out-of-range', [[]]),
        ...overLimit([tooMany]),
        ...below(0, node.items),
      ];
    }
    case 'object':
      return [wrongType, ...(node.properties === undefined ? recordCases() : memberCases(node.properties))];
    default:
      throw new Error(`/${place.join('/')}: no case is derived for a value of type "${type}"`);
  }

  /** More than the route's own limit allows, which comes before everything else that is wrong. */
  function overLimit(values: readonly unknown[]): readonly Case[] {
    const { limit } = route.request;
    if (limit === undefined) throw new Error(`/${place.join('/')}: no case is derived for too many members`);
    const note: Change = inBody(['note'], 1);
    const requests = values.flatMap((value): readonly Spoilt[] => [
      ['alone', inBody(at, value)],
      ['among other defects', (draft) => note(inBody(at, value)(draft))],
    ]);
    return [
      { what: `/${place.join('/')} of more than its limit`, problem: limit.problem, findings: [], requests },
    ];
  }

  function recordCases(): readonly Case[] {
    const { additionalProperties, maxProperties = Infinity } = node;
    const tooMany = Array.from({ length: maxProperties + 1 }, (_, n) => [
      `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      'x',
    ]);
    return [
      ...overLimit([Object.fromEntries(tooMany)]),
      refused('that is empty', 'out-of-range', [{}]),
      refusal(
        route,
        place,
        'with a name in no documented form',
        'invalid-name',
        [NAME, `my ${NAME}`, 'constructor', '2F0A6D0C-6A1B-4C55-9A3E-0B8F2B7D9C11'].map((name): Spoilt => [
          name,
          inBody(at, { [name]: 1 }),
          [[[...place, name], 'invalid-name']],
        ]),
      ),
      refusal(
        route,
        place,
        'with a prototype',
        'invalid-name',
        ['0.5', '{"a": 1}', '[]'].map((value) => [
          value,
          withBody((text) => text.replace(`"${String(at.at(-1))}":{`, `$&"__proto__":${value},`)),
          [[[...place, '__proto__'], 'invalid-name']],
        ]),
      ),
      ...below('*', additionalProperties === false ? undefined : additionalProperties),
    ];
  }

  function memberCases(properties: Readonly<Record<string, Node>>): readonly Case[] {
    const more = words(
      'note tenantId studentName responses items candidateRef runId score constructor __proto__',
    );
    return [
      refusal(route, place, 'with a field that the route does not have', 'unknown-field', [
        ...[...more, ...ODD_NAMES]
          .filter((name) => !Object.hasOwn(properties, name))
          .map((name): Spoilt => [
            name,
            inBody([...at, name], CANARY),
            [[[...place, name], 'unknown-field']],
          ]),
      ]),
      refusal(
        route,
        place,
        'without a field',
        'required',
        (node.required ?? []).map((name) => [
          name,
          inBody([...at, name], undefined),
          [[[...place, name], 'required']],
        ]),
      ),
      ...Object.entries(properties).flatMap(([name, child]) => below(name, child)),
    ];
  }
}

/** One defect in every place: all of them are named, of an unknown parameter on the reports service nothing else. */
function everythingAtOnce(route: Route): readonly Case[] {
  const { request, service } = route;
  const { invalid, unsupported } = refusals[service];
  const defects: (readonly [Finding, Change])[] = [
    ...parametersOf(route, 'path').map(
      ([name]) => [[['path', name], 'malformed-encoding'], inPath(name, '%')] as const,
    ),
    ...parametersOf(route, 'query')
      .filter(([name]) => name !== 'sort')
      .map(([name]) => [[['query', name], 'repeated'], withQuery(`${name}=a&${name}=b`)] as const),
    ...(request.idempotencyKey
      ? ([[[['headers', 'idempotency-key'], 'required'], withHeader('Idempotency-Key')]] as const)
      : []),
    ...(request.body === undefined
      ? ([[[['body'], 'not-allowed'], (draft: Draft) => ({ ...draft, body: '{}' })]] as const)
      : (schemaOf(request.body).root.required ?? []).map(
          (name) => [[['body', name], 'required'], inBody([name], undefined)] as const,
        )),
  ];
  const all =
    (...more: readonly Change[]): Change =>
    (draft) =>
      [...defects.map(([, change]) => change), ...more].reduce((changed, change) => change(changed), draft);
  const findings = defects.map(([finding]) => finding);
  const unknown = [['query', 'foo'], 'unsupported-parameter'] as const;
  const many = Array.from({ length: 150 }, (_, at) => `n${at}`);
  return [
    { what: 'a defect in every place', problem: invalid, findings, requests: [['all', all()]] },
    {
      what: 'a defect in every place and an unknown parameter',
      problem: unsupported,
      findings: service === 'reports' ? [unknown] : [unknown, ...findings],
      requests: [['all', all(withQuery('foo=1'))]],
    },
    {
      what: 'more than a hundred defects',
      problem: unsupported,
      findings: many.slice(0, 100).map((name) => [['query', name], 'unsupported-parameter']),
      requests: [['150 parameters', withQuery(many.map((name) => `${name}=1`).join('&'))]],
    },
  ];
}
