import { agreementOf, predictedActualComparison } from '#shared/contract/reports/alignment-report.ts';
import type { PredictedActualComparison } from '#shared/contract/reports/alignment-report.ts';
import { firstBroken } from '#shared/contract/reports/invariants/invariant.ts';
import { comparisonInvariants } from '#shared/contract/reports/invariants/metric.ts';
import { isCompared, type NoComparison } from '#shared/improvement/records.ts';
import type { ComparisonArtifact } from '#shared/platform/owners/analytics.ts';
import { nameOrUnknown } from '#functions/reports/facts/name-or-unknown.ts';

const suppressionStatuses = predictedActualComparison.shape.suppressionStatus.options;

/** What an alignment report shows of a comparison of predicted with actual results. */
export interface ShownComparison {
  readonly comparison: PredictedActualComparison | null;
  /** Why there is no comparison, or why its counts are missing: sentences without any count. */
  readonly limitations: readonly string[];
}

/**
 * Returns the comparison of Analytics as a report may show it: its counts and their agreement only if Analytics calls it `not_suppressed`, nothing if
 * it compares no learner or contradicts itself [RP-185..RP-188, the reading of RP-189].
 */
export function showComparison(
  compared: { readonly artifact: ComparisonArtifact } | NoComparison,
): ShownComparison {
  if (!isCompared(compared))
    return { comparison: null, limitations: compared === null ? [] : [whyNone[compared]] };
  const { artifact } = compared;
  const { artifactRef, populationCount, method, analysisVersion, suppression } = artifact;
  const { predictedPassCount, actualPassCount, agreementCount } = artifact;
  if (populationCount === 0) return nothing('has an empty population');
  const suppressionStatus = nameOrUnknown(suppressionStatuses, suppression.status);
  const suppressionRule = suppressionStatus === 'suppressed' ? suppression.rule : null;
  const shown = { artifactRef, populationCount, suppressionStatus, suppressionRule, method, analysisVersion };
  const none = { predictedPassCount: null, actualPassCount: null, agreementCount: null };
  const withoutCounts = (limitation: string): ShownComparison => ({
    comparison: { ...shown, ...none, observedAgreement: null },
    limitations: [limitation],
  });
  if (suppressionStatus === 'suppressed')
    return suppressionRule === null
      ? nothing('is suppressed without a rule')
      : withoutCounts(`The counts of the ${SUBJECT} are suppressed.`);
  if (suppressionStatus === 'unknown')
    return withoutCounts(`Whether the ${SUBJECT} is suppressed is unknown: its counts are not shown.`);
  if (predictedPassCount === null || actualPassCount === null || agreementCount === null)
    return nothing('lacks a count');
  const counts = { predictedPassCount, actualPassCount, agreementCount };
  const violated = firstBroken(comparisonInvariants, { populationCount, ...counts });
  if (violated !== undefined) return notShown(violated.broken);
  const observedAgreement = agreementOf(agreementCount, populationCount);
  return { comparison: { ...shown, ...counts, observedAgreement }, limitations: [] };
}

const SUBJECT = 'comparison of predicted with actual results';

const whyNone: Readonly<Record<NonNullable<NoComparison>, string>> = {
  missing: `Analytics has no ${SUBJECT}, and one is due.`,
  not_analyzed: `Analytics has never analyzed the administration: no ${SUBJECT} is due.`,
};

function nothing(why: string): ShownComparison {
  return notShown(`The ${SUBJECT} ${why}.`);
}

/** Returns only the reason why no comparison is shown. @param sentence what is wrong, with its full stop */
function notShown(sentence: string): ShownComparison {
  return { comparison: null, limitations: [sentence.replace(/\.$/, ' and is not shown.')] };
}
