import { runBundle } from '#functions/reports/analysis/bundles/run-bundle.ts';
import { omissionsOf } from '#functions/reports/analysis/omissions.ts';
import type { Derived } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { isTerminal, improvementRunStates } from '#shared/improvement/records.ts';
import type { RunProgress, ImprovementRunState } from '#shared/improvement/records.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { evaluateEvidence } from './evaluate-evidence.ts';
import type { EvidenceFault } from './evaluate-evidence.ts';
import { evidenceOf, remainingOf } from './evidence.ts';
import type { Worker } from './worker.ts';

/** What has become of a run; `unfinished`: something of it is still to be evaluated or asked for. */
export type Finish = ImprovementRunState | 'unfinished';

/**
 * Ends a run of which everything is recorded: complete where every order has reached its receiver, else parked as `blocked_upstream`
 * [RP-150, RP-217, RP-221]. It goes by what is recorded now, whichever worker has recorded it.
 * @param known what this worker has derived of the metrics; the others are read again, since the run's bundle holds their decisions
 */
export async function finishRun(
  worker: Worker,
  known: ReadonlyMap<RunMetric, Derived>,
): Promise<Result<Finish, EvidenceFault>> {
  const { run, policy, store, receipts, now } = worker;
  const progress = await worker.progress();
  if (isTerminal(progress.run.state)) return ok(progress.run.state);
  const remaining = remainingOf(progress);
  if (remaining.fresh.length > 0) return ok('unfinished');
  if (remaining.blocked.length > 0) {
    const isParked = await store.moveRun(run, ['queued', 'analyzing'], { state: 'blocked_upstream' }, now());
    return ok(isParked ? 'blocked_upstream' : await stateOf(worker));
  }
  if (!(await worker.shouldContinue())) return ok('unfinished');
  const metrics = await metricDecisions(worker, known);
  if (!metrics.ok) return metrics;
  const bundle = runBundle({ progress, policy, metrics: metrics.value });
  if (bundle === undefined) return err({ kind: 'unusable', service: 'unknown' });
  await receipts.put(run.tenantId, bundle);
  const { sha256, mediaType } = bundle;
  const state = omissionsOf(progress).length === 0 ? 'completed' : 'completed_with_omissions';
  const to = { state, completedAt: lastRecorded(progress), receipt: { sha256, mediaType } } as const;
  return ok((await store.moveRun(run, improvementRunStates, to, now())) ? state : await stateOf(worker));
}

/** The state that another worker or the sweeper has moved the run to meanwhile: it stands. */
async function stateOf(worker: Worker): Promise<ImprovementRunState> {
  return (await worker.progress()).run.state;
}

async function metricDecisions(
  { run, reader, policy }: Worker,
  known: ReadonlyMap<RunMetric, Derived>,
): Promise<Result<ReadonlyMap<RunMetric, Derived>, EvidenceFault>> {
  const decisions = new Map<RunMetric, Derived>();
  for (const evidence of evidenceOf(run.pins)) {
    if (evidence.kind !== 'metric') continue;
    const derived = known.get(evidence.metric);
    if (derived !== undefined) {
      decisions.set(evidence.metric, derived);
      continue;
    }
    const evaluated = await evaluateEvidence(reader, run, policy, evidence);
    if (!evaluated.ok) return evaluated;
    decisions.set(evidence.metric, evaluated.value.derived);
  }
  return ok(decisions);
}

/** The latest time in a run's records: two workers who end it at once find the same. */
function lastRecorded({ run, evidence, orders }: RunProgress): number {
  let last = run.createdAt;
  for (const { evaluatedAt } of evidence) last = Math.max(last, evaluatedAt);
  for (const { updatedAt } of orders) last = Math.max(last, updatedAt);
  return last;
}
