import type { Omission } from '#shared/contract/reports/improvement-run.ts';
import type { RunProgress } from '#shared/improvement/records.ts';

/**
 * Returns what a run lacks, at its present progress [RP-152, RP-166, the reading of RP-221]: every metric that was not `available` when it was pinned
 * or lost rows, and the comparison of predicted with actual results if one was due and is missing, cannot be shown or cannot be judged.
 */
export function omissionsOf({ run, evidence }: Pick<RunProgress, 'run' | 'evidence'>): readonly Omission[] {
  const metrics = run.pins.metrics.filter(
    ({ status, judged }) => status !== 'available' || judged === 'some',
  );
  const lacksComparison =
    run.pins.sources.some(({ comparison }) => comparison === 'missing') ||
    evidence.some(({ comparisonOmitted }) => comparisonOmitted === true);
  return [...metrics.map(({ metric }) => metric), ...(lacksComparison ? ['predicted_actual' as const] : [])];
}
