import type { Omission } from '#shared/contract/reports/improvement-run.ts';
import type { RunProgress } from '#shared/improvement/records.ts';

/**
 * What a run goes without, as far as it has come [RP-152, RP-166, the reading of RP-221]: every metric that was not `available` when it was
 * pinned or of which rows had to be left out, and the comparison of predicted with actual results where one was due and is missing, cannot be
 * shown or cannot be judged.
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
