import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '#shared/platform/all-operations.ts';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { problemOf } from '#test/support/mastery-call.ts';
import { profile, simulate, simulationBody, simulationIn } from '#test/support/score-recovery.ts';
import type { SimulationBody } from '#test/support/score-recovery.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack({ bundled: true });
/** For what the owners hold; no run is taken here. */
const runs = useAdaptiveRuns(stack);
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
