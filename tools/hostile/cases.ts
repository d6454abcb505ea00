import { createHmac } from 'node:crypto';

/** A sound request, in the parts that a case changes. */
export interface Base {
  readonly operationId: string;
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The sound request of a route, and where it is sent. */
export interface Aim {
  readonly address: URL;
  readonly base: Base;
}

/** A request that no friend of the service would send, and what may come back. */
export interface Case {
  readonly group: Group;
  readonly name: string;
  /** Undefined if it does not concern the route. Parts are sent with a pause between them. */
  readonly bytes: (base: Base) => readonly Buffer[] | undefined;
  /** The statuses that are an answer to it; `calm`: that of the sound request. Nothing else is. */
  readonly expected: readonly (number | 'calm' | 'closed')[];
  /** Whether the answer may be of the server in front of the service, which knows no problem documents. */
  readonly isOfTransport?: boolean;
}

export const groups = ['json', 'jose', 'jcs', 'raw'] as const;
export type Group = (typeof groups)[number];

/** What no response may repeat. */
export const CANARY = 'c4naryOfTheHostileCase';

type Bytes = string | Buffer;
const buffer = (bytes: Bytes): Buffer => (typeof bytes === 'string' ? Buffer.from(bytes) : bytes);

/** Returns a request as it goes over the wire, with other headers or another body. */
export function wire(
  base: Base,
  {
    headers = {},
    body = base.body,
  }: { headers?: Readonly<Record<string, string>>; body?: Bytes | undefined } = {},
): Buffer {
  const content = body === undefined ? undefined : buffer(body);
  const all = {
    Host: base.host,
    Connection: 'close',
    ...base.headers,
    ...(content === undefined ? {} : { 'Content-Length': String(content.byteLength) }),
    ...headers,
  };
  const head = [
    `${base.method} ${base.target} HTTP/1.1`,
    ...Object.entries(all).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), content ?? Buffer.alloc(0)]);
}

const withBody =
  (body: (base: Base & { readonly body: string }) => Bytes): Case['bytes'] =>
  (base) =>
    base.body === undefined ? undefined : [wire(base, { body: body({ ...base, body: base.body }) })];

/** Returns a case that replaces the body of routes that have one. */
export const bodyCase = (name: string, bytes: Bytes, more: Partial<Case> = {}): Case => ({
  ...{ group: 'json', name, bytes: withBody(() => bytes), expected: [400] },
  ...more,
});

/** Returns a case with this bearer token. */
export const tokenCase = (name: string, token: string | ((own: string) => string)): Case => ({
  group: 'jose',
  name,
  bytes: (base) => {
    const own = (base.headers['Authorization'] ?? '').replace('Bearer ', '');
    const text = typeof token === 'string' ? token : token(own);
    return [wire(base, { headers: { Authorization: `Bearer ${text}` } })];
  },
  expected: [401],
});

/** Returns a case with this continuation token, for routes that take one: it is malformed, or the hidden 404. */
export const continuationCase = (name: string, token: string | ((own: string) => string)): Case => ({
  group: 'jose',
  name: `continuation: ${name}`,
  bytes: withBodyMember('continuationToken', token),
  expected: [400, 404],
});

function withBodyMember(member: string, value: string | ((own: string) => string)): Case['bytes'] {
  return (base) => {
    // SAFETY: the bodies of sound requests are objects.
    const body = JSON.parse(base.body ?? '{}') as Readonly<Record<string, unknown>>;
    const own = body[member];
    if (typeof own !== 'string') return undefined;
    const changed = { ...body, [member]: typeof value === 'string' ? value : value(own) };
    // Under its own key the sound request is known, and another one is a conflict.
    const headers = { 'Idempotency-Key': `hostile-${crypto.randomUUID()}` };
    return [wire(base, { headers, body: JSON.stringify(changed) })];
  };
}

const deep = (depth: number): string => '['.repeat(depth);
const beforeEnd = (text: string, added: string): string => `${text.slice(0, text.lastIndexOf('}'))}${added}`;

/** Bodies that are no JSON, or no JSON that the service reads. */
const json: readonly Case[] = [
  ...Object.entries({
    'one space': ' ',
    'a number': '1',
    'a text': `"${CANARY}"`,
    'an array': `["${CANARY}"]`,
    null: 'null',
    NaN: 'NaN',
    Infinity: '{"a": Infinity}',
    'single quotes': `{'a': '${CANARY}'}`,
    'a name without quotes': '{a: 1}',
    '100,000 open arrays': deep(100_000),
    '100,000 nested objects': '{"a":'.repeat(100_000),
    'two values': `{} {"a":"${CANARY}"}`,
    'a form': `a=${CANARY}`,
    XML: '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    'a number beyond every double': '{"a": 1e400}',
    'a number of 100,000 digits': `{"a": ${'9'.repeat(100_000)}}`,
  }).map(([name, body]) => bodyCase(name, body, { expected: [400, 413] })),
  ...Object.entries({
    'cut off in the middle': ({ body }: { body: string }) => body.slice(0, Math.ceil(body.length / 2)),
    'a comma too many': ({ body }: { body: string }) => beforeEnd(body, ',}'),
    'a comment': ({ body }: { body: string }) => beforeEnd(body, '/* x */}'),
    'a member twice': ({ body }: { body: string }) => beforeEnd(body, `,${body.slice(1)}`),
    'an unknown member': ({ body }: { body: string }) => beforeEnd(body, `,"unknown":"${CANARY}"}`),
    'a member __proto__': ({ body }: { body: string }) => beforeEnd(body, ',"__proto__":{"admin":true}}'),
    'a byte order mark': ({ body }: { body: string }) => `\uFEFF${body}`,
    'UTF-16': ({ body }: { body: string }) => Buffer.from(body, 'utf16le'),
    'a byte that is not UTF-8': ({ body }: { body: string }) =>
      Buffer.concat([Buffer.from(body.slice(0, 2)), Buffer.of(0xff), Buffer.from(body.slice(2))]),
    'a NUL after it': ({ body }: { body: string }) => `${body}\0`,
    'half a surrogate pair in a name': ({ body }: { body: string }) => beforeEnd(body, ',"\\ud800":1}'),
  }).map(([name, body]): Case => ({ group: 'json', name, bytes: withBody(body), expected: [400] })),
  {
    ...{ group: 'json', name: 'another media type', expected: [400] },
    bytes: (base) =>
      base.body === undefined ? undefined : [wire(base, { headers: { 'Content-Type': 'text/plain' } })],
  },
  {
    ...{ group: 'json', name: 'a body for a route that has none', expected: [400, 'calm'] },
    bytes: (base) => (base.body === undefined ? [wire(base, { body: '{}' })] : undefined),
  },
];

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const partsOf = (token: string): readonly string[] => token.split('.');
const decoded = (part = ''): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Readonly<Record<string, unknown>>;
/** Changes the header of a token, and keeps payload and signature. */
const withHeader =
  (change: object) =>
  (own: string): string => {
    const [header, ...rest] = partsOf(own);
    return [base64url({ ...decoded(header), ...change }), ...rest].join('.');
  };
const withClaims =
  (change: object) =>
  (own: string): string => {
    const [header, payload, signature] = partsOf(own);
    return [header, base64url({ ...decoded(payload), ...change }), signature].join('.');
  };
const flipped =
  (part: number) =>
  (own: string): string =>
    partsOf(own)
      .map((text, at) => (at === part ? `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}` : text))
      .join('.');

/** Tokens that the issuer did not sign, and continuations that the service did not seal. */
const jose: readonly Case[] = [
  ...['none', 'None', 'nOnE', ''].map((alg) =>
    tokenCase(`alg "${alg}" without a signature`, (own) => {
      const [header, payload] = partsOf(withHeader({ alg })(own));
      return `${header}.${payload}.`;
    }),
  ),
  tokenCase('HS256 with an empty key', (own) => {
    const signed = partsOf(withHeader({ alg: 'HS256' })(own))
      .slice(0, 2)
      .join('.');
    return `${signed}.${createHmac('sha256', Buffer.alloc(1)).update(signed).digest('base64url')}`;
  }),
  tokenCase('a key of its own in the header', withHeader({ jwk: { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' } })),
  tokenCase(
    'a key set of its own',
    withHeader({ jku: 'http://127.0.0.1:9/keys.json', x5u: 'http://127.0.0.1:9/' }),
  ),
  tokenCase('a key id that is a path', withHeader({ kid: `../../${CANARY}` })),
  tokenCase('a key id that is SQL', withHeader({ kid: "x' UNION SELECT 'k" })),
  tokenCase('an unknown critical header', withHeader({ crit: ['exp'], exp: 1 })),
  tokenCase('an unencoded payload', withHeader({ b64: false, crit: ['b64'] })),
  tokenCase('another type', withHeader({ typ: 'dpop+jwt' })),
  tokenCase('another tenant in the payload', withClaims({ tenantId: CANARY })),
  tokenCase('a later end in the payload', withClaims({ exp: 9_999_999_999 })),
  tokenCase('a changed header', flipped(0)),
  tokenCase('a changed payload', flipped(1)),
  tokenCase('a changed signature', flipped(2)),
  tokenCase('four parts', (own) => `${own}.x`),
  tokenCase('two parts', (own) => partsOf(own).slice(0, 2).join('.')),
  tokenCase('no part', ''),
  tokenCase('only dots', '..'),
  tokenCase('a space within', (own) => `${own.slice(0, 20)} ${own.slice(20)}`),
  tokenCase('an encrypted token', (own) => `${own}.${own.slice(0, 40).replaceAll('.', 'x')}.x`),
  ...[0, 1, 2, 3, 4].map((part) => continuationCase(`part ${part + 1} changed`, flipped(part))),
  continuationCase('a part of another key', (own) => own.replace('..', '.AAAA.')),
  continuationCase('compressed', withHeader({ zip: 'DEF' })),
  continuationCase('another algorithm', withHeader({ alg: 'RSA1_5' })),
  continuationCase('passwords', withHeader({ alg: 'PBES2-HS256+A128KW', p2c: 2_000_000_000, p2s: 'AAAA' })),
  continuationCase('a critical header', withHeader({ crit: ['x'], x: 1 })),
  continuationCase('cut off', (own) => own.slice(0, -8)),
  continuationCase('empty parts', '....'),
  continuationCase('four parts', (own) => partsOf(own).slice(0, 4).join('.')),
  continuationCase('a signed token', () => `${base64url({ alg: 'none' })}.${base64url({ a: 1 })}.`),
];

/** Other texts of the same request: the key is the same, and so is the request. */
const jcs: readonly Case[] = (
  [
    [
      'members in another order',
      (value: object) => JSON.stringify(Object.fromEntries(Object.entries(value).toReversed())),
    ],
    ['spaces', (value: object) => JSON.stringify(value, undefined, 3)],
    [
      'escaped letters',
      (value: object) =>
        JSON.stringify(value).replaceAll(
          /[a-zA-Z](?=[a-zA-Z]*"\s*:)/g,
          (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
    ],
  ] as const
).map(([name, write]): Case => ({
  ...{ group: 'jcs', name, expected: ['calm'] },
  bytes: (base) =>
    base.body === undefined || base.headers['Idempotency-Key'] === undefined
      ? undefined
      : [wire(base, { body: write(JSON.parse(base.body) as object) })],
}));

/** Every way in which a server may refuse what is no request. */
const refused = [
  400,
  401,
  403,
  404,
  405,
  408,
  411,
  413,
  414,
  415,
  417,
  421,
  426,
  428,
  431,
  501,
  505,
  'closed',
] as const;

const rawCase = (
  name: string,
  bytes: (base: Base, text: string) => Bytes | readonly Bytes[] | undefined,
  expected: Case['expected'] = refused,
): Case => ({
  ...{ group: 'raw', name, expected, isOfTransport: true },
  bytes: (base) => {
    const made = bytes(base, wire(base).toString('latin1'));
    if (made === undefined) return undefined;
    const parts = typeof made === 'string' || Buffer.isBuffer(made) ? [made] : made;
    return parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part));
  },
});
const added = (line: string) => (_: Base, text: string) => text.replace('\r\n', `\r\n${line}\r\n`);
const started = (change: (base: Base) => string) => (base: Base, text: string) =>
  text.replace(/^[^\r]*/, () => change(base));
const either = [...refused, 'calm'] as const;

const raw: readonly Case[] = [
  rawCase('two lengths', (base, text) =>
    base.body === undefined ? undefined : added('Content-Length: 3')(base, text),
  ),
  rawCase('a length and chunks', added('Transfer-Encoding: chunked\r\nContent-Length: 4')),
  rawCase('chunks in another coding', added('Transfer-Encoding: chunked, identity')),
  rawCase('a negative length', added('Content-Length: -1')),
  rawCase('a length that is no number', added('Content-Length: 1e3')),
  ...['FFFFFFFFFFFFFFFFF', '-1', 'zz', `1;${'x'.repeat(20_000)}`].map((size) =>
    rawCase(`a chunk of ${size.slice(0, 12)}`, ({ method, target, host, headers }) =>
      [
        `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`),
        `\r\n${size}\r\nx\r\n0\r\n\r\n`,
      ].join(''),
    ),
  ),
  rawCase('a header without a colon', added(CANARY)),
  rawCase('a space before the colon', added(`X-A : ${CANARY}`)),
  rawCase('a folded header', added(`X-A: 1\r\n ${CANARY}`)),
  rawCase('a NUL in a header', added(`X-A: a\0${CANARY}`)),
  rawCase('a lone line feed in a header', added(`X-A: a\nX-B: ${CANARY}`), either),
  rawCase('a lone carriage return in a header', added(`X-A: a\rX-B: ${CANARY}`)),
  rawCase('a header of 9,000 bytes more', added(`X-A: ${'a'.repeat(9_000)}`), either),
  rawCase('a header of 20,000 bytes', added(`X-A: ${CANARY}${'a'.repeat(20_000)}`)),
  rawCase('2,000 headers', added(Array.from({ length: 2_000 }, (_, at) => `X-${at}: 1`).join('\r\n'))),
  rawCase('no host', (_, text) => text.replace(/Host: [^\r]*\r\n/, ''), either),
  rawCase('two hosts', added(`Host: ${CANARY}.example`), either),
  rawCase('two tokens', added('Authorization: Bearer x')),
  rawCase(
    'another host behind a proxy',
    added(`X-Forwarded-Host: ${CANARY}.example\r\nForwarded: host=${CANARY}.example`),
    ['calm'],
  ),
  rawCase('a method in a header', added('X-HTTP-Method-Override: DELETE'), [400, 403, 'calm']),
  rawCase('an upgrade to HTTP/2', added('Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__'), either),
  rawCase(
    'an upgrade to a socket',
    added('Upgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13'),
    either,
  ),
  rawCase('an expectation', added('Expect: 200-ok'), either),
  rawCase('a range', added('Range: bytes=0-0'), ['calm']),
  rawCase('every coding', added('Accept-Encoding: gzip;q=1, deflate, br, *;q=0'), ['calm']),
  rawCase(
    'no protocol',
    started(({ method, target }) => `${method} ${target}`),
    either,
  ),
  rawCase(
    'HTTP/3.0',
    started(({ method, target }) => `${method} ${target} HTTP/3.0`),
  ),
  rawCase(
    'HTTP/1.0',
    started(({ method, target }) => `${method} ${target} HTTP/1.0`),
    either,
  ),
  rawCase(
    'a method in lower case',
    started(({ method, target }) => `${method.toLowerCase()} ${target} HTTP/1.1`),
  ),
  ...['TRACE', 'CONNECT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'].map((method) =>
    rawCase(
      `the method ${method}`,
      started(({ target }) => `${method} ${target} HTTP/1.1`),
    ),
  ),
  rawCase(
    'a target on another host',
    started(({ method, target }) => `${method} http://${CANARY}.example${target} HTTP/1.1`),
    either,
  ),
  rawCase(
    'the target *',
    started(({ method }) => `${method} * HTTP/1.1`),
  ),
  ...['/./', '//', '/%2e%2e/', '/..;/', '/%00/', '/%5c/', '/\\/'].map((inserted) =>
    rawCase(
      `${inserted} in the path`,
      started(({ method, target }) => `${method} ${target.replace(/\/(?=[^/]*$)/, () => inserted)} HTTP/1.1`),
    ),
  ),
  rawCase(
    'a fragment',
    started(({ method, target }) => `${method} ${target}#x HTTP/1.1`),
    either,
  ),
  rawCase(
    'a path of 9,000 bytes',
    started(({ method, target }) => `${method} ${target}${CANARY}${'a'.repeat(9_000)} HTTP/1.1`),
  ),
  rawCase(
    'a query of 9,000 bytes',
    started(({ method, target }) => `${method} ${target}?a=${CANARY}${'a'.repeat(9_000)} HTTP/1.1`),
  ),
  rawCase(
    'a space in the path',
    started(({ method, target }) => `${method} ${target} x HTTP/1.1`),
  ),
  rawCase('a preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  rawCase('a TLS handshake', () => Buffer.from('16030100a5010000a10303', 'hex')),
  rawCase('bytes of no protocol', () => Buffer.alloc(2_000, 0xfe)),
  rawCase('one byte at a time', (_, text) => [...text.slice(0, 40).split(''), text.slice(40)], ['calm']),
  rawCase('two requests at once', (_, text) => text.replace('Connection: close\r\n', '') + text, ['calm']),
];

export const builtIn: readonly Case[] = [...json, ...jose, ...jcs, ...raw];
