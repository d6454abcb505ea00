import { afterEach, describe, expect, it } from 'vitest';
import { readEquivalence } from '#shared/contract/reports/routes/read-equivalence.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Fetch } from '#shared/network/http-client.ts';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { indistinguishable, type GatewayCall, type GatewayReply } from '#test/support/gateway-call.ts';
import { callMastery, problemOf } from '#test/support/mastery-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { openReportsCaller, reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// Whom the services serve: the token's tenant, the keys that it is verified with, and the profile of the tenant.

/** What the issuer's key set answers next; `undefined` is what it truly answers. Time limits pass fast while one is set. */
const next: ((signal: AbortSignal) => ReturnType<Fetch>)[] = [];
let asked = 0;

const { fetch, sleep } = processRuntime();
const stack = useTestStack({
  inProcess: () => ({
    fetch: (url, request) => {
      if (!url.endsWith('/jwks.json')) return fetch(url, request);
      asked += 1;
      return next.shift()?.(request.signal) ?? fetch(url, request);
    },
    sleep: (milliseconds, signal) => sleep(next.length > 0 ? milliseconds / 20 : milliseconds, signal),
  }),
});
const runs = useAdaptiveRuns(stack);
const reports = lazily(() => openReportsCaller(stack));
afterEach(() => {
  next.length = 0;
});

const start = (call: GatewayCall = {}): Promise<GatewayReply> =>
  callMastery(stack, startAdaptiveRun, { body: runs.startBody(), ...call });
const equivalence = (call: GatewayCall = {}): Promise<GatewayReply> =>
  reports.call(readEquivalence, {
    path: { qtiTestId: reports.fixtures('tenant-aurora').forms.equivalent },
    ...call,
  });

describe('a token', () => {
  it.each([' ', 'tenant-aurora\n', 'tenant\u2028aurora', 'a\u0000'])(
    'of the tenant %j is refused on both services like any other bad token, and nothing is asked [MA-148, RP-312]',
    async (tenantId) => {
      const claims = { sub: 'client', role: 'client' };
      const { result, calls } = await callsDuring(stack, () =>
        Promise.all([start({ tenantId, claims }), equivalence({ tenantId, claims })]),
      );
      const plain = { headers: { Authorization: 'Bearer a.b.c' } };
      expect(result.map(({ status }) => status)).toEqual([401, 401]);
      expect(result.map(indistinguishable)).toEqual(
        (await Promise.all([start(plain), equivalence(plain)])).map(indistinguishable),
      );
      expect(calls).toEqual([]);
    },
  );
});

describe('a tenant without a service profile', () => {
  const nobody = { tenantId: 'tenant-nobody' };

  it('is 424 of platform_auth on the mastery engine, not to be repeated [MA-009, MA-010, MA-218]', async () => {
    const { result, calls } = await callsDuring(stack, () => start(nobody));
    expect(problemOf(result)).toMatchObject({
      status: 424,
      code: 'upstream-unavailable',
      retryable: false,
      upstream: { service: 'platform_auth', operation: 'platform.service_profile' },
    });
    expect(result.headers.has('retry-after')).toBe(false);
    expect(calls).toEqual([]);
  });

  it('is 503 on the reports service, to be repeated in five minutes [RP-334]', async () => {
    const { result, calls } = await callsDuring(stack, () => equivalence(nobody));
    expect(reportsAnswerOf(result)).toBe('503 dependency-unavailable unknown');
    expect(reportsProblemOf(result).retryable).toBe(true);
    expect(result.headers.get('retry-after')).toBe('300');
    expect(calls).toEqual([]);
  });
});

describe('the key set', () => {
  const refused = (): ReturnType<Fetch> => Promise.reject(new TypeError('the issuer is down'));
  const silent = (signal: AbortSignal): ReturnType<Fetch> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new DOMException('too late', 'TimeoutError')));
    });
  /** Both services in functions that have just been started, and how often the issuer was asked. */
  async function cold(answer: (typeof next)[number], times: number): Promise<readonly GatewayReply[]> {
    const replies: GatewayReply[] = [];
    for (const send of [start, equivalence]) {
      await stack.killWorkers();
      asked = 0;
      next.push(...Array<typeof answer>(times).fill(answer));
      replies.push(await send());
      next.length = 0;
      expect(asked).toBe(2);
    }
    return replies;
  }

  it.each([
    ['refuses', refused],
    ['leaves unanswered', silent],
  ])('of an issuer that %s both is an outage and never a 401 [MA-218, RP-334]', async (_, answer) => {
    const [engine, service] = await cold(answer, 3);
    expect(problemOf(engine!)).toMatchObject({
      status: 424,
      retryable: true,
      upstream: { service: 'platform_auth' },
    });
    expect(reportsAnswerOf(service!)).toBe('503 dependency-unavailable unknown');
  });
});
