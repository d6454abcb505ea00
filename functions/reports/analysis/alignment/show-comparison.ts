import { agreementOf, predictedActualComparison } from '#shared/contract/reports/alignment-report.ts';
import type { PredictedActualComparison } from '#shared/contract/reports/alignment-report.ts';
import type { ComparisonArtifact } from '#shared/platform/owners/analytics.ts';
import { known } from '#functions/reports/facts/known.ts';

const suppressions = predictedActualComparison.shape.suppressionStatus.options;

/** What an alignment report shows of a comparison of predicted with actual results. */
export interface ShownComparison {
  readonly comparison: PredictedActualComparison | null;
  /** Why there is none, or none of its counts: sentences without any count. */
  readonly limitations: readonly string[];
}

/**
 * The comparison of Analytics as a report may show it: its counts and their agreement only where Analytics calls it `not_suppressed`,
 * nothing where it has nobody to compare or contradicts itself [RP-185..RP-188, the reading of RP-189].
 */
export function showComparison(artifact: ComparisonArtifact): ShownComparison {
  const { artifactRef, populationCount, method, analysisVersion, suppression } = artifact;
  const { predictedPassCount, actualPassCount, agreementCount } = artifact;
  if (populationCount === 0) return nothing('has an empty population');
  const suppressionStatus = known(suppressions, suppression.status);
  const suppressionRule = suppressionStatus === 'suppressed' ? suppression.rule : null;
  const shown = { artifactRef, populationCount, suppressionStatus, suppressionRule, method, analysisVersion };
  const none = {
    predictedPassCount: null,
    actualPassCount: null,
    agreementCount: null,
    observedAgreement: null,
  };
  if (suppressionStatus === 'suppressed')
    return suppressionRule === null
      ? nothing('is suppressed without a rule')
      : { comparison: { ...shown, ...none }, limitations: [`The counts of the ${SUBJECT} are suppressed.`] };
  if (suppressionStatus === 'unknown')
    return {
      comparison: { ...shown, ...none },
      limitations: [`Whether the ${SUBJECT} is suppressed is unknown: its counts are not shown.`],
    };
  if (predictedPassCount === null || actualPassCount === null || agreementCount === null)
    return nothing('lacks a count');
  if (Math.max(predictedPassCount, actualPassCount, agreementCount) > populationCount)
    return nothing('counts more than its population');
  if (!isPossible(populationCount, predictedPassCount, actualPassCount, agreementCount))
    return nothing('has counts that contradict each other');
  const observedAgreement = agreementOf(agreementCount, populationCount);
  return {
    comparison: { ...shown, predictedPassCount, actualPassCount, agreementCount, observedAgreement },
    limitations: [],
  };
}

const SUBJECT = 'comparison of predicted with actual results';

function nothing(why: string): ShownComparison {
  return { comparison: null, limitations: [`The ${SUBJECT} ${why} and is not shown.`] };
}

/**
 * Whether a population can be so divided: of those on whom prediction and result disagree, the ones predicted to pass outnumber the others by
 * the difference of the two counts, and those on whom they agree have passed or failed in both.
 */
function isPossible(population: number, predicted: number, actual: number, agreement: number): boolean {
  const difference = Math.abs(predicted - actual);
  const disagreement = population - agreement;
  return (
    Math.abs(predicted + actual - population) <= agreement &&
    difference <= disagreement &&
    (disagreement - difference) % 2 === 0
  );
}
