import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { PutParameterCommand } from '@aws-sdk/client-ssm';
import { beforeEach, expect, it } from 'vitest';
import { bind } from '#functions/reports/background/run-canary/handler.ts';
import { CALL_MS } from '#functions/reports/background/run-canary/run-canary.ts';
import { accessKeyOf } from '#local/aws/resources.ts';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { variablesOf } from '#local/stack/function-variables.ts';
import { runCanary } from '#shared/contract/background.ts';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import { createAwsClients, processRuntime } from '#shared/lambda/process-runtime.ts';
import { readCapped, type Fetch, type FetchAnswer } from '#shared/network/http-client.ts';
import { localCredentials, localRegion, localStage } from '#shared/stage/local-stage.ts';
import { canaryCredential } from '#shared/contract/grants.ts';
import { openAdaptiveRuns, SHORT_BANK } from '#test/support/adaptive-run.ts';
import { lazily } from '#test/support/lazily.ts';
import { countsOf } from '#test/support/platform-control.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';

// The canary calls the local stack over its public addresses, and meets what a stage that is broken would return.

const [TENANT, OTHER] = localTenantIds;
const stack = useTestStack();
const runs = lazily(() => openAdaptiveRuns(stack, TENANT));
const { fetch } = processRuntime();
const scopes = ['mastery:run', 'mastery:read'];
const DAY_S = 86_400;

type Line = Readonly<Record<string, unknown>>;

interface Changed {
  readonly fetch?: Fetch;
  readonly ahead?: number;
  readonly sleep?: ReturnType<typeof processRuntime>['sleep'];
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** One call of the schedule, in a container of its own. @returns the lines of its steps by step, and the addresses that it called */
async function call(changed: Changed = {}) {
  const { awsUrl: endpoint, reportsUrl } = stack.urls;
  const lines: string[] = [];
  const called: string[] = [];
  const own = processRuntime();
  const { runMode: _, ...ids } = runs.startBody({ bank: SHORT_BANK, mode: 'owner_conformance' });
  const credentials = { ...localCredentials, accessKeyId: accessKeyOf(runCanary) };
  const run = bind({
    ...own,
    now: () => Date.now() + (changed.ahead ?? 0),
    sleep: changed.sleep ?? own.sleep,
    fetch: (url, request) => {
      called.push(new URL(url).pathname);
      return (changed.fetch ?? fetch)(url, request);
    },
    write: (line) => lines.push(line),
    aws: createAwsClients(() => ({ endpoint, region: localRegion, credentials })),
    environment: {
      ...variablesOf(runCanary, {
        ...{ awsUrl: endpoint, gatewayUrl: new URL(reportsUrl).origin },
        releaseKey: stack.rehearsal.releaseKey,
      }),
      ...{ CANARY_TENANT: TENANT, CANARY_RUN: JSON.stringify(ids) },
      ...changed.environment,
    },
  });
  await run({}, { awsRequestId: 'f-1', getRemainingTimeInMillis: () => 75_000 });
  const steps = Object.fromEntries(
    lines
      .map((line) => JSON.parse(line) as Line)
      .map(({ step, code, success, call: operation, status, problem, kind, error }) => [
        String(step),
        JSON.parse(JSON.stringify({ code, success, call: operation, status, problem, kind, error })) as Line,
      ]),
  );
  return { steps, called, text: lines.join('') };
}

async function provision(token: string | Promise<string>): Promise<void> {
  await clientsOf(stack).ssm.send(
    new PutParameterCommand({
      ...{ Name: canaryCredential(localStage), Type: 'SecureString', Overwrite: true },
      Value: await token,
    }),
  );
}

const good = { code: 'CANARY_SUCCEEDED', success: 1 };
const bad = (fields: Line) => ({ code: 'CANARY_FAILED', success: 0, ...fields });
const path = `/sandbox/v1/attempt-reports/${sandboxIds.masteryGateAttempt}`;

/** Changes the response of one path: what the stage really returned comes in. */
function changing(part: string, change: (body: string, answer: FetchAnswer) => Partial<FetchAnswer>): Fetch {
  return async (url, request) => {
    const answer = await fetch(url, request);
    if (!url.includes(part)) return answer;
    const text = Buffer.concat((await readCapped(answer.body, 1e6)) ?? []).toString();
    return { ...answer, body: bodyOf(text), ...change(text, answer) };
  };
}
const bodyOf = (text: string): Readable => Readable.from([Buffer.from(text)]);

beforeEach(() => provision(stack.tokenFor(TENANT, scopes, { expiresInSeconds: 60 * DAY_S })));

it('calls the sandbox without a token, starts one conformance run and inspects it once', async () => {
  const { steps, called } = await call();
  expect(steps).toStrictEqual({ sandbox: good, credential: good, run: good });
  expect(called.toSorted()).toStrictEqual([
    '/mastery/v1/adaptive-runs',
    '/mastery/v1/adaptive-runs:inspect',
    path,
  ]);
});

it('leaves one open session of a candidate of its own, and nothing at Results or Caliper', async () => {
  const before = await countsOf(stack, TENANT);
  await call({ ahead: 900_000 });
  const after = await countsOf(stack, TENANT);
  const more = Object.entries(after).filter(([kind, count]) => count !== before[kind]);
  expect(more.map(([kind, count]) => [kind, count - (before[kind] ?? 0)])).toStrictEqual([
    ['qti.session', 1],
  ]);
});

it('resumes the run of its window when the schedule calls twice, and starts another in the next window', async () => {
  const sessions = async () => (await countsOf(stack, TENANT))['qti.session'];
  // In the middle of a window, which the test does not leave.
  const ahead = 10 * 900_000 - (Date.now() % 900_000) + 450_000;
  await call({ ahead });
  const one = (await sessions()) ?? 0;
  expect((await call({ ahead })).steps['run']).toStrictEqual(good);
  expect(await sessions()).toBe(one);
  await call({ ahead: ahead + 900_000 });
  expect(await sessions()).toBe(one + 1);
});

it('calls only the sandbox where the stage names no run', async () => {
  const { steps, called } = await call({ environment: { CANARY_RUN: undefined, MASTERY_URL: undefined } });
  expect([steps, called]).toStrictEqual([{ sandbox: good }, [path]]);
});

const html = '<html>a learner: Ada</html>';
it.each<readonly [string, Fetch, step: 'sandbox' | 'run', Line]>([
  [
    'status 500 of the sandbox',
    changing('/sandbox/', () => ({
      status: 500,
      body: bodyOf('{"type":"https://docs/problems/internal-error"}'),
    })),
    'sandbox',
    { call: 'readAttemptReport', status: 500, problem: 'internal-error', kind: 'other-status' },
  ],
  [
    'a status with the page of something else',
    changing('/sandbox/', () => ({ status: 403, body: bodyOf(html) })),
    'sandbox',
    { call: 'readAttemptReport', status: 403, kind: 'other-status' },
  ],
  [
    'a problem that is none of this service',
    changing(':inspect', () => ({ status: 500, body: bodyOf('{"type":"/problems/ada-lovelace"}') })),
    'run',
    { call: 'inspectAdaptiveRun', status: 500, kind: 'other-status' },
  ],
  [
    'HTML in place of a report',
    changing('/sandbox/', () => ({ body: bodyOf(html) })),
    'sandbox',
    { call: 'readAttemptReport', status: 200, kind: 'other-form' },
  ],
  [
    'a body without an end',
    changing('/sandbox/', (text) => ({ body: bodyOf(text + ' '.repeat(2_000_000)) })),
    'sandbox',
    { call: 'readAttemptReport', status: 200, kind: 'other-form' },
  ],
  [
    'a run with a member that its schema does not have',
    changing('adaptive-runs', (text) => ({ body: bodyOf(text.replace('{', '{"candidate":"Ada",')) })),
    'run',
    { call: 'startAdaptiveRun', status: 201, kind: 'other-form' },
  ],
  [
    'the report of another attempt',
    (url, request) =>
      fetch(url.replace(sandboxIds.masteryGateAttempt, sandboxIds.adaptiveDiagnosticAttempt), request),
    'sandbox',
    { call: 'readAttemptReport', kind: 'other-facts' },
  ],
  [
    'the pins of another test',
    changing('adaptive-runs', (text) => ({
      body: bodyOf(text.replace(/"testBankId":"[^"]+"/, '"testBankId":"bank-of-another-tenant"')),
    })),
    'run',
    { call: 'startAdaptiveRun', kind: 'other-facts' },
  ],
  [
    'another session on inspection',
    changing(':inspect', (text) => ({
      body: bodyOf(text.replace(/"deliverySessionId":"[^"]+"/, '"deliverySessionId":"of-another-run"')),
    })),
    'run',
    { call: 'inspectAdaptiveRun', kind: 'other-facts' },
  ],
  [
    'another entity tag on inspection',
    changing(':inspect', (_, { headers }) => ({
      headers: { get: (name) => (name === 'etag' ? '"other"' : headers.get(name)) },
    })),
    'run',
    { call: 'inspectAdaptiveRun', kind: 'other-facts' },
  ],
  [
    'a run without an entity tag',
    changing('adaptive-runs', () => ({ headers: { get: () => null } })),
    'run',
    { call: 'startAdaptiveRun', kind: 'other-facts' },
  ],
  [
    'a learner’s run',
    changing('adaptive-runs', (text) => ({
      body: bodyOf(text.replace('owner_conformance', 'production_learner')),
    })),
    'run',
    { call: 'startAdaptiveRun', kind: 'other-facts' },
  ],
  [
    'no connection',
    async (url, request) => {
      if (url.includes('/sandbox/')) throw new TypeError('ECONNREFUSED with an address');
      return fetch(url, request);
    },
    'sandbox',
    { call: 'readAttemptReport', kind: 'unreachable', error: 'TypeError' },
  ],
])('%s fails its step and no other, in words of our own', async (_, changed, step, fields) => {
  const { steps, text } = await call({ fetch: changed });
  expect(steps).toStrictEqual({ sandbox: good, credential: good, run: good, [step]: bad(fields) });
  expect(text).not.toMatch(/\bada\b|lovelace|of-another|ECONNREFUSED|eyJ/i);
});

it.each([
  ['never answers', undefined],
  ['never ends its answer', '{'],
])('an address that takes the connection and %s costs twenty seconds', async (_, begin) => {
  const asked = Promise.withResolvers<undefined>();
  const silent = createServer((_request, response) => {
    if (begin !== undefined) response.write(begin);
    asked.resolve(undefined);
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const waited: number[] = [];
  const { sleep } = processRuntime();
  try {
    const { steps } = await call({
      environment: { CANARY_RUN: undefined, SANDBOX_URL: `http://127.0.0.1:${port}` },
      // The clock is moved once the request is under way.
      sleep: async (milliseconds, signal) => {
        waited.push(milliseconds);
        return milliseconds === CALL_MS ? asked.promise : sleep(milliseconds, signal);
      },
    });
    expect(steps['sandbox']).toMatchObject(bad({ call: 'readAttemptReport', kind: 'too-slow' }));
    expect(waited).toContain(20_000);
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});

it('a route whose owner is down fails the run with its status and problem', async () => {
  await stack.fault({
    operation: 'bank.read_adaptive_pool_manifest',
    method: 'GET',
    kind: 'down',
    times: 1_000,
  });
  const { steps } = await call({ ahead: 20 * 900_000 });
  await stack.control('DELETE', 'faults');
  expect(steps['run']).toStrictEqual(
    bad({ call: 'startAdaptiveRun', status: 424, problem: 'upstream-unavailable', kind: 'other-status' }),
  );
});

const tokenFor = (tenant: string, days: number) => () =>
  stack.tokenFor(tenant, scopes, { expiresInSeconds: days * DAY_S });
it.each<readonly [string, () => Promise<string>, string, Changed]>([
  ['of another tenant', tokenFor(OTHER, 60), 'other-tenant', {}],
  ['that has expired', tokenFor(TENANT, 60), 'expired', { ahead: 60 * DAY_S * 1000 }],
  ['that is none', () => Promise.resolve('<the token>'), 'no-token', {}],
  ['with a line break', async () => `${await tokenFor(TENANT, 60)()}\n`, 'no-token', {}],
])('a token %s is not sent, and the run is not tried', async (_, token, kind, changed) => {
  await provision(token());
  const { steps, called } = await call(changed);
  expect(steps).toStrictEqual({ sandbox: good, credential: bad({ kind }) });
  expect(called).toStrictEqual([path]);
});

it.each([
  ['60 days', 60, 53, 7],
  ['an hour', 1 / 24, 0.75 / 24, 0.25 / 24],
])('a token for %s is reported before it expires, and used until then', async (_, life, still, rest) => {
  await provision(tokenFor(TENANT, life)());
  const ahead = (days: number) => ({ ahead: days * DAY_S * 1000 });
  expect((await call(ahead(still - rest / 100))).steps['credential']).toStrictEqual(good);
  const { steps, called } = await call(ahead(still + rest / 100));
  expect(steps['credential']).toStrictEqual(bad({ kind: 'expires-soon' }));
  expect(called).toContain('/mastery/v1/adaptive-runs');
});

it('a parameter that cannot be read is a failure of the credential alone', async () => {
  stack.awsFaults.unavailable('ssm', 10);
  const { steps } = await call();
  stack.awsFaults.reset();
  expect(steps).toMatchObject({ sandbox: good, credential: bad({ kind: 'unreadable' }) });
  expect(steps).not.toHaveProperty('run');
});

it('ids that no start takes are a setting that is wrong, and stop the call', async () => {
  await expect(call({ environment: { CANARY_RUN: '{"testBankId":"a"}' } })).rejects.toThrow(
    'BACKGROUND_WORK_BROKEN',
  );
});
