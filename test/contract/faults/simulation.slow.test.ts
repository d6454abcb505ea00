import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { simulateScoreRecovery as route } from '#shared/contract/mastery/routes.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import { operations } from '#shared/platform/all-operations.ts';
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
import {
  TRIES,
  casesOf,
  drift,
  expectComplete,
  hidden,
  invalid,
  othersAtFirst,
  miscalibrated,
  refused,
  silent,
  unauthorized,
} from './fault-table.ts';
import type { CallName, FaultTable, RulesByStatus } from './fault-table.ts';

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

/** Other owners' ids are the caller's own; what comes of them is derived. Nothing of a learner is asked or written. */
const table: FaultTable = {
  readTestSpec: {
    silent: silent('content'),
    malformed: refused('content'),
    wrong_tenant: refused('content'),
    other_entity: othersAtFirst.readTestSpec,
    // There is no pin yet that another version could contradict.
    version_drift: '200',
    stale: '200',
    401: unauthorized,
    404: hidden,
    409: refused('content'),
    422: hidden,
  },
  validateAdaptiveBankIdentity: {
    silent: silent('content'),
    malformed: refused('content'),
    wrong_tenant: refused('content'),
    other_entity: othersAtFirst.validateAdaptiveBankIdentity,
    version_drift: '200',
    stale: '200',
    401: unauthorized,
    404: hidden,
    409: refused('content'),
    422: hidden,
  },
  readAdaptivePoolManifest: {
    silent: silent('bank'),
    malformed: invalid('bank'),
    wrong_tenant: invalid('bank'),
    other_entity: othersAtFirst.readAdaptivePoolManifest,
    version_drift: drift,
    always_version_drift: invalid('qti'),
    stale: silent('bank'),
    always_stale: silent('bank'),
    401: unauthorized,
    404: hidden,
    409: refused('bank'),
    422: hidden,
  },
  readAdaptivePoolRoot: {
    silent: silent('qti'),
    malformed: invalid('qti'),
    wrong_tenant: invalid('qti'),
    other_entity: invalid('qti'),
    version_drift: drift,
    always_version_drift: invalid('qti'),
    stale: drift,
    always_stale: invalid('qti'),
    401: unauthorized,
    404: refused('qti'),
    409: refused('qti'),
    422: refused('qti'),
  },
  resolveMapping: {
    silent: silent('case'),
    malformed: refused('case'),
    wrong_tenant: miscalibrated,
    other_entity: miscalibrated,
    version_drift: miscalibrated,
    stale: '200',
    401: unauthorized,
    404: refused('case'),
    409: refused('case'),
    422: refused('case'),
  },
  // A trace without a verified anchor would not be complete.
  verifyAnchor: {
    silent: silent('anchor'),
    malformed: refused('anchor'),
    wrong_tenant: refused('anchor'),
    other_entity: miscalibrated,
    version_drift: miscalibrated,
    stale: miscalibrated,
    401: unauthorized,
    404: refused('anchor'),
    409: refused('anchor'),
    422: refused('anchor'),
  },
  emitEvent: {
    silent: silent('caliper'),
    // Caliper acknowledges by the status alone; the event is proven by its read-back.
    malformed: '200',
    401: unauthorized,
    404: refused('caliper'),
    409: refused('caliper'),
    422: refused('caliper'),
  },
  readEvidenceAck: {
    silent: silent('caliper'),
    malformed: refused('caliper'),
    wrong_tenant: refused('caliper'),
    other_entity: refused('caliper'),
    // The event has just been taken: Caliper is late.
    stale: silent('caliper'),
    401: unauthorized,
    404: silent('caliper'),
    409: refused('caliper'),
    422: refused('caliper'),
  },
};
const rules: RulesByStatus = {
  404: 'MA-180',
  409: 'MA-181',
  422: 'MA-183',
  424: 'MA-184',
  502: 'MA-185',
};

describe('a simulation, one upstream operation at a time', () => {
  it('has a row for every operation that it calls, and every distortion', async () => {
    await runs.takeCalls();
    expect(sentenceOf(await simulate(stack, { body: freshBody() }))).toBe('200');
    const asked = await runs.takeCalls();
    expectComplete(table, new Set(asked.map(({ operation }) => operation)));
  });

  for (const { call, title, arm, expected } of casesOf(table, rules)) {
    it(title, async () => {
      const request = { key: randomUUID(), body: freshBody() };
      const before = await eventsHeld();
      await runs.takeCalls();
      await stack.fault(arm);
      const reply = await simulate(stack, request);
      expect(sentenceOf(reply)).toBe(expected);
      if (reply.status !== 200) {
        const { id, service } = operations[call];
        const { upstream } = problemOf(reply);
        if (upstream?.service === service || upstream?.service === 'platform_auth')
          expect(upstream.operation).toBe(id);
        // Nothing is emitted before every owner has been heard.
        if (!id.startsWith('caliper.')) expect(await eventsHeld()).toBe(before);
      }
      await stack.control('DELETE', 'faults');
      const again = simulationIn(await simulate(stack, request));
      // An answer that stood on another version of an owner's is evidence of its own.
      const events = [again, ...(reply.status === 200 ? [simulationIn(reply)] : [])];
      expect(await eventsHeld()).toBe(before + new Set(events.map(({ eventIri }) => eventIri)).size);
    });
  }

  it('goes on after one failed try of every call [MA-218]', async () => {
    for (const name of Object.keys(table) as CallName[]) {
      const { id: operation, method } = operations[name];
      await stack.fault({ operation, method, kind: 'status', status: 503 });
    }
    expect(sentenceOf(await simulate(stack, { body: freshBody() }))).toBe('200');
    await stack.faultsStruck();
  });

  it('answers with the hash of what Caliper acknowledged when its acknowledgement was lost at first [MA-134, MA-199]', async () => {
    const request = { key: randomUUID(), body: freshBody() };
    const before = await eventsHeld();
    const { id: operation, method } = operations.emitEvent;
    await stack.fault({ operation, method, kind: 'lost_acknowledgement', times: TRIES });
    expect(sentenceOf(await simulate(stack, request))).toBe(silent('caliper'));
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
    ['says something else', [{ pointer: '/action', value: 'Started' }], refused('caliper')],
    ['lacks what was sent', [{ pointer: '/extensions' }], refused('caliper')],
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
