import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { localProof } from '#ops/proof/local.ts';
import { runProof } from '#ops/proof/run-proof.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { startLeakyProxy } from '#test/support/leaky-proxy.ts';
import type { LeakyProxy } from '#test/support/leaky-proxy.ts';
import { openTraffic, operationsOf } from '#test/support/openapi-traffic.ts';
import type { Traffic } from '#test/support/openapi-traffic.ts';
import { localDescription, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { sandboxIds } from '#shared/contract/sandbox.ts';

// A validator of OpenAPI that is not ours stands between the clients and the gateway, and sees every request and response.

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const TENANT = 'tenant-aurora';
const names = ['mastery', 'reports', 'sandbox'] as const;
type Name = (typeof names)[number];

let stack: TestStack;
const proxies = new Map<Name, LeakyProxy>();
const traffic = new Map<Name, Traffic>();
beforeAll(async () => {
  stack = await startTestStack();
  for (const name of names) {
    const proxy = await startLeakyProxy(stack.urls[`${name}Url`]);
    traffic.set(name, await openTraffic(name));
    proxies.set(name, proxy);
    proxy.leak = traffic.get(name)?.watch;
  }
});
afterAll(async () => {
  for (const proxy of proxies.values()) await proxy.close();
  await stack.close();
});

const urlOf = (name: Name): string => proxies.get(name)?.url ?? '';
const differences = (): readonly string[] => [
  ...new Set([...traffic.values()].flatMap((seen) => seen.differences)),
];

it('every operation is as the documents describe it, and so are its problems', async () => {
  for (const service of ['mastery', 'reports'] as const) {
    const local = await localProof(
      service,
      localDescription(stack),
      [],
      ({ tenantId, scopes, ...claims }) => stack.tokenFor(tenantId, scopes, claims),
      Date.now(),
    );
    if (!local.ok) throw new Error(local.error);
    const url = urlOf(service);
    const proof = await runProof({
      ...local.value,
      service,
      url,
      clock: Date.now,
      onProgress: () => undefined,
    });
    if (!proof.ok) throw new Error(proof.error);
  }
  const { masteryGateAttempt, candidate, form } = sandboxIds;
  for (const target of [
    `/v1/attempt-reports/${masteryGateAttempt}?view=evidence`,
    `/v1/attempt-reports/${masteryGateAttempt}/readiness`,
    `/v1/candidates/${candidate}/attempt-reports?limit=1`,
    `/v1/forms/${form}/equivalence`,
    '/v1/attempt-reports/unknown',
  ])
    await fetch(`${urlOf('sandbox')}${target}`);
  await fetch(`${urlOf('sandbox')}/v1/attempt-reports:materialize`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'a' },
    body: JSON.stringify({ attemptId: masteryGateAttempt, administrationId: 'b' }),
  });
  expect(differences()).toEqual([]);
  for (const [name, { succeeded }] of traffic)
    expect([name, ...[...succeeded].toSorted()]).toEqual([name, ...operationsOf(name).toSorted()]);
});

type Plant = (run: Record<string, unknown>, headers: Headers) => void;

it.each<[string, Plant, string]>([
  ['a misspelt status', (run) => (run['status'] = 'complete'), 'body.status'],
  ['a missing field', (run) => delete run['executionPins'], 'body'],
  ['a missing header', (_, headers) => headers.delete('X-Request-Id'), 'header'],
])('a planted difference is found: %s', async (_, plant, place) => {
  const runs = openAdaptiveRuns(stack);
  const [seen, proxy] = [await openTraffic('mastery'), await startLeakyProxy(stack.urls.masteryUrl)];
  proxy.leak = (request, pass) =>
    seen.watch(request, async (sent) => {
      const answer = await pass(sent);
      // SAFETY: a run, as the assertion below demands.
      const run = JSON.parse(answer.body) as Record<string, unknown>;
      plant(run, answer.headers);
      return { ...answer, body: JSON.stringify(run) };
    });
  const token = await stack.tokenFor(TENANT, ['mastery:run']);
  await fetch(`${proxy.url}/v1/adaptive-runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `planted-${place}`,
    },
    body: JSON.stringify(runs.startBody()),
  });
  await proxy.close();
  expect(seen.differences).toEqual([expect.stringContaining(`POST /v1/adaptive-runs response 201 ${place}`)]);
});
