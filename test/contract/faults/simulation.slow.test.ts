import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { simulateScoreRecovery as route } from '#shared/contract/mastery/routes.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { MAX_RETRIES } from '#shared/platform/transport/retry.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns } from '#test/support/adaptive-run.ts';
import { openControlRecords } from '#test/support/control-records.ts';
import type { ControlRecords } from '#test/support/control-records.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { problemOf } from '#test/support/mastery-call.ts';
import { profile, simulate, simulationBody, simulationIn } from '#test/support/score-recovery.ts';
import type { SimulationBody } from '#test/support/score-recovery.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

let stack: TestStack;
/** For what the owners hold; no run is taken here. */
let runs: AdaptiveRuns;
let control: ControlRecords;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  runs = openAdaptiveRuns(stack);
  control = openControlRecords(stack);
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(async () => {
  control.close();
  runs.close();
  await stack.close();
});

let simulations = 0;
/** A simulation that no test has sent yet, and so another event. */
function freshBody(): SimulationBody {
  const body = simulationBody(stack);
  simulations += 1;
  const guids = Object.keys(body.profiles[0]!.knownMastery);
  return { ...body, profiles: [profile(`synthetic:${simulations}`, guids, () => 0.5)] };
}

/** An answer in one line. Every problem is one that the row declares, with `Retry-After` when it may be repeated. */
function sentenceOf(reply: GatewayReply): string {
  if (reply.status === 200) {
    simulationIn(reply);
    return '200';
  }
  const { code, upstream, retryable } = problemOf(reply);
  expect(problemKeysOf(route)).toContain(`${reply.status} ${code}`);
  expect(reply.headers.has('retry-after')).toBe(retryable);
  return [reply.status, code, upstream?.service, retryable ? 'retryable' : undefined]
    .filter((word) => word !== undefined)
    .join(' ');
}

const eventsHeld = async (): Promise<number> => (await runs.state()).counts['caliper.event']!;

describe('a simulation whose event is not acknowledged', () => {
  it('answers with the hash of what Caliper acknowledged when its acknowledgement was lost at first [MA-134, MA-199]', async () => {
    const request = { key: randomUUID(), body: freshBody() };
    const before = await eventsHeld();
    const { id: operation, method } = operations.emitEvent;
    await stack.fault({ operation, method, kind: 'lost_acknowledgement', times: MAX_RETRIES + 1 });
    expect(sentenceOf(await simulate(stack, request))).toBe(kinds.waitFor('caliper'));
    await stack.faultsStruck();
    expect(await eventsHeld()).toBe(before + 1);
    const { eventIri } = simulationIn(await simulate(stack, request));
    const { counts, entities } = await runs.state();
    expect(counts['caliper.event']).toBe(before + 1);
    expect(entities['caliper.event']).toHaveProperty([eventIri]);
  });
});

describe('what Caliper shows under the event’s id', () => {
  it.each([
    ['says something else', [{ pointer: '/action', value: 'Started' }], kinds.refusedBy('caliper')],
    ['lacks what was sent', [{ pointer: '/extensions' }], kinds.refusedBy('caliper')],
    ['has a member of Caliper’s own besides', [{ pointer: '/storedAt', value: 'today' }], '200'],
  ])('when it %s [MA-038, MA-134, MA-184]', async (_, changes, expected) => {
    const request = { key: randomUUID(), body: freshBody() };
    const { eventIri } = simulationIn(await simulate(stack, request));
    // Between the event and its read-back: the same event is taken again, and is another one when it is shown.
    const { id: operation, method } = operations.readEvidenceAck;
    await stack.fault({ operation, method, kind: 'latency', milliseconds: 1_000 });
    const answering = simulate(stack, request);
    await stack.faultsStruck();
    const restore = await runs.change({ entity: 'caliper.event', id: eventIri, changes });
    const reply = await answering;
    await restore();
    expect(sentenceOf(reply)).toBe(expected);
    expect(sentenceOf(await simulate(stack, request))).toBe('200');
  });
});

describe('a function that dies in the middle of a simulation', () => {
  it.each([
    ['before Caliper has the event', 'latency'],
    ['after Caliper has taken the event', 'lost_acknowledgement'],
  ])('%s: the repetition answers, and there is one event [MA-145, MA-190, MA-199]', async (_, kind) => {
    const body = freshBody();
    const key = randomUUID();
    const { id: operation, method } = operations.emitEvent;
    const before = await eventsHeld();
    if (kind === 'lost_acknowledgement') await stack.fault({ operation, method, kind });
    await stack.fault({ operation, method, kind: 'latency', milliseconds: 120_000 });
    const answering = simulate(stack, { key, body });
    await stack.faultsStruck();
    expect(await stack.killWorkers(route.operationId)).toBe(1);
    expect(problemOf(await answering)).toMatchObject({ status: 500, code: 'internal-error' });

    const asked = {
      tenantId: 'tenant-aurora',
      method: route.method,
      canonicalPath: route.path,
      idempotencyKey: key,
      ifMatch: undefined,
      body,
    };
    expect(await control.find(asked)).toMatchObject({ state: 'started' });
    await control.endLease(asked);
    simulationIn(await simulate(stack, { key, body }));
    expect(await control.find(asked)).toMatchObject({ state: 'completed', terminalStatus: 200 });
    expect(await eventsHeld()).toBe(before + 1);
  });
});
