import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMasteryClient, type MasteryClient } from '#client/index.ts';
import { startRequest } from '#local/journey/bank.ts';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import type { Scope } from '#shared/contract/route.ts';
import { SHORT_BANK } from '#test/support/adaptive-run.ts';
import { browserFetch } from '#test/support/browser-fetch.ts';
import { callRaw } from '#test/support/raw-call.ts';
import { startTestStack, type TestStack } from '#test/support/stack.ts';
import { bankOf } from '#test/support/take-journey.ts';

const TENANT = 'tenant-aurora';
const APP = 'https://app.school.example';
const ADMIN = 'https://admin.school.example:8443';
const FOREIGN = 'https://evil.example';
const START = '/v1/adaptive-runs';
const REPORT = `/v1/attempt-reports/${sandboxIds.masteryGateAttempt}`;

let stack: TestStack;

/** Starts a stack for the tests of one `describe`. */
function withOrigins(...allowedOrigins: readonly string[]): void {
  beforeAll(async () => {
    stack = await startTestStack(allowedOrigins.length === 0 ? {} : { allowedOrigins });
  });
  afterAll(() => stack.close());
}

/** A client in a page of this origin. */
function clientIn(origin: string): MasteryClient {
  return createMasteryClient({
    baseUrl: stack.urls.masteryUrl,
    token: ({ scope }) => stack.tokenFor(TENANT, [scope as Scope]),
    fetch: browserFetch(origin),
    sleep: () => Promise.resolve(),
  });
}

const run = (): Parameters<MasteryClient['startAdaptiveRun']>[0] =>
  startRequest(bankOf(stack.seed, TENANT, SHORT_BANK), 'owner_conformance');

/** What a browser looks at in a response to a request of this origin. */
async function corsOf(
  url: string,
  target: string,
  origin: string | undefined,
  method = 'GET',
): Promise<Readonly<Record<string, unknown>>> {
  const { status, headers } = await callRaw(url, target, {
    method,
    headers: [
      ...(origin === undefined ? [] : [['Origin', origin] as const]),
      ...(method === 'OPTIONS' ? [['Access-Control-Request-Method', 'POST'] as const] : []),
    ],
  });
  const allow = [...headers].filter(([name]) => name.startsWith('access-control-'));
  return {
    status,
    origin: headers.get('access-control-allow-origin'),
    names: allow.length,
    vary: headers.get('vary'),
  };
}

const nothing = { origin: null, names: 0, vary: null };

describe('without allowed origins', () => {
  withOrigins();

  it('no response has a CORS header, and OPTIONS is an unknown method', async () => {
    const { masteryUrl, sandboxUrl } = stack.urls;
    expect(await corsOf(sandboxUrl, REPORT, APP)).toEqual({ status: 200, ...nothing });
    expect(await corsOf(masteryUrl, START, APP, 'POST')).toEqual({ status: 401, ...nothing });
    expect(await corsOf(masteryUrl, START, APP, 'OPTIONS')).toEqual({ status: 404, ...nothing });
  });
});

describe('with several allowed origins', () => {
  withOrigins(APP, ADMIN);

  it('a page of each can take a run with the client and read every header that the client reads', async () => {
    for (const origin of [APP, ADMIN]) {
      const client = clientIn(origin);
      const { data, etag, requestId, headers } = await client.startAdaptiveRun(run(), {
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      });
      expect([etag, requestId, headers.get('date')]).not.toContain(undefined);
      expect(headers.get('date')).not.toBeNull();
      const { continuationToken } = data;
      expect(await client.advanceAdaptiveRun({ continuationToken, ifMatch: etag })).toMatchObject({
        status: 200,
      });
      await expect(
        client.advanceAdaptiveRun({ continuationToken, ifMatch: '"stale"' }),
        'a problem of a function',
      ).rejects.toMatchObject({ status: 412 });
    }
  });

  it('a page of any other origin can neither send a request with a token nor read a response', async () => {
    const { sandboxUrl, masteryUrl } = stack.urls;
    for (const origin of [FOREIGN, 'null', `${APP}.evil.example`, APP.toUpperCase()]) {
      await expect(clientIn(origin).startAdaptiveRun(run())).rejects.toMatchObject({
        name: 'ConnectionError',
        message: expect.stringContaining(`not for ${origin}`) as string,
      });
      expect(await corsOf(sandboxUrl, REPORT, origin)).toEqual({ status: 200, ...nothing, vary: 'Origin' });
      expect(await corsOf(masteryUrl, START, origin, 'POST')).toEqual({
        status: 401,
        ...nothing,
        vary: 'Origin',
      });
    }
    expect(await corsOf(sandboxUrl, REPORT, undefined)).toMatchObject({ ...nothing, vary: 'Origin' });
  });

  it('every function names the origin of the request, also the ones without a route of the registry', async () => {
    const { sandboxUrl, masteryUrl, reportsUrl, receiptsUrl } = stack.urls;
    const allowed = { origin: ADMIN, names: 2 };
    const streamed = 'Accept-Encoding, Origin';
    expect(await corsOf(sandboxUrl, REPORT, ADMIN)).toEqual({ status: 200, ...allowed, vary: 'Origin' });
    expect(await corsOf(masteryUrl, START, ADMIN, 'POST')).toMatchObject({ status: 401, ...allowed });
    expect(await corsOf(reportsUrl, REPORT, ADMIN)).toEqual({ status: 401, ...allowed, vary: streamed });
    expect(await corsOf(receiptsUrl, '/x', ADMIN)).toEqual({ status: 404, ...allowed, vary: streamed });
  });
});
