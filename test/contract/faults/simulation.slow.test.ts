import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { simulateScoreRecovery as route } from '#shared/contract/mastery/routes.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { openControlRecords } from '#test/support/control-records.ts';
import { problemOf } from '#test/support/mastery-call.ts';
import { profile, simulate, simulationBody, simulationIn } from '#test/support/score-recovery.ts';
import type { SimulationBody } from '#test/support/score-recovery.ts';
import { lazily } from '#test/support/lazily.ts';
import { asBuilt, useTestStack } from '#test/support/stack.ts';

const stack = useTestStack({ bundled: asBuilt });
/** For what the owners hold; no run is taken here. */
const runs = useAdaptiveRuns(stack);
const control = lazily(() => openControlRecords(stack));
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});

let simulations = 0;
/** A simulation that no test has sent yet, and so another event. */
function freshBody(): SimulationBody {
  const body = simulationBody(stack);
  simulations += 1;
  const guids = Object.keys(body.profiles[0]!.knownMastery);
  return { ...body, profiles: [profile(`synthetic:${simulations}`, guids, () => 0.5)] };
}

const eventsHeld = async (): Promise<number> => (await runs.state()).counts['caliper.event']!;

describe('what Caliper shows under the event’s id', () => {
  const refused = { status: 424, retryable: false, upstream: { service: 'caliper' } };

  it.each([
    ['says something else', [{ pointer: '/action', value: 'Started' }], refused],
    ['lacks what was sent', [{ pointer: '/extensions' }], refused],
    ['has a member of Caliper’s own besides', [{ pointer: '/storedAt', value: 'today' }], { status: 200 }],
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
    expect(reply.status === 200 ? { status: 200 } : problemOf(reply)).toMatchObject(expected);
    expect((await simulate(stack, request)).status).toBe(200);
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
