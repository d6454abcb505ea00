import { expect } from 'vitest';
import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { simulateScoreRecovery } from '#shared/contract/mastery/routes/simulate-score-recovery.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven, RunReply, RunRequest } from '#test/support/adaptive-run.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { problemOf } from '#test/support/mastery-call.ts';
import { countsOf } from '#test/support/platform-control.ts';
import { profile, simulate, simulationBody, simulationIn } from '#test/support/score-recovery.ts';
import type { TestStack } from '#test/support/stack.ts';
import { ALWAYS } from './faults.ts';
import { anyhow, mastery as kinds, type Dependencies, type Dependency } from './faults-expected.ts';
import type { Flow, Seen } from './faults-walk.ts';

// The mastery engine's routes, by their states, and what they depend on.

export interface MasteryWorld {
  readonly stack: TestStack;
  readonly runs: AdaptiveRuns;
}
type MasteryFlow = Flow<MasteryWorld>;

const { waitFor, refusedBy, invalid, drift, conflict, miscalibrated, mismatched } = kinds;

/** What a request without pins reads of pool and blueprint: the caller names spec, bank and operation. */
const atFirst = (calm: string): Dependencies => ({
  readTestSpec: {
    ...kinds.named(kinds.derived('content')),
    'wrong-entity': { '/itemId': refusedBy('content'), '/caseFrameworkGuid': miscalibrated },
    ...kinds.unpinned(calm),
  },
  validateAdaptiveBankIdentity: {
    ...kinds.named(kinds.derived('content')),
    'wrong-entity': { '/bankId': refusedBy('content'), '/specId': mismatched },
    ...kinds.unpinned(calm),
  },
  readAdaptivePoolManifest: {
    ...kinds.named(kinds.pool('bank')),
    ...kinds.readTwice(calm),
    'wrong-entity': {
      '/operationId': invalid('bank'),
      '/testSpecId': mismatched,
      '/testBankId': mismatched,
      '/root/packageId': invalid('qti'),
      '/root/artifactId': invalid('qti'),
      // QTI has no such version.
      '/root/artifactVersionId': refusedBy('qti'),
      '/root/qtiIdentifier': invalid('qti'),
      '/members/0/artifactVersionId': invalid('qti'),
      '/members/0/qtiIdentifier': invalid('qti'),
    },
    // An operation that still ran at that time.
    staleOnce: waitFor('bank'),
    stale: waitFor('bank'),
  },
  readAdaptivePoolRoot: { ...kinds.pool('qti'), ...kinds.readTwice(calm) },
  readCfItem: kinds.calibrated(calm),
});

/** What a request reads against the pins of its token, and what differs from Content's. */
const again = (calm: string, unanchored: string, blueprint: string = conflict): Dependencies => ({
  readTestSpec: {
    ...kinds.derived('content'),
    ...kinds.pinned(calm, blueprint),
    'wrong-entity': { '/itemId': refusedBy('content'), '/caseFrameworkGuid': blueprint },
  },
  validateAdaptiveBankIdentity: {
    ...kinds.derived('content'),
    ...kinds.pinned(calm, blueprint),
    'wrong-entity': { '/bankId': refusedBy('content'), '/specId': blueprint },
  },
  readAdaptivePoolManifest: {
    ...kinds.pool('bank'),
    ...kinds.pinned(calm, drift),
    'wrong-entity': {
      '/operationId': invalid('bank'),
      '/testSpecId': drift,
      '/testBankId': drift,
      '/root/packageId': drift,
      '/root/artifactId': drift,
      '/root/artifactVersionId': drift,
      // It does not fit the root either: which version it is comes first.
      '/root/qtiIdentifier': drift,
      '/members/0/artifactVersionId': drift,
      '/members/0/qtiIdentifier': drift,
    },
    // Not a contradiction: an operation that still runs is waited for.
    staleOnce: waitFor('bank'),
    stale: waitFor('bank'),
  },
  readAdaptivePoolRoot: {
    ...kinds.pool('qti'),
    ...kinds.pinned(calm, drift),
    'wrong-entity': {
      '/artifactVersionId': invalid('qti'),
      '/artifactId': drift,
      '/packageId': drift,
      '/qtiIdentifier': drift,
      '/itemRefs/0/artifactVersionId': drift,
      '/itemRefs/0/identifier': drift,
    },
    // An earlier version has an id of its own.
    stale: invalid('qti'),
  },
  readCandidateRuntime: runtime(calm, calm),
  readCfItem: kinds.calibrated(calm),
  verifyAnchor: anyhow(unanchored),
});

/** QTI's runtime. What an older view of it means depends on what it leaves out. */
const runtime = (staleOnce: string, stale: string, session = conflict): Dependency => ({
  ...kinds.derived('qti'),
  // A replica that lags may not know the candidate yet.
  'not-found': waitFor('qti'),
  staleOnce,
  stale,
  'wrong-entity': { '/candidateRef': refusedBy('qti'), '/sessions/0/rootArtifactVersionId': session },
});

const offer = { offerSelectedItem: kinds.derived('qti') };

/** Caliper acknowledges with its status alone; the event is proved by its read-back, where it may be late. */
const emission = (calm: string, waiting: string): Dependencies => ({
  emitEvent: { ...kinds.finalizing('caliper', waiting), malformed: calm },
  readEvidenceAck: {
    ...kinds.finalizing('caliper', waiting),
    'not-found': waiting,
    staleOnce: waiting,
    stale: waiting,
  },
});

const started = '201 in_progress pending';
const unanchoredStart = '201 in_progress anchor_unavailable';
const running = '200 in_progress reportable';
const unanchored = '200 in_progress anchor_unavailable';
const completed = '200 completed reportable';
const waiting = '200 finalizing reportable';
const unconsumed = '412 stream-conflict retryable';
const unanchoredEnd = '200 finalizing anchor_unavailable';

function seenOf(reply: RunReply): Seen {
  const { kind, headers } = reply;
  return {
    sentence: sentenceOf(reply),
    isProblem: kind === 'problem',
    retryAfter: headers.get('retry-after'),
    ...(kind === 'problem' ? { named: reply.body.upstream } : {}),
  };
}

/** A run that is shown says what it said before, except for a scale that no verified anchor carries. */
function expectNothingInvented({ body }: RunGiven, calm: RunGiven): void {
  const { executionPins, kcClassifications, remainingUncertainty, scale } = calm.body;
  expect(body).toMatchObject({
    executionPins,
    kcClassifications,
    remainingUncertainty,
    scale: body.scaleReportability === 'reportable' ? scale : null,
  });
}

/** Sends a request of a run; every run that it returns is held against the calm one. */
function sending(request: RunRequest, calm?: RunGiven): () => Promise<Seen> {
  return async () => {
    const reply = await request.send();
    if (reply.kind === 'run' && calm !== undefined) expectNothingInvented(reply, calm);
    return seenOf(reply);
  };
}

/** A run whose first answer is played and not consumed. */
async function playedOnce({
  runs,
}: MasteryWorld): Promise<{ readonly first: RunGiven; readonly etag: string }> {
  // Every conformance run has a pseudonym of its own, and so no sessions but its own.
  const first = await runs.start(runs.startBody({ mode: 'owner_conformance' })).sendForRun();
  return { first, etag: (await runs.playAndInspect(first.body)).etag };
}

const countOf = async ({ stack }: MasteryWorld, entity: string): Promise<number> =>
  (await countsOf(stack, 'tenant-aurora'))[entity]!;

const start: MasteryFlow = {
  route: startAdaptiveRun,
  calm: started,
  dependencies: {
    ...atFirst(started),
    // A start has no session yet, and QTI may never have met the candidate. Sessions of other runs only narrow the pool.
    readCandidateRuntime: { ...runtime(started, started, started), 'not-found': started },
    // A start without a verified anchor has no scale; a source that lacks the pinned point breaks the calibration.
    verifyAnchor: {
      ...anyhow(unanchoredStart),
      ...{ 'wrong-entity': miscalibrated, drifted: miscalibrated, driftedOnce: started },
      ...{ staleOnce: started, stale: miscalibrated },
    },
    ...offer,
  },
  open: (world) =>
    Promise.resolve(async () => {
      const request = world.runs.start();
      const before = await countOf(world, 'qti.session');
      return {
        send: sending(request),
        async afterwards() {
          expect(await countOf(world, 'qti.session')).toBe(before + 1);
        },
      };
    }),
};

const { readTestSpec, validateAdaptiveBankIdentity, readAdaptivePoolManifest, readAdaptivePoolRoot } =
  atFirst(started) as Required<Dependencies>;

/** What a start pins is read twice: a second reading that differs once is nothing, as a first one. */
const startConfirming: MasteryFlow = {
  ...start,
  state: 'second reading',
  skip: {
    readTestSpec: 1,
    validateAdaptiveBankIdentity: 1,
    readAdaptivePoolManifest: 1,
    readAdaptivePoolRoot: 1,
  },
  dependencies: {
    readTestSpec,
    validateAdaptiveBankIdentity,
    readAdaptivePoolManifest,
    readAdaptivePoolRoot,
  },
};

const inspect: MasteryFlow = {
  route: inspectAdaptiveRun,
  calm: running,
  dependencies: again(running, unanchored),
  async open(world) {
    const { first, etag } = await playedOnce(world);
    const second = await world.runs.advance(first.body.continuationToken, etag).sendForRun();
    const played = await world.runs.playAndInspect(second.body, 0);
    return () =>
      Promise.resolve({ send: sending(world.runs.inspect(played.body.continuationToken), played) });
  },
};

const advance: MasteryFlow = {
  route: advanceAdaptiveRun,
  calm: running,
  dependencies: { ...again(running, unanchored), ...offer },
  async open(world) {
    const { first, etag } = await playedOnce(world);
    const request = (): RunRequest => world.runs.advance(first.body.continuationToken, etag);
    const successor = await request().sendForRun();
    return async (call) => {
      if (call !== undefined && call !== 'offerSelectedItem') return { send: sending(request(), successor) };
      // The offer of an advance is made once: each case needs a run of its own.
      const own = await playedOnce(world);
      const before = await countOf(world, 'qti.session');
      return {
        send: sending(world.runs.advance(own.first.body.continuationToken, own.etag)),
        async afterwards() {
          expect(await countOf(world, 'qti.session')).toBe(before + 1);
        },
      };
    };
  },
};

/** Completed, and its references are what the owners themselves hold. */
async function expectPublished(
  { runs }: MasteryWorld,
  { body }: RunGiven,
  withRecord: boolean,
): Promise<void> {
  expect(body.status).toBe('completed');
  const { entities } = await runs.state();
  expect(entities['caliper.event']).toHaveProperty([body.caliperEventRef!]);
  if (!withRecord) {
    expect(body).not.toHaveProperty('resultRecordRef');
    return;
  }
  const record = entities['results.record']![body.resultRecordRef!] as { components: object[] };
  expect(record.components).toHaveLength(body.kcClassifications.length);
}

function finalizing(
  mode: 'production_learner' | 'owner_conformance',
  publication: Dependencies,
): MasteryFlow {
  const withRecord = mode === 'production_learner';
  return {
    route: advanceAdaptiveRun,
    state: `finalizing a run of ${mode}`,
    calm: completed,
    dependencies: {
      ...again(completed, unanchoredEnd),
      // A stopping rule offers nothing, so Content does not bind it.
      readTestSpec: anyhow(completed),
      validateAdaptiveBankIdentity: anyhow(completed),
      // Without the answer that ends the run, the earlier tag is the current one.
      readCandidateRuntime: runtime(unconsumed, unconsumed),
      ...publication,
    },
    async open(world) {
      const { started: begun, etag } = await world.runs.playedOut(mode);
      return () => {
        const request = world.runs.advance(begun.body.continuationToken, etag);
        let reply: RunReply;
        return Promise.resolve({
          async send() {
            reply = await request.send();
            // No reference is given before everything is acknowledged.
            if (reply.kind === 'problem' || reply.body.status !== 'completed')
              for (const reference of ['resultRecordRef', 'caliperEventRef'])
                expect(reply.body).not.toHaveProperty(reference);
            return seenOf(reply);
          },
          async afterwards() {
            if (reply.kind === 'run') await expectPublished(world, reply, withRecord);
          },
          async afterFault() {
            // A waiting run goes on from its own token too, and ends as the same run.
            if (reply.kind !== 'run' || reply.body.status !== 'finalizing') return;
            await world.stack.control('DELETE', 'faults');
            const next = world.runs.advance(reply.body.continuationToken, reply.etag);
            await expectPublished(world, await next.sendForRun(), withRecord);
          },
        });
      };
    },
  };
}

const inspectWaiting: MasteryFlow = {
  route: inspectAdaptiveRun,
  state: 'waiting for Caliper',
  calm: completed,
  dependencies: {
    // The stream of a stopped run is its pins and outcomes: a difference in Content is noted in the receipt.
    ...again(completed, unanchoredEnd, completed),
    // Without the answer that the token has consumed.
    readCandidateRuntime: runtime(completed, waitFor('qti')),
    // Inspect never writes: it believes nothing but the event itself.
    readEvidenceAck: anyhow(waiting),
  },
  async open(world) {
    const { advance: request } = await world.runs.playedOut('owner_conformance');
    await world.stack.fault({ operation: operations.readEvidenceAck.id, kind: 'down', times: ALWAYS });
    const { body } = await request.sendForRun();
    await world.stack.control('DELETE', 'faults');
    return () => Promise.resolve({ send: sending(world.runs.inspect(body.continuationToken)) });
  },
};

/** An answer of a simulation. Every problem is one that the row declares. */
function simulationSeen(reply: GatewayReply): Seen {
  const retryAfter = reply.headers.get('retry-after');
  if (reply.status === 200) {
    simulationIn(reply);
    return { sentence: '200', isProblem: false, retryAfter };
  }
  const { code, upstream, retryable } = problemOf(reply);
  expect(problemKeysOf(simulateScoreRecovery)).toContain(`${reply.status} ${code}`);
  expect(retryAfter !== null).toBe(retryable);
  const words = [reply.status, code, upstream?.service, retryable ? 'retryable' : undefined];
  return {
    sentence: words.filter((word) => word !== undefined).join(' '),
    isProblem: true,
    retryAfter,
    named: upstream,
  };
}

let simulations = 0;
const simulation: MasteryFlow = {
  route: simulateScoreRecovery,
  calm: '200',
  dependencies: {
    ...atFirst('200'),
    // A simulation without a verified anchor would not be complete.
    verifyAnchor: {
      ...kinds.derived('anchor'),
      'wrong-entity': miscalibrated,
      driftedOnce: '200',
      drifted: miscalibrated,
      staleOnce: '200',
      stale: miscalibrated,
    },
    emitEvent: { ...kinds.derived('caliper'), malformed: '200' },
    readEvidenceAck: {
      ...kinds.derived('caliper'),
      // The event has just been taken: Caliper is late.
      'not-found': waitFor('caliper'),
      staleOnce: waitFor('caliper'),
      stale: waitFor('caliper'),
    },
  },
  open: (world) =>
    Promise.resolve(async () => {
      const body = simulationBody(world.stack);
      simulations += 1;
      const guids = Object.keys(body.profiles[0]!.knownMastery);
      // A profile of its own, and so another event.
      const request = {
        key: `simulation-${simulations}`,
        body: { ...body, profiles: [profile(`synthetic:${simulations}`, guids, () => 0.5)] },
      };
      const before = await countOf(world, 'caliper.event');
      const events = new Set<string>();
      return {
        async send() {
          const reply = await simulate(world.stack, request);
          if (reply.status === 200) events.add(simulationIn(reply).eventIri);
          return simulationSeen(reply);
        },
        async afterwards() {
          // An answer that stood on another version of an owner's is evidence of its own.
          expect(await countOf(world, 'caliper.event')).toBe(before + events.size);
        },
      };
    }),
};

export const masteryFlows: readonly MasteryFlow[] = [
  // First: no other session of its learner stands before that of its run.
  finalizing('production_learner', {
    writeResultRecord: kinds.finalizing('results', waiting),
    writeKcComponents: kinds.finalizing('results', waiting),
    ...emission(completed, waiting),
  }),
  finalizing('owner_conformance', emission(completed, waiting)),
  start,
  startConfirming,
  inspect,
  inspectWaiting,
  advance,
  simulation,
];
