import { afterEach, expect, it } from 'vitest';
import { openProfiles } from '#ops/release/profiles.ts';
import type { OperationId } from '#shared/contract/routes.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { localKeyAlias, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { readProfileItem, writeProfileItem } from '#shared/stores/service-profile-items.ts';
import { answerOf } from '#test/lemmas/answers.ts';
import { openWorlds, operations } from '#test/lemmas/worlds.ts';
import { lazily } from '#test/support/lazily.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';

// The service profile of a tenant in a container, from the operator's command to what a caller sees. Its parts: shared/platform/service-profiles.test.ts.

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const started = Date.now();
const clock = { now: started };
const own = processRuntime();
const stack = useTestStack({
  now: () => clock.now,
  inProcess: () => ({
    now: () => clock.now,
    // Pauses pass at once, time limits later than usual: nothing hangs here but a slow machine.
    sleep: (milliseconds, signal) => own.sleep(milliseconds > 1_000 ? 20 * milliseconds : 0, signal),
  }),
});
const worlds = lazily(() => openWorlds(stack));
const profiles = lazily(() =>
  openProfiles({
    ...clientsOf(stack),
    ...{ stage: localStage, approvedHosts: [], now: () => clock.now },
    ...{ settingsTable: localTableName('settings'), keyId: localKeyAlias },
  }),
);
afterEach(() => {
  stack.awsFaults.reset();
  clock.now = started;
});

const tenantId = 'tenant-borealis';
const probed = operations.filter(({ operation }) =>
  (['startAdaptiveRun', 'readAttemptReport'] as readonly OperationId[]).includes(operation),
);
const served = ['201', '200'];
const outage = ['424 upstream-unavailable retryable', '503 dependency-unavailable retryable'];
const closed = ['424 upstream-unavailable', '503 dependency-unavailable retryable'];

/** What a route of each service returns for the tenant. */
const answers = (): Promise<readonly string[]> =>
  Promise.all(
    probed.map(async ({ operation, route }) => {
      const reply = await worlds.send(operation, await worlds.request(operation, tenantId));
      return answerOf(route, reply).join(' ');
    }),
  );

it('an outage of Systems Manager for six minutes passes unnoticed on warm and on new containers: no function calls it', async () => {
  expect(await answers()).toEqual(served);
  const ssmCalls = () =>
    ['GetParameter', 'GetParameters', 'GetParametersByPath'].map((call) => stack.awsCalls('ssm', call));
  const before = ssmCalls();
  stack.awsFaults.break('ssm', 'is down');
  for (let minute = 1; minute <= 6; minute += 1) {
    clock.now += MINUTE;
    expect(await answers(), `minute ${minute}`).toEqual(served);
  }
  await stack.killWorkers();
  expect(await answers()).toEqual(served);
  expect(ssmCalls()).toEqual(before);
});

it('a credential that is replaced while KMS is down leaves the former one in use for four hours, and the new one is used once KMS is back', async () => {
  await stack.killWorkers();
  expect(await answers()).toEqual(served);
  expect(await profiles.move(tenantId)).toMatchObject({ ok: true });
  stack.awsFaults.break('kms', 'is down');
  for (const age of [MINUTE, 10 * MINUTE, HOUR, 4 * HOUR - 1]) {
    clock.now = started + age;
    expect(await answers(), `${age} ms`).toEqual(served);
  }
  clock.now = started + 4 * HOUR;
  expect(await answers()).toEqual(outage);
  await stack.killWorkers();
  expect(await answers()).toEqual(outage);
  stack.awsFaults.reset();
  expect(await answers()).toEqual(served);
});

it('a profile that is removed closes its tenant within a minute, and one that is stored opens it at once [MA-009, MA-010]', async () => {
  await stack.killWorkers();
  expect(await answers()).toEqual(served);
  const { parameters } = await profiles.parameters.read(tenantId);
  await profiles.remove(tenantId);
  clock.now += MINUTE;
  expect(await answers()).toEqual(closed);
  await profiles.parameters.write(tenantId, parameters);
  clock.now += SECOND;
  expect(await answers()).toEqual(closed);
  expect(await profiles.move(tenantId)).toMatchObject({ ok: true });
  expect(await answers()).toEqual(served);
});

it('a wrapped credential in the item of another tenant is not used by it [MA-009]', async () => {
  const { dynamo } = clientsOf(stack);
  const table = localTableName('settings');
  const [mine, foreign] = await Promise.all(
    [tenantId, 'tenant-aurora'].map((each) => readProfileItem(dynamo, table, each)),
  );
  if (typeof mine !== 'object' || typeof foreign !== 'object') throw new Error('expected two profiles');
  const swapped = { ...mine, wrappedCredential: foreign.wrappedCredential };
  await writeProfileItem(dynamo, table, tenantId, swapped, mine);
  await stack.killWorkers();
  const from = stack.logs().length;
  expect(await answers()).toEqual(closed);
  expect(JSON.stringify(stack.logs().slice(from))).toContain('PROFILE_INVALID');
  await writeProfileItem(dynamo, table, tenantId, mine, mine);
  clock.now += 5 * SECOND;
  expect(await answers()).toEqual(served);
});
