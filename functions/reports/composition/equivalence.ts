import type * as z from 'zod';
import { equivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import { equivalenceInvariants } from '#shared/contract/reports/invariants/equivalence-report.ts';
import { firstBroken } from '#shared/contract/reports/invariants/invariant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { FormEvidence } from '#shared/platform/owners/content.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { EquivalenceFacts, Moment } from '../facts/facts.ts';
import { contradictory, requireCurrent } from '../facts/incomplete.ts';
import { nameOrUnknown } from '../facts/name-or-unknown.ts';

const { decision: decisions } = equivalenceReport.shape;

/**
 * Composes the analysis of Analytics on a form and its parallel forms with the facts of the blueprint, once their owners agree on forms and versions
 * (`equivalenceDisagreement`). It calculates and judges no number [RP-004]. An analysis that contradicts itself is a 503 naming Analytics.
 */
export function composeEquivalence(
  { form, equivalence, criteria, formEvidence }: EquivalenceFacts,
  moment: Moment,
): Result<z.input<typeof equivalenceReport>, Problem> {
  const sources = [form.receipt, equivalence.receipt, criteria.receipt, formEvidence.receipt];
  const outdated = requireCurrent(sources);
  if (outdated !== undefined) return err(outdated);
  const { value: analysis } = equivalence;
  const decision = nameOrUnknown(decisions.options, analysis.decision);
  const broken = firstBroken(equivalenceInvariants, {
    ...analysis,
    decision,
    isDifference: analysis.statisticKind === 'difference',
  });
  if (broken !== undefined) return err(contradictory(broken));
  const { coverageMatch, dokMatch } = formEvidence.value;
  const limitations = decision === 'equivalent' ? mismatches({ coverageMatch, dokMatch }) : [];
  return ok({
    object: 'equivalence_report',
    qtiTestId: form.value.qtiTestId,
    comparisonQtiTestIds: analysis.comparisonQtiTestIds,
    contentTestSpecId: form.value.contentTestSpecId,
    coverageMatch,
    dokMatch,
    sampleSizes: analysis.sampleSizes,
    method: analysis.method,
    analysisVersion: analysis.analysisVersion,
    statistic: analysis.statistic,
    confidenceInterval: analysis.confidenceInterval,
    tolerance: analysis.tolerance,
    decision,
    evidenceArtifactUrl: analysis.evidenceArtifactUrl,
    ...(limitations.length === 0 ? {} : { limitations }),
    sources,
    ...moment,
  });
}

/** Returns how the blueprint contradicts forms that Analytics calls equivalent: two facts of two owners, both shown. */
function mismatches({ coverageMatch, dokMatch }: Pick<FormEvidence, 'coverageMatch' | 'dokMatch'>): string[] {
  return [
    ...(coverageMatch ? [] : ['According to the blueprint, the forms do not cover it alike.']),
    ...(dokMatch ? [] : ['According to the blueprint, the forms do not demand the same depth of knowledge.']),
  ];
}
