import { runBundle } from '#functions/reports/analysis/bundles.ts';
import { omissionsOf } from '#functions/reports/analysis/omissions.ts';
import type { Derived } from '#functions/reports/analysis/orders/derive-orders.ts';
import { readPinnedSourceSet, readTwice } from '#functions/reports/sources/pinned.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { once } from '#shared/http/once.ts';
import { isTerminal } from '#shared/improvement/records.ts';
import type {
  ImprovementStore,
  RunKey,
  RunProgress,
  ImprovementRunState,
} from '#shared/improvement/records.ts';
import type { ReceiptStore } from '#shared/improvement/receipts.ts';
import type { RunQueue } from '#shared/improvement/run-message.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Log } from '#shared/observability/logger.ts';
import { openPlatform, type PlatformDependencies } from '#shared/platform/open-platform.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { AnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import { evaluateEvidence, evidenceOf, remainingOf, type EvidenceFault } from './evidence.ts';
import { takeSteps, type Tally, type Worker } from './steps.ts';

/** Everything that working on runs may use. */
export interface RunDependencies extends PlatformDependencies {
  readonly store: ImprovementStore;
  readonly receipts: ReceiptStore;
  readonly queue: RunQueue;
  readonly policies: AnalysisPolicyStore;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** One invocation of the worker. Times are epoch milliseconds. */
export interface RunInvocation {
  /** How often the queue has delivered the message. */
  readonly received: number;
  readonly receivedAt: number;
  /** When Lambda stops the function. */
  readonly endsAt: number;
  /** Returns whether the release gates of the worker are still open; asked before every step. */
  readonly isReleased: () => Promise<boolean>;
  readonly log: Log;
}

/** Why a run ends as `failed`. `policy`: the pinned policy no longer exists. */
type FailureReason = 'policy' | `evidence_${Exclude<EvidenceFault['kind'], 'unavailable'>}`;

/** A step begins only if more time is left than the longest step takes. */
const LEAST_STEP_MS = 45_000;
/** The part of the function's time reserved to record the response of the last call. */
const LAST_MS = 5_000;
/** The longest time of one upstream call, including its repetition. */
const CALL_MS = 20_000;

/**
 * Processes an improvement run as far as possible: evaluates and delivers what is open, then ends or parks the run. Messages may arrive twice, at
 * once and out of order, and the function may end after any step: every step is conditional on the records, and the next worker continues from them
 * (docs/improvement-runs.md).
 * @returns whether the message is done; else the queue must redeliver it: an owner, the tenant's service profile or the record of the pinned policy
 *   is unavailable, nothing could be done in time, or a gate was withdrawn meanwhile
 */
export async function workRun(
  dependencies: RunDependencies,
  key: RunKey,
  invocation: RunInvocation,
): Promise<boolean> {
  const { store, receipts, queue } = dependencies;
  const { received, receivedAt, endsAt, isReleased, log } = invocation;
  const { improvementRunId } = key;
  const tally: Tally = { evaluated: 0, opened: 0, delivered: 0, blocked: 0, newlyBlocked: 0 };
  const about = () => {
    const durationMs = dependencies.now() - receivedAt;
    return { improvementRunId, received, durationMs, ...tally };
  };
  /** `absent`: there is no such run. `handed_on`: the worker has sent another message, to continue where this invocation ended. */
  const done = (outcome: ImprovementRunState | 'absent' | 'handed_on'): true => {
    log('IMPROVEMENT_RUN_WORKED', { ...about(), outcome });
    return true;
  };
  const stall = (
    reason: 'owner' | 'profile' | 'policy' | 'time' | 'release',
    owner: SourceService,
  ): false => {
    log('IMPROVEMENT_RUN_STALLED', { ...about(), reason, owner });
    return false;
  };
  const found = await store.readProgress(key);
  if (found === undefined) return done('absent');
  const { run } = found;
  if (isTerminal(run.state)) return done(run.state);

  const now = (): number => Math.max(dependencies.now(), run.createdAt);
  await store.beginRun(key, recordedOf(found), now());
  if (run.state === 'queued') await store.moveRun(key, { state: 'analyzing' }, now());

  const fail = async (reason: FailureReason, owner: SourceService): Promise<true> => {
    const isMoved = await store.moveRun(key, { state: 'failed', completedAt: now() }, now());
    // If the run does not move, another worker has ended it meanwhile.
    done(isMoved ? 'failed' : (await progressOf(store, key)).run.state);
    if (isMoved) log('IMPROVEMENT_RUN_FAILED', { improvementRunId, reason, owner });
    return true;
  };

  // The run waits for an owner, a profile or a policy, not through its own fault: it is given up only when it is too old.
  const wait = async (reason: 'owner' | 'profile' | 'policy', owner: SourceService): Promise<false> => {
    await store.touchRun(key, 'worker', now());
    return stall(reason, owner);
  };

  const opened = await openPlatform(dependencies, {
    principal: key,
    receivedAt,
    deadline: endsAt - LAST_MS,
    log,
  });
  if (!opened.ok) return wait('profile', 'unknown');
  const pinned = await dependencies.policies.readPinned(run.tenantId, run.pins.analysisPolicy);
  if (!pinned.ok) return wait('policy', 'unknown');
  const policy = pinned.value;
  if (policy === undefined) return fail('policy', 'unknown');

  const owners = opened.value.platform;
  const platform: Platform = {
    ...owners,
    call: (operation, call) => owners.call(operation, { timeLimit: CALL_MS, ...call }),
  };
  // Once the release is withdrawn, it stays withdrawn for this invocation.
  const withdrawal = new AbortController();
  const shouldContinue = async (): Promise<boolean> => {
    if (withdrawal.signal.aborted || endsAt - dependencies.now() < LEAST_STEP_MS) return false;
    if (!(await isReleased())) withdrawal.abort();
    return !withdrawal.signal.aborted;
  };
  const reader = createSourceReader(platform, now);
  const worker: Worker = {
    run,
    policy,
    store,
    receipts,
    platform,
    reader,
    sourceSet: once(() => readTwice(() => readPinnedSourceSet(reader, run))),
    now,
    shouldContinue,
    missing: new Set(),
    evaluated: new Set(found.evidence.map(({ key: evaluated }) => evaluated)),
    orders: new Map(found.orders.map((record) => [record.revisionOrderId, record])),
    metrics: new Map(),
    tally,
  };
  const taken = await takeSteps(worker, remainingOf(found));
  const finished = taken.ok ? await finishRun(worker) : taken;
  if (!finished.ok) {
    const fault = finished.error;
    return fault.kind === 'unavailable'
      ? wait('owner', fault.problem.dependency ?? 'unknown')
      : fail(`evidence_${fault.kind}`, fault.service);
  }
  if (finished.value === 'blocked_upstream') await store.touchRun(key, 'worker', now());
  if (finished.value !== 'unfinished') return done(finished.value);
  // Another message would find the gate closed: this one is redelivered when the gate may be open.
  if (withdrawal.signal.aborted) return stall('release', 'unknown');
  // Without new records, the run would be handed on endlessly.
  if (tally.evaluated + tally.opened + tally.delivered + tally.newlyBlocked === 0)
    return stall('time', 'unknown');
  await queue.send(key);
  return done('handed_on');
}

/** Returns how much is recorded of a run: it grows with each step of a worker, and never falls. */
function recordedOf({ evidence, orders }: RunProgress): number {
  let recorded = evidence.length + orders.length;
  for (const { status, ack } of orders) recorded += (status === 'pending' ? 0 : 1) + (ack === null ? 0 : 1);
  return recorded;
}

/**
 * Ends a run of which everything is recorded: complete where every order has reached its receiver, else parked as `blocked_upstream`
 * [RP-150, RP-217, RP-221]. The present records decide, whichever worker made them.
 * @returns `unfinished` if evidence has yet to be evaluated, or orders have yet to be delivered
 */
async function finishRun(worker: Worker): Promise<Result<ImprovementRunState | 'unfinished', EvidenceFault>> {
  const { run, policy, store, receipts, now } = worker;
  const progress = await progressOf(store, run);
  if (isTerminal(progress.run.state)) return ok(progress.run.state);
  // The state that another worker or the sweeper has moved the run to meanwhile stands.
  const currentState = async (): Promise<ImprovementRunState> => (await progressOf(store, run)).run.state;
  const remaining = remainingOf(progress);
  if (remaining.some(({ blocked }) => blocked === undefined)) return ok('unfinished');
  if (remaining.length > 0) {
    const isParked = await store.moveRun(run, { state: 'blocked_upstream' }, now());
    return ok(isParked ? 'blocked_upstream' : await currentState());
  }
  if (!(await worker.shouldContinue())) return ok('unfinished');
  const metrics = await metricDecisions(worker);
  if (!metrics.ok) return metrics;
  const bundle = runBundle({ progress, policy, metrics: metrics.value });
  if (bundle === undefined) return err({ kind: 'unusable', service: 'unknown' });
  await receipts.put(run.tenantId, bundle);
  const { sha256, mediaType } = bundle;
  const state = omissionsOf(progress).length === 0 ? 'completed' : 'completed_with_omissions';
  const to = { state, completedAt: lastRecorded(progress), receipt: { sha256, mediaType } } as const;
  return ok((await store.moveRun(run, to, now())) ? state : await currentState());
}

/** The decisions on every metric: those that this worker has not derived are read again, since the run's bundle holds them. */
async function metricDecisions(
  worker: Worker,
): Promise<Result<ReadonlyMap<RunMetric, Derived>, EvidenceFault>> {
  const decisions = new Map(worker.metrics);
  for (const evidence of evidenceOf(worker.run.pins)) {
    if (evidence.kind !== 'metric' || decisions.has(evidence.metric)) continue;
    const evaluated = await evaluateEvidence(worker, evidence);
    if (!evaluated.ok) return evaluated;
    decisions.set(evidence.metric, evaluated.value.derived);
  }
  return ok(decisions);
}

/** Returns the latest time in a run's records: two workers who end it at once find the same. */
function lastRecorded({ run, evidence, orders }: RunProgress): number {
  const times = [
    ...evidence.map(({ evaluatedAt }) => evaluatedAt),
    ...orders.map(({ updatedAt }) => updatedAt),
  ];
  return times.reduce((last, time) => Math.max(last, time), run.createdAt);
}

/** Reads the progress of a run. Runs are never deleted: a missing one is a defect. */
async function progressOf(store: ImprovementStore, key: RunKey): Promise<RunProgress> {
  const progress = await store.readProgress(key);
  if (progress === undefined) throw new Error('an improvement run is gone');
  return progress;
}
