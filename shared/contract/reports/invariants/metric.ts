import { compareInstants } from '#shared/kernel/instant.ts';
import { metrics } from '../analysis-policy.ts';
import type { MetricStatus } from '../improvement-run.ts';
import type { OrderContent } from '../order-content.ts';
import { areDistinct, ownedBy, type InvariantRows } from './invariant.ts';

/** An artifact's row about one item or form. */
interface MetricRow extends Pick<OrderContent, 'qtiItemId' | 'qtiFormId' | 'qtiTestId' | 'caseGuids'> {
  readonly measures: readonly { readonly name: string; readonly value: number; readonly unit: string }[];
}

/** A metric of a run, as far as it is shown or judged. Its counts are of learners; null if they are withheld, or count something else. */
export interface CheckedMetric extends Pick<MetricStatus, 'metric' | 'populationCount' | 'sampleCount'> {
  readonly analysisWindow: { readonly start: string; readonly end: string } | null;
  readonly rows: readonly MetricRow[];
}

const measureIn = (metric: MetricStatus['metric'], name: string) =>
  metrics[metric].measures.find((measure) => measure.name === name);

/** Returns the key of each value of a row: all of its subjects, in any order, and the measure. A row that does not name its item or form has none. */
function keysOf(metric: MetricStatus['metric'], row: MetricRow): readonly string[] {
  const { qtiItemId, qtiFormId, qtiTestId, caseGuids, measures } = row;
  const isOfItem = metrics[metric].subjects.includes('qtiItemId');
  if ((isOfItem ? qtiItemId : (qtiFormId ?? qtiTestId)) === null) return [];
  const about = [qtiItemId, qtiFormId, qtiTestId, ...[...new Set(caseGuids)].toSorted()].join(' ');
  return measures.flatMap(({ name }) => (measureIn(metric, name) === undefined ? [] : `${about} ${name}`));
}

/** The invariants of a metric of Analytics. A metric that violates them is `unavailable`: the run continues without it, and lists it. */
export const metricInvariants = ownedBy('analytics', {
  'window-in-order': {
    broken: 'The window of the metric at Analytics ends before it starts.',
    allows: 'A window that ends when it starts.',
    holds: ({ analysisWindow }) =>
      analysisWindow === null || compareInstants(analysisWindow.start, analysisWindow.end) <= 0,
  },
  'sample-within-population': {
    broken: 'The metric at Analytics has a sample of no learner, or of more learners than its population.',
    allows: 'A sample that is the population; any counts of a formula that does not count learners.',
    holds: ({ populationCount, sampleCount }) =>
      populationCount === null || sampleCount === null || (sampleCount > 0 && sampleCount <= populationCount),
  },
  'value-of-its-measure': {
    broken: 'A row of the metric at Analytics has a value that its measure cannot have, or another unit.',
    allows: 'Any value of a measure that this version does not know.',
    holds: ({ metric, rows }) =>
      rows.every(({ measures }) =>
        measures.every(({ name, value, unit }) => {
          const measure = measureIn(metric, name);
          if (measure === undefined) return true;
          if (unit !== measure.unit || value < measure.least || value > measure.greatest) return false;
          return unit !== 'count' || Number.isInteger(value);
        }),
      ),
  },
  'one-value-per-item': {
    broken: 'The metric at Analytics has two values of one measure for one item or form.',
    allows: 'One item on two forms; rows that do not name their item.',
    holds: ({ metric, rows }) =>
      areDistinct(
        rows.flatMap((row) => keysOf(metric, row)),
        { key: (key) => key },
      ),
  },
} satisfies InvariantRows<CheckedMetric>);

/** A comparison of predicted with actual results whose counts would be shown. */
export type CheckedComparison = Readonly<
  Record<'populationCount' | 'predictedPassCount' | 'actualPassCount' | 'agreementCount', number>
>;

const isWithin = ({ populationCount, ...counts }: CheckedComparison) =>
  Math.max(...Object.values(counts)) <= populationCount;

/** The invariants of a comparison of Analytics. A comparison that violates them is not shown: the run continues without it, and lists it. */
export const comparisonInvariants = ownedBy('analytics', {
  'counts-within-population': {
    broken: 'The comparison of predicted with actual results counts more than its population.',
    allows: 'A population that has passed as a whole.',
    holds: isWithin,
  },
  // Among the learners whose prediction and result disagree, those predicted to pass outnumber the others by the difference of the two counts.
  // Learners whose prediction and result agree have passed in both or failed in both.
  'counts-possible': {
    broken: 'The comparison of predicted with actual results has counts that contradict each other.',
    allows: 'Counts that at least one division of the population has.',
    holds: (counts) => {
      const { populationCount: all, predictedPassCount: predicted, actualPassCount: actual } = counts;
      const rest = all - counts.agreementCount - Math.abs(predicted - actual);
      const isAgreed = Math.abs(predicted + actual - all) <= counts.agreementCount;
      return !isWithin(counts) || (isAgreed && rest >= 0 && rest % 2 === 0);
    },
  },
} satisfies InvariantRows<CheckedComparison>);
