import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { FetchRequest } from '#shared/network/http-client.ts';
import { createPlatform } from './http-platform.ts';
import type { PlatformOptions } from './http-platform.ts';
import * as operations from './operations.ts';
import type { UpstreamOperation } from './operation.ts';
import { createAnswerMemo } from './transport/answer-memo.ts';
import { secret } from './transport/secret.ts';

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
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: z.looseObject({ tenantId: z.string(), value: z.number() }),
  tenantInAnswer: true,
  maxAnswerBytes: 200,
  rule: '',
} as const satisfies UpstreamOperation;

interface Sent {
  readonly url: string;
  readonly init: FetchRequest;
}
type Reply = Response | Error | 'never';

/** A platform over scripted replies, with a clock that only waiting moves. Attempt timers fire when a reply is `never`. */
function setup(replies: readonly (Reply | (() => Reply))[], options: Partial<PlatformOptions> = {}) {
  const clock = { now: 10_000 };
  const sent: Sent[] = [];
  const waits: number[] = [];
  let fireTimer: (() => void) | undefined;
  const platform = createPlatform({
    profile,
    fetch: (url, init) => {
      const scripted = replies[sent.length] ?? replies.at(-1);
      sent.push({ url, init });
      const reply = typeof scripted === 'function' ? scripted() : scripted;
      if (reply === 'never') {
        fireTimer?.();
        return new Promise(() => undefined);
      }
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply!);
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
    random: () => 0.5,
    deadline: 40_000,
    ...options,
  });
  return { platform, clock, sent, waits };
}

const JSON_HEADERS = { 'content-type': 'application/json' };
const good = { tenantId: 'tenant-a', value: 1 };
const answer = (body: unknown = good, init: ResponseInit = {}): Response =>
  new Response(JSON.stringify(body), { headers: JSON_HEADERS, ...init });
const status = (code: number, headers: Record<string, string> = {}): Response =>
  new Response('<html>do not read me</html>', { status: code, headers });
const call = { path: { probeId: 'p1' } };

describe('a call that succeeds', () => {
  it('gives the validated value with what a receipt needs', async () => {
    const body = '{"value": 1, "tenantId": "tenant-a", "extra": true}';
    const { platform } = setup([
      new Response(body, {
        headers: { ...JSON_HEADERS, etag: '"v1"', 'x-request-id': 'up-1', 'set-cookie': 'a=b' },
      }),
    ]);
    expect(await platform.call(read, call)).toEqual({
      ok: true,
      value: {
        value: { tenantId: 'tenant-a', value: 1, extra: true },
        etag: '"v1"',
        status: 200,
        upstreamRequestId: 'up-1',
        bodyHash: sha256Hex(body),
      },
    });
  });

  it('carries the profile’s credential and nothing of the client [MA-008, MA-011]', async () => {
    const { platform, sent } = setup([answer()]);
    await platform.call(read, call);
    expect(sent[0]!.url).toBe('https://platform.example/base/tenants/tenant-a/probes/p1');
    expect(sent[0]!.init.method).toBe('GET');
    expect(sent[0]!.init.headers).toEqual({
      accept: 'application/json',
      authorization: `Bearer ${CREDENTIAL}`,
    });
  });

  it.each([
    ['"v1"', '"v1"'],
    ['W/"v1"', 'W/"v1"'],
    ['v1', undefined],
    ['"a", "b"', undefined],
    [`"${'x'.repeat(253)}"`, `"${'x'.repeat(253)}"`],
    [`"${'x'.repeat(254)}"`, undefined],
    [`W/"${'x'.repeat(251)}"`, `W/"${'x'.repeat(251)}"`],
    [`W/"${'x'.repeat(252)}"`, undefined],
  ])('keeps the ETag %s as %s, at most 255 characters of it [RP-086]', async (etag, expected) => {
    const { platform } = setup([answer(good, { headers: { ...JSON_HEADERS, etag } })]);
    const result = await platform.call(read, call);
    expect(result.ok && result.value.etag).toBe(expected);
  });

  it.each([
    ['req-1.a:b_c', 'req-1.a:b_c'],
    ['with space', undefined],
    ['<script>', undefined],
    ['x'.repeat(129), undefined],
  ])('keeps the request id %s as %s [MA-213]', async (id, expected) => {
    const { platform } = setup([answer(good, { headers: { ...JSON_HEADERS, 'x-request-id': id } })]);
    const result = await platform.call(read, call);
    expect(result.ok && result.value.upstreamRequestId).toBe(expected);
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/vnd.owner+json',
  ])('takes the media type %s', async (type) => {
    const { platform } = setup([answer(good, { headers: { 'content-type': type } })]);
    expect((await platform.call(read, call)).ok).toBe(true);
  });
});

describe('an answer that is not what the owner promises is malformed, and asked for once more', () => {
  const cases: [string, () => Response][] = [
    ['HTML', () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })],
    ['JSON called HTML', () => answer(good, { headers: { 'content-type': 'text/html' } })],
    ['JSON of no type', () => new Response(new TextEncoder().encode(JSON.stringify(good)))],
    [
      'JSON in another charset',
      () => answer(good, { headers: { 'content-type': 'application/json; charset=utf-16' } }),
    ],
    ['two media types', () => answer(good, { headers: { 'content-type': 'application/json, text/html' } })],
    ['HTML called JSON', () => new Response('<html></html>', { headers: JSON_HEADERS })],
    ['a cut JSON text', () => new Response('{"tenantId":"tenant-a","val', { headers: JSON_HEADERS })],
    [
      'duplicate names',
      () => new Response('{"tenantId":"tenant-a","value":1,"value":2}', { headers: JSON_HEADERS }),
    ],
    ['NaN', () => new Response('{"tenantId":"tenant-a","value":NaN}', { headers: JSON_HEADERS })],
    [
      'a number that overflows',
      () => new Response('{"tenantId":"tenant-a","value":1e999}', { headers: JSON_HEADERS }),
    ],
    [
      'bad UTF-8',
      () =>
        new Response(Buffer.from('{"tenantId":"tenant-a","value":1,"x":"\xff"}', 'latin1'), {
          headers: JSON_HEADERS,
        }),
    ],
    ['a member of the wrong type', () => answer({ tenantId: 'tenant-a', value: '1' })],
    ['a missing member', () => answer({ tenantId: 'tenant-a' })],
    ['an empty body', () => new Response('', { headers: JSON_HEADERS })],
    ['a success that the row does not know', () => answer(good, { status: 202 })],
    ['no content', () => new Response(null, { status: 204 })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } })],
  ];
  it.each(cases)('%s', async (_, reply) => {
    const { platform, sent } = setup([reply]);
    const result = await platform.call(read, call);
    expect(result).toMatchObject({
      ok: false,
      error: { kind: 'malformed', transient: false, service: 'content' },
    });
    expect(sent).toHaveLength(2);
  });

  it('is an answer after all when the second one is sound', async () => {
    const { platform, sent } = setup([new Response('{"tenantId":'), answer()]);
    expect((await platform.call(read, call)).ok).toBe(true);
    expect(sent).toHaveLength(2);
  });

  it('is repeated for its own sake, and not instead of an answer that did not come', async () => {
    const garbled = (): Response => new Response('<html></html>', { headers: JSON_HEADERS });
    const { platform, sent } = setup([status(503), garbled(), answer()]);
    expect((await platform.call(read, call)).ok).toBe(true);
    expect(sent).toHaveLength(3);
  });

  it('is final for more bytes than allowed, which will not become fewer', async () => {
    const { platform, sent } = setup([() => answer({ ...good, filler: 'x'.repeat(200) })]);
    expect(await platform.call(read, call)).toMatchObject({ ok: false, error: { kind: 'malformed' } });
    expect(sent).toHaveLength(1);
  });

  it('stops reading once the bound is passed', async () => {
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
    const { platform } = setup([new Response(endless, { headers: JSON_HEADERS })]);
    expect(await platform.call(read, call)).toMatchObject({ ok: false, error: { kind: 'malformed' } });
    expect(cancelled).toBe(true);
    expect(pulled).toBeLessThanOrEqual(5);
  });

  it('takes exactly the bound', async () => {
    const filler = 'x'.repeat(200 - JSON.stringify({ ...good, filler: '' }).length);
    const { platform } = setup([answer({ ...good, filler })]);
    expect((await platform.call(read, call)).ok).toBe(true);
  });
});

describe('the tenant in the answer', () => {
  it.each(['tenant-b', 'TENANT-A', 'tenant-a '])('%s is not tenant-a', async (tenantId) => {
    const { platform, sent } = setup([answer({ ...good, tenantId })]);
    expect(await platform.call(read, call)).toMatchObject({
      ok: false,
      error: { kind: 'wrong-tenant', transient: false },
    });
    expect(sent).toHaveLength(1);
  });

  it('is compared for a remembered answer, too', async () => {
    const memo = createAnswerMemo([read]);
    const own = setup([answer], { memo });
    const foreign = setup([answer], { memo, profile: { ...profile, tenantId: 'tenant-b' } });
    expect((await own.platform.call(read, call)).ok).toBe(true);
    expect(await foreign.platform.call(read, call)).toMatchObject({
      ok: false,
      error: { kind: 'wrong-tenant' },
    });
  });
});

describe('statuses', () => {
  it.each([
    [404, 'not-found'],
    [409, 'conflict'],
    [412, 'conflict'],
    [400, 'rejected'],
    [401, 'rejected'],
    [403, 'rejected'],
    [410, 'rejected'],
    [422, 'rejected'],
  ] as const)('%i is %s and final', async (code, kind) => {
    const { platform, sent } = setup([() => status(code)]);
    expect(await platform.call(read, call)).toEqual({
      ok: false,
      error: { kind, service: 'content', operation: 'content.read_probe', status: code, transient: false },
    });
    expect(sent).toHaveLength(1);
  });

  it.each([408, 425, 429, 500, 502, 503, 504])('%i is unavailable and tried twice in all', async (code) => {
    const { platform, sent, waits } = setup([() => status(code, { 'x-request-id': 'up-9' })]);
    expect(await platform.call(read, call)).toEqual({
      ok: false,
      error: {
        kind: 'unavailable',
        service: 'content',
        operation: 'content.read_probe',
        status: code,
        upstreamRequestId: 'up-9',
        transient: true,
      },
    });
    expect(sent).toHaveLength(2);
    expect(waits).toEqual([50]);
  });

  it('503, then success, is a success [MA-218]', async () => {
    const { platform, sent } = setup([status(503), answer()]);
    expect((await platform.call(read, call)).ok).toBe(true);
    expect(sent).toHaveLength(2);
    expect(platform.trace()[0]).toMatchObject({ outcome: 'answered', status: 200, attempts: 2 });
  });

  it('a broken connection, then success, is a success', async () => {
    const { platform } = setup([new TypeError('fetch failed'), answer()]);
    expect((await platform.call(read, call)).ok).toBe(true);
  });

  it('a body that breaks off is unavailable, not malformed', async () => {
    const broken = (): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{"tenantId":'));
            controller.error(new TypeError('terminated'));
          },
        }),
        { headers: JSON_HEADERS },
      );
    const { platform, sent } = setup([broken]);
    expect(await platform.call(read, call)).toMatchObject({
      ok: false,
      error: { kind: 'unavailable', transient: true },
    });
    expect(sent).toHaveLength(2);
  });
});

describe('time', () => {
  it('waits as long as the owner asks when that fits the deadline', async () => {
    const { platform, waits } = setup([status(429, { 'retry-after': '2' }), answer()]);
    expect((await platform.call(read, call)).ok).toBe(true);
    expect(waits).toEqual([2_050]);
  });

  it('gives up at once when the owner asks for more than is left', async () => {
    const { platform, sent, waits } = setup([status(429, { 'retry-after': '30' })]);
    expect(await platform.call(read, call)).toMatchObject({
      ok: false,
      error: { kind: 'unavailable', status: 429, retryAfterSeconds: 30, transient: true },
    });
    expect(sent).toHaveLength(1);
    expect(waits).toEqual([]);
  });

  it('ends an attempt that is not answered and tries again', async () => {
    const { platform, sent, clock } = setup(['never', answer()], { attemptTimeout: 400 });
    expect((await platform.call(read, call)).ok).toBe(true);
    expect(sent).toHaveLength(2);
    expect(clock.now).toBe(10_000 + 400 + 50);
    expect(sent[0]!.init.signal.aborted).toBe(true);
  });

  it('cuts the last attempt at the deadline and starts none beyond it', async () => {
    const { platform, sent, clock } = setup(['never'], { attemptTimeout: 400, deadline: 10_500 });
    expect(await platform.call(read, call)).toMatchObject({
      ok: false,
      error: { kind: 'unavailable', transient: true },
    });
    expect(clock.now).toBe(10_500);
    expect(sent).toHaveLength(2);
  });

  it('ends a call with a time limit of its own then, repetitions included, and the others at the deadline', async () => {
    const { platform, sent, clock } = setup(['never'], { attemptTimeout: 400 });
    expect(await platform.call(read, { ...call, timeLimit: 500 })).toMatchObject({
      ok: false,
      error: { kind: 'unavailable', transient: true },
    });
    expect(clock.now).toBeLessThanOrEqual(10_500);
    const before = sent.length;
    await platform.call(read, call);
    expect(sent.length - before).toBe(2);
    expect(clock.now).toBeGreaterThan(10_800);
  });

  it('sends nothing once the deadline has passed', async () => {
    const { platform, sent } = setup([answer()], { deadline: 10_000 });
    expect(await platform.call(read, call)).toMatchObject({
      ok: false,
      error: { kind: 'unavailable', transient: true },
    });
    expect(sent).toHaveLength(0);
    expect(platform.trace()[0]).toMatchObject({ attempts: 0, status: null, outcome: 'unavailable' });
  });

  it('keeps no more calls in flight than allowed', async () => {
    let inFlight = 0;
    let most = 0;
    const platform = createPlatform({
      profile,
      fetch: async () => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise(setImmediate);
        inFlight -= 1;
        return answer();
      },
      now: () => 0,
      sleep: () => new Promise(() => undefined),
      random: () => 0,
      deadline: 1,
      maxConcurrency: 3,
    });
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => platform.call(read, { path: { probeId: `p${index}` } })),
    );
    expect(results.every((result) => result.ok)).toBe(true);
    expect(most).toBe(3);
  });
});

describe('writes', () => {
  const envelope = {
    sensor: 'urn:sensor',
    sendTime: '2026-01-31T09:30:00.000Z',
    dataVersion: 'http://purl.imsglobal.org/ctx/caliper/v1p2' as const,
    data: [
      {
        type: 'GradeEvent',
        '@context': 'http://purl.imsglobal.org/ctx/caliper/v1p2' as const,
        id: 'urn:uuid:00000000-0000-8000-8000-000000000000',
        actor: { id: 'urn:actor', type: 'SoftwareApplication' },
        action: 'Graded',
        object: { id: 'urn:object', type: 'Attempt' },
        eventTime: '2026-01-31T09:30:00.000Z',
      },
    ],
  };

  it('send canonical bytes, so that a repetition repeats every byte', async () => {
    const { platform, sent } = setup([status(503), new Response(null, { status: 204 })]);
    expect((await platform.call(operations.emitEvent, { body: envelope })).ok).toBe(true);
    expect(sent[0]!.init.body).toBe(sent[1]!.init.body);
    const text = sent[0]!.init.body as string;
    expect(text.indexOf('"data"')).toBeLessThan(text.indexOf('"dataVersion"'));
    expect(JSON.parse(text)).toEqual(envelope);
    expect(sent[0]!.init.headers['content-type']).toBe('application/json');
  });

  it.each([200, 202, 204])('of an event may be answered %i without a body', async (code) => {
    const { platform } = setup([new Response(null, { status: code })]);
    const result = await platform.call(operations.emitEvent, { body: envelope });
    expect(result.ok && result.value.value).toBeUndefined();
    expect(result.ok).toBe(true);
  });

  it('carry their idempotency key', async () => {
    const offer = {
      candidateRef: 'pseudonym',
      rootArtifactVersionId: 'v1',
      deliverySnapshot: {
        poolArtifactVersionId: 'root',
        packageId: 'package',
        packageHash: 'a'.repeat(64),
        qtiIdentifier: 'item',
        sequence: 1,
      },
    };
    const session = {
      tenantId: 'tenant-a',
      candidateRef: 'pseudonym',
      deliverySessionId: 's1',
      rootArtifactVersionId: 'v1',
      createdAt: '2026-01-31T09:30:00Z',
    };
    const { platform, sent } = setup([status(500), answer(session, { status: 201 })]);
    const result = await platform.call(operations.offerSelectedItem, {
      body: offer,
      idempotencyKey: 'offer-1',
    });
    expect(result.ok && result.value.status).toBe(201);
    expect(sent.map(({ init }) => init.headers['idempotency-key'])).toEqual(['offer-1', 'offer-1']);
    await expect(
      platform.call(operations.offerSelectedItem, { body: offer, idempotencyKey: 'two\r\nlines' }),
    ).rejects.toThrow(/idempotency key/);
  });

  it('whose body breaks the row’s schema are a defect that tells no value', async () => {
    const { platform, sent } = setup([answer()]);
    const broken = { ...envelope, sensor: '', note: 'learner text' };
    const failure = await platform
      .call(operations.emitEvent, { body: broken })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TypeError);
    expect(inspect(failure)).not.toContain('learner text');
    expect(sent).toHaveLength(0);
  });

  it('are never made by a row without a body', async () => {
    const { platform } = setup([answer()]);
    await expect(platform.call(read, { ...call, body: {} as never })).rejects.toThrow(/takes no body/);
  });
});

describe('an identifier that no address can carry', () => {
  it.each(['.', '..', '', '\ud800'])('%j names nothing: not found, and nothing is sent', async (probeId) => {
    const { platform, sent } = setup([answer()]);
    expect(await platform.call(read, { path: { probeId } })).toEqual({
      ok: false,
      error: { kind: 'not-found', service: 'content', operation: 'content.read_probe', transient: false },
    });
    expect(sent).toHaveLength(0);
    expect(platform.trace()[0]).toMatchObject({ attempts: 0, outcome: 'not-found' });
  });
});

describe('the trace', () => {
  it('holds one line per call, with offsets, hash and version', async () => {
    const { platform } = setup(
      [answer(good, { headers: { ...JSON_HEADERS, etag: '"v1"', 'x-request-id': 'up-1' } })],
      {
        startedAt: 9_000,
      },
    );
    await platform.call(read, call);
    expect(platform.trace()).toEqual([
      {
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
      },
    ]);
  });

  it('says of each call whether its answer named the tenant of the profile [MA-088]', async () => {
    const { platform } = setup([answer(), answer({ tenantId: 'tenant-b', value: 1 }), status(404)]);
    for (let made = 0; made < 3; made += 1) await platform.call(read, call);
    expect(platform.trace().map(({ tenant, namedTenant }) => [tenant, namedTenant])).toEqual([
      ['same', 'tenant-a'],
      ['other', 'tenant-b'],
      ['not-named', null],
    ]);
  });

  it('logs every call by code, operation and status, and nothing else of it [MA-007]', async () => {
    const lines: [string, object][] = [];
    const { platform } = setup([answer(), status(503, { 'x-request-id': 'up-3' })], {
      log: (code, fields) => lines.push([code, fields ?? {}]),
    });
    await platform.call(read, call);
    await platform.call(read, call);
    const about = { owner: 'content', upstreamOperation: 'content.read_probe' };
    expect(lines).toEqual([
      ['UPSTREAM_CALL', { ...about, status: 200, upstreamRequestId: null, durationMs: 0, attempts: 1 }],
      [
        'UPSTREAM_CALL_FAILED',
        { ...about, status: 503, upstreamRequestId: 'up-3', kind: 'unavailable', transient: true },
      ],
    ]);
  });

  it('reads no body where the row says that the status alone acknowledges', async () => {
    const { platform } = setup([() => new Response('OK', { headers: { 'content-type': 'text/plain' } })]);
    const row = { ...read, answer: z.undefined(), bodyIgnored: true, tenantInAnswer: false } as const;
    expect(await platform.call(row, call)).toMatchObject({ ok: true, value: { value: undefined } });
  });

  it('and the fault hold nothing of body, address or credential [MA-088, MA-213]', async () => {
    const { platform } = setup([
      answer({ tenantId: 'tenant-b', value: 1, name: 'learner name' }),
      status(500),
      new TypeError('connect ECONNREFUSED platform.example'),
    ]);
    const results = [
      await platform.call(read, { path: { probeId: 'secret-id' } }),
      await platform.call(read, call),
    ];
    const shown = inspect([results, platform.trace()], { depth: 10 });
    for (const hidden of ['learner name', 'platform.example', 'secret-id', 'do not read me', CREDENTIAL]) {
      expect(shown).not.toContain(hidden);
    }
    // Whose answer it was stands in the trace, which only the log shows.
    expect(inspect(results, { depth: 10 })).not.toContain('tenant-b');
  });
});

describe('revalidation', () => {
  const notModified = (headers: Record<string, string> = {}): Response =>
    new Response(null, { status: 304, headers });

  it.each(['"v1"', 'W/"v1"'])(
    'asks with the tag as the owner gave it, %s, and takes 304 as unchanged',
    async (etag) => {
      const { platform, sent } = setup([notModified({ etag, 'x-request-id': 'up-1' })]);
      expect(await platform.revalidate(read, call, etag)).toEqual({ ok: true, value: 'unchanged' });
      expect(sent[0]!.init.method).toBe('GET');
      expect(sent[0]!.init.headers).toEqual({
        accept: 'application/json',
        authorization: `Bearer ${CREDENTIAL}`,
        'if-none-match': etag,
      });
      expect(platform.trace()).toEqual([
        {
          operation: 'content.read_probe',
          service: 'content',
          status: 304,
          outcome: 'answered',
          upstreamRequestId: 'up-1',
          version: etag,
          responseHash: null,
          startedAt: 0,
          endedAt: 0,
          attempts: 1,
          tenant: 'not-named',
          namedTenant: null,
        },
      ]);
    },
  );

  it.each([
    ['no tag', {}],
    ['the tag compared weakly', { etag: 'W/"v1"' }],
    ['what is no tag', { etag: 'v2' }],
  ])('is confirmed by a 304 with %s', async (_, headers) => {
    const { platform } = setup([notModified(headers)]);
    expect(await platform.revalidate(read, call, '"v1"')).toEqual({ ok: true, value: 'unchanged' });
    expect(platform.trace()[0]).toMatchObject({ status: 304, outcome: 'answered' });
  });

  it('is not confirmed by a 304 that names another version', async () => {
    const { platform, sent } = setup([notModified({ etag: '"v2"' })]);
    expect(await platform.revalidate(read, call, '"v1"')).toMatchObject({
      ok: false,
      error: { kind: 'malformed', status: 304, transient: false },
    });
    expect(sent).toHaveLength(2);
    expect(platform.trace()[0]).toMatchObject({ outcome: 'malformed', version: '"v2"' });
  });

  it('gives the whole answer when the owner holds another version, or ignores the condition', async () => {
    for (const etag of ['"v2"', '"v1"']) {
      const { platform } = setup([answer(good, { headers: { ...JSON_HEADERS, etag } })]);
      expect(await platform.revalidate(read, call, '"v1"')).toEqual({
        ok: true,
        value: {
          value: good,
          etag,
          status: 200,
          upstreamRequestId: undefined,
          bodyHash: sha256Hex(JSON.stringify(good)),
        },
      });
    }
  });

  it('judges that answer as any other: tenant, schema, size, address', async () => {
    const kindOf = async (reply: Response, probeId = 'p1'): Promise<unknown> => {
      const result = await setup([reply]).platform.revalidate(read, { path: { probeId } }, '"v1"');
      return result.ok ? result.value : result.error.kind;
    };
    expect(await kindOf(answer({ ...good, tenantId: 'tenant-b' }))).toBe('wrong-tenant');
    expect(await kindOf(answer({ tenantId: 'tenant-a' }))).toBe('malformed');
    expect(await kindOf(answer({ ...good, filler: 'x'.repeat(200) }))).toBe('malformed');
    expect(await kindOf(status(404))).toBe('not-found');
    expect(await kindOf(status(412))).toBe('conflict');
    expect(await kindOf(answer(), '..')).toBe('not-found');
  });

  it('is repeated once when it is not answered, with the same condition, and logged', async () => {
    const lines: [string, object][] = [];
    const { platform, sent, waits } = setup([status(503), notModified()], {
      log: (code, fields) => lines.push([code, fields ?? {}]),
    });
    expect(await platform.revalidate(read, call, '"v1"')).toEqual({ ok: true, value: 'unchanged' });
    expect(sent.map(({ init }) => init.headers['if-none-match'])).toEqual(['"v1"', '"v1"']);
    expect(waits).toEqual([50]);
    expect(lines).toEqual([
      [
        'UPSTREAM_CALL',
        expect.objectContaining({ upstreamOperation: 'content.read_probe', status: 304, attempts: 2 }),
      ],
    ]);
  });

  it('ends at the deadline as every call', async () => {
    const { platform, sent } = setup(['never'], { attemptTimeout: 400, deadline: 10_500 });
    expect(await platform.revalidate(read, call, '"v1"')).toMatchObject({
      ok: false,
      error: { kind: 'unavailable', transient: true },
    });
    expect(sent).toHaveLength(2);
  });

  it('counts only when it was asked for: a plain call takes a 304 as malformed', async () => {
    const { platform } = setup([notModified({ etag: '"v1"' })]);
    expect(await platform.call(read, call)).toMatchObject({
      ok: false,
      error: { kind: 'malformed', status: 304, transient: false },
    });
  });

  it('is a defect of whoever asks without one entity tag, or on a row that writes', async () => {
    const { platform, sent } = setup([answer]);
    for (const etag of ['', 'v1', '*', '"a", "b"', '"a"\r\nx: y']) {
      await expect(platform.revalidate(read, call, etag)).rejects.toThrow(/malformed entity tag/);
    }
    const write = { ...read, method: 'POST', retry: 'idempotent-write' } as const;
    await expect(platform.revalidate(write, call, '"v1"')).rejects.toThrow(/only a GET row/);
    expect(sent).toHaveLength(0);
  });
});

describe('the memo', () => {
  it('spares the parsing, never the reading', async () => {
    const memo = createAnswerMemo([read]);
    const first = setup([answer], { memo });
    const second = setup([answer], { memo });
    const one = await first.platform.call(read, call);
    const two = await second.platform.call(read, call);
    expect(second.sent).toHaveLength(1);
    expect(one.ok && two.ok && one.value.value === two.value.value).toBe(true);
  });

  it('does not make a wrong media type right', async () => {
    const memo = createAnswerMemo([read]);
    const { platform } = setup([answer(), answer(good, { headers: { 'content-type': 'text/html' } })], {
      memo,
    });
    expect((await platform.call(read, call)).ok).toBe(true);
    expect(await platform.call(read, call)).toMatchObject({ ok: false, error: { kind: 'malformed' } });
  });
});
