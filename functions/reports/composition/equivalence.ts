import type * as z from 'zod';
import { equivalenceReport, hasSizeOfEveryForm } from '#shared/contract/reports/equivalence-report.ts';
import type { EquivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import { areUnique } from '#shared/contract/reports/primitives.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { FormEquivalence } from '#shared/platform/owners/analytics.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { EquivalenceFacts, Moment } from '../facts/facts.ts';
import { incomplete, requireCurrent } from '../facts/incomplete.ts';
import { known } from '../facts/known.ts';

const { decision: decisions, evidenceArtifactUrl: artifactUrl } = equivalenceReport.shape;

/**
 * The analysis of Analytics on a form and the forms beside it, with what the blueprint says of them, once their owners agree on which forms
 * and versions it is about (`equivalenceDisagreement`). No number is calculated or judged here [RP-004]; an analysis that contradicts itself
 * is a 503 naming Analytics.
 */
export function composeEquivalence(
  { form, equivalence, criteria, formEvidence }: EquivalenceFacts,
  moment: Moment,
): Result<z.input<typeof equivalenceReport>, Problem> {
  const sources = [form.receipt, equivalence.receipt, criteria.receipt, formEvidence.receipt];
  const outdated = requireCurrent(sources);
  if (outdated !== undefined) return err(outdated);
  const { value: analysis } = equivalence;
  const contradiction = contradictionIn(analysis);
  if (contradiction !== undefined) return err(incomplete('analytics', contradiction));
  return ok({
    object: 'equivalence_report',
    qtiTestId: form.value.qtiTestId,
    comparisonQtiTestIds: analysis.comparisonQtiTestIds,
    contentTestSpecId: form.value.contentTestSpecId,
    coverageMatch: formEvidence.value.coverageMatch,
    dokMatch: formEvidence.value.dokMatch,
    sampleSizes: analysis.sampleSizes,
    method: analysis.method,
    analysisVersion: analysis.analysisVersion,
    statistic: analysis.statistic,
    confidenceInterval: analysis.confidenceInterval,
    tolerance: analysis.tolerance,
    decision: decisionOf(analysis),
    evidenceArtifactUrl: analysis.evidenceArtifactUrl,
    sources,
    ...moment,
  });
}

function decisionOf({ decision }: FormEquivalence): EquivalenceReport['decision'] {
  return known(decisions.options, decision);
}

/** Why no report can show an analysis, in a sentence [RP-121..RP-126]. */
function contradictionIn(analysis: FormEquivalence): string | undefined {
  const { qtiTestId, comparisonQtiTestIds, statistic, confidenceInterval, evidenceArtifactUrl } = analysis;
  if (comparisonQtiTestIds.length === 0)
    return 'The analysis at Analytics compares the form with no other form.';
  if (!areUnique([qtiTestId, ...comparisonQtiTestIds]))
    return 'The analysis at Analytics names a form twice.';
  if (!hasSizeOfEveryForm(analysis))
    return 'The analysis at Analytics does not have exactly one sample size for every form.';
  if (statistic < confidenceInterval.lower || confidenceInterval.upper < statistic)
    return 'The statistic of the analysis at Analytics lies outside its interval.';
  if (analysis.tolerance < 0) return 'The tolerance of the analysis at Analytics is negative.';
  if (evidenceArtifactUrl === null && decisionOf(analysis) !== 'insufficient_evidence')
    return 'Analytics decided without naming the artifact of its evidence.';
  if (evidenceArtifactUrl !== null && !isPlainHttps(evidenceArtifactUrl))
    return 'Analytics names the artifact of its evidence by something else than a plain HTTPS URL.';
  return undefined;
}

/** An HTTPS URL without credentials, which the answer shows exactly as it is written. */
function isPlainHttps(text: string): boolean {
  const shown = artifactUrl.safeParse(text);
  if (!shown.success || shown.data !== text) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
