import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { FetchRequest } from '#shared/network/http-client.ts';
import { createPlatform, type PlatformOptions, type PlatformPorts } from './http-platform.ts';
import type { PlatformRequest } from './open-platform.ts';
import type { UpstreamOperation } from './operation.ts';
import { createAnswerMemo } from './transport/answer-memo.ts';
import { secret } from './transport/secret.ts';

// What becomes of every fault of an owner on every route: test/lemmas/faults.ts. What a real connection does: http-platform.server.test.ts.

const CREDENTIAL = 'server-held.profile.credential';
const profile = {
  tenantId: 'tenant-a',
  baseUrl: 'https://platform.example/base',
  credential: secret(CREDENTIAL),
};

const read = {
  id: 'content.read_probe',
  service: 'content',
  method: 'GET',
  path: '/tenants/{tenantId}/probes/{probeId}',
  query: [],
  status: 'bound',
  success: [200],
  body: undefined,
  answer: z.looseObject({ tenantId: z.string(), value: z.number() }),
  uses: ['report'],
  echo: {},
  tenantInAnswer: true,
  maxAnswerBytes: 200,
  rule: '',
} as const satisfies UpstreamOperation;
const write = {
  ...read,
  method: 'POST',
  path: '/probes',
  body: z.strictObject({ b: z.int(), a: z.string() }),
  tenantInAnswer: false,
} as const satisfies UpstreamOperation;

interface Sent {
  readonly url: string;
  readonly init: FetchRequest;
}
type Reply = Error | 'never' | (() => Response);
type Options = Partial<
  PlatformOptions & Pick<PlatformPorts, 'fetch'> & Omit<PlatformRequest, 'principal'> & { tenantId: string }
>;

/** A platform over scripted replies, the last one for good, with a clock that only waiting moves. Attempt timers fire when a reply is `never`. */
function setup(replies: readonly Reply[], { tenantId = 'tenant-a', ...options }: Options = {}) {
  const clock = { now: 10_000 };
  const sent: Sent[] = [];
  const waits: number[] = [];
  const lines: (readonly [string, object | undefined])[] = [];
  let fireTimer: (() => void) | undefined;
  const ports: PlatformPorts = {
    fetch: (url, init) => {
      const reply = replies[sent.length] ?? replies.at(-1);
      sent.push({ url, init });
      if (typeof reply === 'function') return Promise.resolve(reply());
      if (reply instanceof Error) return Promise.reject(reply);
      fireTimer?.();
      return new Promise(() => undefined);
    },
    now: () => clock.now,
    sleep: (milliseconds, signal) => {
      if (signal === undefined) {
        waits.push(milliseconds);
        clock.now += milliseconds;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        fireTimer = () => {
          clock.now += milliseconds;
          resolve(undefined);
        };
        signal.addEventListener('abort', () => resolve(undefined));
      });
    },
    // A half.
    random: () => Uint8Array.of(128, 0, 0, 0),
  };
  const request: Omit<PlatformRequest, 'principal'> = {
    receivedAt: clock.now,
    deadline: 40_000,
    log: (code, fields) => lines.push([code, fields]),
    ...options,
  };
  const connect = createPlatform({ ...ports, ...options }, options);
  /** What the next request of the same container has. */
  const open = (changes?: Partial<typeof request>) =>
    connect({ ...profile, tenantId }, { ...request, receivedAt: clock.now, ...changes });
  return { platform: open(options), open, clock, sent, waits, lines };
}

const type = { 'content-type': 'application/json' };
const good = { tenantId: 'tenant-a', value: 1 };
const answer =
  (body: unknown = good, headers: Record<string, string> = {}, status = 200): Reply =>
  () =>
    new Response(JSON.stringify(body), { headers: { ...type, ...headers }, status });
const bytes =
  (
    body: string | Uint8Array<ArrayBuffer> | null,
    headers: Record<string, string> = type,
    status = 200,
  ): Reply =>
  () =>
    new Response(body, { headers, status });
const status = (code: number, headers: Record<string, string> = {}): Reply =>
  bytes('<html>do not read me</html>', headers, code);
const notModified = (etag?: string): Reply => bytes(null, etag === undefined ? {} : { etag }, 304);
const filler = (length: number): object => ({
  ...good,
  filler: 'x'.repeat(length - JSON.stringify({ ...good, filler: '' }).length),
});
const call = { path: { probeId: 'p1' } };

describe('an answer', () => {
  const cases: readonly (readonly [what: string, outcome: string, ...replies: readonly Reply[]])[] = [
    ...[
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/vnd.owner+json',
    ].map((media) => [`of ${media}`, 'answered after 1', answer(good, { 'content-type': media })] as const),
    ['of exactly the bytes that its row allows', 'answered after 1', answer(filler(200))],
    ['of more bytes', 'malformed after 2', answer(filler(201))],
    ...['text/html', 'application/json; charset=utf-16', 'application/json, text/html'].map(
      (media) => [`of ${media}`, 'malformed after 2', answer(good, { 'content-type': media })] as const,
    ),
    ['of no type', 'malformed after 2', bytes(new TextEncoder().encode(JSON.stringify(good)), {})],
    ...[
      '<html></html>',
      '',
      '{"tenantId":"tenant-a","val',
      '{"tenantId":"tenant-a","value":1,"value":2}',
      '{"tenantId":"tenant-a","value":NaN}',
      '{"tenantId":"tenant-a","value":1e999}',
    ].map((text) => [text, 'malformed after 2', bytes(text)] as const),
    ...['{"tenantId":"tenant-a","value":"1"}', '{"tenantId":"tenant-a"}'].map(
      (text) => [text, 'invalid after 2', bytes(text)] as const,
    ),
    [
      'of bad UTF-8',
      'malformed after 2',
      bytes(Buffer.from(`${JSON.stringify(good).slice(0, -1)},"x":"\xff"}`, 'latin1')),
    ],
    ['with a success that the row does not know', 'malformed after 2', answer(good, {}, 202)],
    ['without content', 'malformed after 2', bytes(null, {}, 204)],
    ['that redirects', 'malformed after 2', bytes(null, { location: 'https://evil.example/' }, 302)],
    ['that is sound the second time', 'answered after 2', bytes('{"tenantId":'), answer()],
    ['that is garbled after a failure', 'answered after 3', status(503), bytes('<html>'), answer()],
    ...['tenant-b', 'TENANT-A', 'tenant-a '].map(
      (tenantId) => [`about ${tenantId}`, 'wrong-tenant after 2', answer({ ...good, tenantId })] as const,
    ),
    ...[404, 410].map((code) => [`${code}`, 'not-found after 1', status(code)] as const),
    ...[409, 412].map((code) => [`${code}`, 'conflict after 1', status(code)] as const),
    ['401', 'unauthorized after 1', status(401)],
    ...[400, 414, 422, 431].map((code) => [`${code}`, 'refused-id after 1', status(code)] as const),
    ['403', 'forbidden after 1', status(403)],
    ...[402, 405, 413, 415].map((code) => [`${code}`, 'rejected after 1', status(code)] as const),
    ...[408, 425, 429, 500, 502, 503, 504].map(
      (code) => [`${code}`, 'unavailable, transient after 2', status(code)] as const,
    ),
    ['503, then a success [MA-218]', 'answered after 2', status(503), answer()],
    ['over a broken connection, then a success', 'answered after 2', new TypeError('fetch failed'), answer()],
    ['that never comes', 'unavailable, transient after 2', 'never'],
  ];

  // The second of the two asks whether a version is still held; what comes instead is judged as any other answer.
  it.each(cases)('%s is %s attempts', async (_, outcome, ...replies) => {
    for (const etag of [undefined, '"v0"']) {
      const { platform, sent } = setup(replies as readonly Reply[]);
      const result = await (etag === undefined
        ? platform.call(read, call)
        : platform.revalidate(read, call, etag));
      const kind = result.ok
        ? 'answered'
        : `${result.error.kind}${result.error.transient ? ', transient' : ''}`;
      expect([etag, `${kind} after ${sent.length}`]).toEqual([etag, outcome]);
    }
  });

  it('is read no further than its bound', async () => {
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(100));
      },
      cancel() {
        cancelled = true;
      },
    });
    await setup([() => new Response(endless, { headers: type })]).platform.call(read, call);
    expect(cancelled).toBe(true);
    expect(pulled).toBeLessThanOrEqual(5);
  });

  it('is given with what a receipt needs, and nothing else of its headers', async () => {
    const body = '{"value": 1, "tenantId": "tenant-a", "extra": true}';
    const headers = { ...type, etag: '"v1"', 'x-request-id': 'up-1', 'set-cookie': 'a=b' };
    const value = { tenantId: 'tenant-a', value: 1, extra: true };
    const whole = { value, etag: '"v1"', upstreamRequestId: 'up-1', bodyHash: sha256Hex(body) };
    const { platform } = setup([bytes(body, headers)]);
    expect(await platform.call(read, call)).toEqual({ ok: true, value: whole });
    expect(await platform.revalidate(read, call, '"v0"')).toEqual({ ok: true, value: whole });
  });

  it.each([
    ['etag', '"v1"', true],
    ['etag', 'W/"v1"', true],
    ['etag', 'v1', false],
    ['etag', '"a", "b"', false],
    ['etag', '"a b"', false],
    ['etag', `"${'x'.repeat(253)}"`, true],
    ['etag', `"${'x'.repeat(254)}"`, false],
    ['etag', `W/"${'x'.repeat(251)}"`, true],
    ['etag', `W/"${'x'.repeat(252)}"`, false],
    ['x-request-id', 'req-1.a:b_c', true],
    ['x-request-id', 'with space', false],
    ['x-request-id', '<script>', false],
    ['x-request-id', 'x'.repeat(129), false],
  ])('has a %s of %s: %j [RP-086, MA-213]', async (name, text, isKept) => {
    const result = await setup([answer(good, { [name]: text })]).platform.call(read, call);
    const { etag, upstreamRequestId } = result.ok ? result.value : {};
    expect(name === 'etag' ? etag : upstreamRequestId).toBe(isKept ? text : undefined);
  });

  it('is parsed once per container, and still read and judged every time', async () => {
    const memo = createAnswerMemo([read]);
    const [one, two] = [
      setup([answer(), answer(good, { 'content-type': 'text/html' })], { memo }),
      setup([answer()], { memo }),
    ];
    const first = await one.platform.call(read, call);
    const second = await two.platform.call(read, call);
    expect(two.sent).toHaveLength(1);
    expect(first.ok && second.ok && first.value.value === second.value.value).toBe(true);
    expect(await one.platform.call(read, call)).toMatchObject({ error: { kind: 'malformed' } });
    const foreign = setup([answer()], { memo, tenantId: 'tenant-b' });
    expect(await foreign.platform.call(read, call)).toMatchObject({ error: { kind: 'wrong-tenant' } });
  });
});

describe('a call', () => {
  it('carries the profile’s credential and nothing of the client [MA-008, MA-011]', async () => {
    const { platform, sent } = setup([answer()]);
    await platform.call(read, call);
    expect(sent[0]!.url).toBe('https://platform.example/base/tenants/tenant-a/probes/p1');
    expect(sent[0]!.init).toMatchObject({ method: 'GET', freshConnection: false });
    expect(sent[0]!.init.headers).toEqual({
      accept: 'application/json',
      authorization: `Bearer ${CREDENTIAL}`,
    });
  });

  it.each(['.', '..', '', '\ud800'])(
    'for %j, which no address can carry, is not sent: not found',
    async (probeId) => {
      const { platform, sent } = setup([answer()]);
      const error = {
        kind: 'not-found',
        service: 'content',
        operation: 'content.read_probe',
        transient: false,
      };
      expect(await platform.call(read, { path: { probeId } })).toEqual({ ok: false, error });
      expect(sent).toHaveLength(0);
      expect(platform.trace()[0]).toMatchObject({ attempts: 0, outcome: 'not-found' });
    },
  );

  it('waits for no more calls in flight than allowed', async () => {
    let inFlight = 0;
    let most = 0;
    const { platform } = setup([], {
      maxConcurrency: 3,
      fetch: async () => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise(setImmediate);
        inFlight -= 1;
        return new Response(JSON.stringify(good), { headers: type });
      },
    });
    const results = await Promise.all(Array.from({ length: 20 }, () => platform.call(read, call)));
    expect(results.every((result) => result.ok)).toBe(true);
    expect(most).toBe(3);
  });
});

describe('the time of a call', () => {
  it.each<[string, { ended: number; waits: readonly number[] }, readonly Reply[], Options]>([
    [
      'takes the wait that the owner asks for',
      { ended: 12_050, waits: [2_050] },
      [status(429, { 'retry-after': '2' }), answer()],
      {},
    ],
    [
      'ends at once when that is more than is left',
      { ended: 10_000, waits: [] },
      [status(429, { 'retry-after': '30' })],
      {},
    ],
    ['has a limit for each attempt', { ended: 15_050, waits: [50] }, ['never', answer()], {}],
    [
      'has a limit in each request that lets a second attempt fit',
      { ended: 14_050, waits: [50] },
      ['never'],
      { deadline: 16_000 },
    ],
    [
      'ends at the deadline',
      { ended: 15_500, waits: [50] },
      ['never'],
      { receivedAt: -10_000, deadline: 15_500 },
    ],
  ])('%s', async (_, { ended, waits: expected }, replies, options) => {
    const { platform, clock, waits, sent } = setup(replies, options);
    await platform.call(read, call);
    expect([clock.now, waits]).toEqual([ended, expected]);
    expect(sent).toHaveLength(expected.length + 1);
    expect(sent[0]!.init.signal.aborted).toBe(true);
  });

  it.each<[string, number | undefined]>([
    ['0', 0],
    ['120', 120],
    ['Thu, 01 Jan 1970 00:00:14 GMT', 4],
    ['Thu, 01 Jan 1970 00:00:09 GMT', 0],
    ...['1.5', '-1', 'soon', '9999999999', '1970-01-01T00:00:14Z'].map((text): [string, undefined] => [
      text,
      undefined,
    ]),
  ])(
    'counts the seconds of Retry-After %s as %j, beside the owner, its operation, status and request id',
    async (header, retryAfterSeconds) => {
      const headers = { 'x-request-id': 'up-9', 'retry-after': header };
      const { platform } = setup([status(503, headers)], { deadline: 10_500 });
      const about = { service: 'content', operation: 'content.read_probe', upstreamRequestId: 'up-9' };
      const error = { kind: 'unavailable', ...about, status: 503, retryAfterSeconds, transient: true };
      expect(await platform.call(read, call)).toEqual({ ok: false, error });
    },
  );

  it('ends at its own limit, repetitions included, and that of the others at the deadline', async () => {
    const { platform, clock } = setup(['never']);
    expect(await platform.call(read, { ...call, timeLimit: 5_500 })).toMatchObject({
      error: { kind: 'unavailable' },
    });
    expect(clock.now).toBe(15_500);
    await platform.call(read, call);
    expect(clock.now).toBe(25_550);
  });

  it('is over before it is sent once the deadline has passed', async () => {
    const { platform, sent } = setup([answer()], { deadline: 10_000 });
    expect(await platform.call(read, call)).toMatchObject({
      error: { kind: 'unavailable', transient: true },
    });
    expect(sent).toHaveLength(0);
    expect(platform.trace()[0]).toMatchObject({ attempts: 0, status: null, outcome: 'unavailable' });
  });
});

describe('a write', () => {
  const body = { b: 1, a: 'x' };

  it('repeats canonical bytes under the same key, on a connection of its own', async () => {
    const { platform, sent } = setup([status(503), bytes('OK', { 'content-type': 'text/plain' })]);
    const row = { ...write, answer: z.undefined(), bodyIgnored: true } as const;
    const result = await platform.call(row, { body, idempotencyKey: 'offer-1' });
    expect(result).toMatchObject({ ok: true, value: { value: undefined } });
    for (const { init } of sent) {
      expect(init.body).toBe('{"a":"x","b":1}');
      expect(init.headers).toMatchObject({
        'content-type': 'application/json',
        'idempotency-key': 'offer-1',
      });
    }
    expect(sent.map(({ init }) => init.freshConnection)).toEqual([false, true]);
  });

  it('is repeated once for an answer that is malformed, and for one about something else', async () => {
    const row = { ...write, echo: { value: 'b' } } as const;
    for (const [replies, made] of [
      [[bytes('<html>'), answer()], 2],
      [[answer({ ...good, value: 2 }), answer()], 2],
      [[answer()], 1],
    ] as const) {
      const { platform, sent, lines } = setup(replies);
      expect(await platform.call(row, { body })).toMatchObject({ value: { value: good } });
      expect(sent).toHaveLength(made);
      // A repetition that succeeds does not hide the first answer from the operator.
      expect(lines.filter(([code]) => code === 'UPSTREAM_ANSWER_REFUSED')).toHaveLength(made - 1);
    }
    const { platform, sent } = setup([answer({ ...good, value: 2 })]);
    expect(await platform.call(row, { body })).toMatchObject({ error: { kind: 'wrong-entity' } });
    expect(sent).toHaveLength(2);
  });

  it('that does not fit its row is a defect that tells no value, and is not sent', async () => {
    const { platform, sent } = setup([answer()]);
    const broken = platform.call(write, { body: { ...body, note: 'learner text' } as never });
    await expect(broken).rejects.toThrow('unrecognized_keys');
    expect(inspect(await broken.catch((error: unknown) => error))).not.toContain('learner text');
    expect(sent).toHaveLength(0);
  });
});

describe('the trace', () => {
  it('holds one line per call, with offsets, hash, version and whether its answer named the tenant of the profile [MA-088]', async () => {
    const replies = [
      answer(good, { etag: '"v1"', 'x-request-id': 'up-1' }),
      ...[1, 2].map(() => answer({ ...good, tenantId: 'tenant-b' })),
      status(404),
    ];
    const { platform } = setup(replies, { receivedAt: 9_000 });
    for (let made = 0; made < 3; made += 1) await platform.call(read, call);
    const first = {
      operation: 'content.read_probe',
      service: 'content',
      status: 200,
      outcome: 'answered',
      upstreamRequestId: 'up-1',
      version: '"v1"',
      responseHash: sha256Hex(JSON.stringify(good)),
      startedAt: 1_000,
      endedAt: 1_000,
      attempts: 1,
      tenant: 'same',
      namedTenant: 'tenant-a',
    };
    expect(platform.trace()[0]).toEqual(first);
    expect(platform.trace().slice(1)).toMatchObject([
      { status: 200, outcome: 'wrong-tenant', tenant: 'other', namedTenant: 'tenant-b' },
      { status: 404, outcome: 'not-found', tenant: 'not-named', namedTenant: null },
    ]);
  });

  it('and the log, and faults, hold nothing of body, address or credential [MA-007, MA-088, MA-213]', async () => {
    const { platform, lines } = setup([
      ...[1, 2].map(() => answer({ tenantId: 'tenant-b', value: 1, name: 'learner name' })),
      answer(),
      status(500, { 'x-request-id': 'up-3' }),
      new TypeError('connect ECONNREFUSED platform.example'),
    ]);
    const results = [];
    for (const probeId of ['secret-id', 'p1', 'p1'])
      results.push(await platform.call(read, { path: { probeId } }));
    const shown = inspect([results.filter(({ ok }) => !ok), platform.trace(), lines], { depth: 10 });
    for (const hidden of ['learner name', 'platform.example', 'secret-id', 'do not read me', CREDENTIAL])
      expect(shown).not.toContain(hidden);
    // Whose answer it was stands in the trace, which only the log shows.
    expect(inspect(results, { depth: 10 })).not.toContain('tenant-b');
    const about = { owner: 'content', upstreamOperation: 'content.read_probe', upstreamRequestId: null };
    expect(lines).toEqual([
      ['UPSTREAM_ANSWER_REFUSED', { ...about, status: 200, kind: 'wrong-tenant' }],
      [
        'UPSTREAM_CALL_FAILED',
        { ...about, status: 200, durationMs: 50, attempts: 2, kind: 'wrong-tenant', transient: false },
      ],
      ['UPSTREAM_CALL', { ...about, status: 200, durationMs: 0, attempts: 1 }],
      [
        'UPSTREAM_CALL_FAILED',
        { ...about, status: null, durationMs: 50, attempts: 2, kind: 'unavailable', transient: true },
      ],
    ]);
  });
});

describe('revalidation', () => {
  it.each([
    ['"v1"', '"v1"'],
    ['W/"v1"', 'W/"v1"'],
    ['"v1"', 'W/"v1"'],
    ['"v1"', undefined],
    ['"v1"', 'no tag'],
  ])(
    'asks with the tag as the owner gave it, %s, and takes a 304 with %s as unchanged',
    async (etag, confirmed) => {
      const { platform, sent, lines } = setup([status(503), notModified(confirmed)]);
      expect(await platform.revalidate(read, call, etag)).toEqual({ ok: true, value: 'unchanged' });
      expect(sent.map(({ init }) => init.headers['if-none-match'])).toEqual([etag, etag]);
      const version = confirmed === 'W/"v1"' ? confirmed : etag;
      const traced = {
        status: 304,
        outcome: 'answered',
        version,
        responseHash: null,
        attempts: 2,
        tenant: 'not-named',
      };
      expect(platform.trace()).toMatchObject([traced]);
      expect(lines).toMatchObject([['UPSTREAM_CALL', { status: 304, attempts: 2 }]]);
    },
  );

  it('is not confirmed by a 304 that names another version, nor a plain call by any', async () => {
    const { platform, sent } = setup([notModified('"v2"')]);
    const malformed = { ok: false, error: { kind: 'malformed', status: 304, transient: false } };
    expect(await platform.revalidate(read, call, '"v1"')).toMatchObject(malformed);
    expect(sent).toHaveLength(2);
    expect(platform.trace()[0]).toMatchObject({ outcome: 'malformed', version: '"v2"' });
    expect(await platform.call(read, call)).toMatchObject(malformed);
  });
});

describe('an owner that gives no answer', () => {
  const later = { deadline: 10_000_000 };
  /** Three requests of a container, each with one call. */
  async function silence(replies: readonly Reply[], limited: { readonly timeLimit?: number } = {}) {
    const container = setup(replies, later);
    for (let request = 0; request < 3; request += 1)
      await container.open().call(read, { ...call, ...limited });
    const before = container.sent.length;
    const platform = container.open();
    const result = await platform.call(read, call);
    const opened = container.lines.filter(([code]) => code === 'OWNER_CIRCUIT_OPENED');
    return { ...container, platform, result, opened, wasSent: container.sent.length > before };
  }
  const down = new Error('refused');

  it.each<[string, readonly Reply[]]>([
    ['stays silent', ['never']],
    ['refuses connections', [down]],
    ['is behind a proxy that says so', [status(502), status(503), status(504)]],
  ])('and %s gets no call for a while, and then one', async (_, replies) => {
    const { clock, open, platform, result, opened, wasSent, sent } = await silence(replies);
    expect(result).toMatchObject({ error: { kind: 'unavailable', transient: true, retryAfterSeconds: 2 } });
    expect(platform.trace()).toMatchObject([{ attempts: 0, outcome: 'unavailable', status: null }]);
    expect([wasSent, opened]).toEqual([
      ...[false, [['OWNER_CIRCUIT_OPENED', { owner: 'content', openMs: 1_500 }]]],
    ]);
    // Another owner of the same platform is asked.
    const before = sent.length;
    await open().call({ ...read, service: 'qti' }, call);
    expect(sent.length).toBeGreaterThan(before);
    clock.now += 1_500;
    const probing = sent.length;
    await open().call(read, call);
    expect(sent.length).toBe(probing + 2);
  });

  it('is asked again by everyone once it has answered the one that tried', async () => {
    const { clock, open } = await silence([...Array<Reply>(6).fill(down), answer()]);
    clock.now += 1_500;
    for (let request = 0; request < 3; request += 1) expect((await open().call(read, call)).ok).toBe(true);
  });

  it('is asked by the next request at once if the one that tried ran out of time', async () => {
    const { clock, open, sent } = await silence([...Array<Reply>(7).fill('never'), answer()]);
    clock.now += 1_500;
    expect((await open().call(read, { ...call, timeLimit: 1_000 })).ok).toBe(false);
    expect(sent).toHaveLength(7);
    expect((await open().call(read, call)).ok).toBe(true);
  });

  it.each<[string, readonly Reply[], { readonly timeLimit: number }?]>([
    [
      'connections are dead after a freeze, and the second attempt succeeds',
      [down, answer(), down, answer()],
    ],
    ['one request of three is answered', [down, down, answer(), down]],
    ['a refusal shows that it is at work', [down, down, status(404), down, down, down, down]],
    ['a single thing of it is damaged', [status(500)]],
    ['it asks for a wait', [status(503, { 'retry-after': '1' })]],
    ['it limits a tenant', [status(429)]],
    ['the time limit cuts the second attempt short', ['never'], { timeLimit: 6_000 }],
  ])('is asked if %s', async (_, replies, limited) => {
    const { opened, wasSent } = await silence(replies, limited);
    expect([opened, wasSent]).toEqual([[], true]);
  });

  it('is asked if many calls of one request fail, or a frozen container was late to look', async () => {
    const one = setup([down], later);
    await Promise.all(Array.from({ length: 30 }, () => one.platform.call(read, call)));
    const before = one.sent.length;
    await one.open().call(read, call);
    expect(one.sent.length).toBe(before + 2);
    const frozen = setup(['never'], {
      ...later,
      fetch: () => {
        frozen.clock.now += 10_000;
        return Promise.reject(down);
      },
    });
    for (let request = 0; request < 5; request += 1) await frozen.open().call(read, call);
    expect(frozen.lines.filter(([code]) => code === 'OWNER_CIRCUIT_OPENED')).toEqual([]);
  });
});
