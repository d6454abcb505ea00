import * as z from 'zod';
import { compareInstants } from '#shared/kernel/instant.ts';
import { exactSum, roundedRatio } from '#shared/kernel/decimal.ts';
import { alignmentFormula, sourceKey } from './improvement-run.ts';
import { areUnique, composed, count, proportion, reference, sha256, text } from './primitives.ts';
import { receiptLink } from './receipt-link.ts';
import { sources } from './source-ref.ts';

const dok = z.int().min(1).max(4);
const flag = z.union([z.literal(0), z.literal(1)]).meta({ type: 'integer' });

/** How one requirement of a source counts [RP-177..RP-184]. */
export const alignmentContribution = z
  .strictObject({
    sourceRequirementId: reference,
    caseGuid: reference.nullable(),
    blueprintSlotId: reference.nullable(),
    weight: z.number().positive(),
    coverage: flag,
    rigor: flag,
    sourceDok: dok,
    targetDok: dok.nullable(),
    weightedContribution: z.number().min(0),
    reasonCode: z
      .enum(['missing_mapping', 'ambiguous_mapping', 'stale_mapping', 'lower_dok', 'unknown'])
      .nullable(),
  })
  .check(
    z.refine(
      ({ coverage, blueprintSlotId, caseGuid, targetDok }) =>
        coverage === 0
          ? targetDok === null
          : blueprintSlotId !== null && caseGuid !== null && targetDok !== null,
      'only a mapped requirement with a slot is covered [RP-178, RP-179, RP-182]',
    ),
    z.refine(
      ({ rigor, targetDok, sourceDok }) => rigor === 0 || (targetDok !== null && targetDok >= sourceDok),
      'rigor is 1 only where the target demands as much as the source [RP-181]',
    ),
    z.refine(
      ({ weight, coverage, rigor, weightedContribution }) =>
        weightedContribution === weight * coverage * rigor,
      'the contribution is weight × coverage × rigor [RP-183]',
    ),
    z.refine(
      ({ coverage, rigor, reasonCode }) => (coverage * rigor === 1) === (reasonCode === null),
      'a contribution that does not count in full has its reason [RP-184]',
    ),
  );
export type AlignmentContribution = z.infer<typeof alignmentContribution>;

/** What Analytics found when it compared predicted with actual external results [RP-185..RP-189]. */
export const predictedActualComparison = z
  .strictObject({
    artifactRef: reference,
    populationCount: count,
    suppressionStatus: z.enum(['not_suppressed', 'suppressed', 'unknown']),
    suppressionRule: text.nullable(),
    method: text,
    analysisVersion: text,
    predictedPassCount: count.nullable(),
    actualPassCount: count.nullable(),
    agreementCount: count.nullable(),
    observedAgreement: proportion.nullable(),
  })
  .check(
    z.refine(
      ({ suppressionStatus, suppressionRule }) =>
        suppressionStatus !== 'suppressed' || suppressionRule !== null,
      'a suppressed comparison has its rule [RP-186]',
    ),
    z.refine(({ suppressionStatus, populationCount, ...shown }) => {
      const counts = [shown.predictedPassCount, shown.actualPassCount, shown.agreementCount];
      return suppressionStatus === 'not_suppressed'
        ? counts.every((value) => value !== null && value <= populationCount)
        : counts.every((value) => value === null);
    }, 'a comparison shows all its counts, a suppressed one none of them [RP-187]'),
    z.refine(
      ({ suppressionStatus, observedAgreement, agreementCount, populationCount }) =>
        suppressionStatus === 'not_suppressed' && agreementCount !== null && populationCount > 0
          ? observedAgreement === agreementOf(agreementCount, populationCount)
          : observedAgreement === null,
      'the agreement is its count over the population [RP-188]',
    ),
  );
export type PredictedActualComparison = z.infer<typeof predictedActualComparison>;

/**
 * Returns the share of a population in which prediction and result agree, rounded half up at the sixth digit (the reading of RP-189).
 * @param population more than 0
 */
export function agreementOf(agreementCount: number, population: number): number {
  return roundedRatio(exactSum([agreementCount]), exactSum([population]));
}

/** Returns 100 × numerator / denominator of exact sums, rounded half up at the sixth digit [RP-172]. */
export function alignmentPercentOf(
  contributions: readonly Pick<AlignmentContribution, 'weight' | 'weightedContribution'>[],
): {
  readonly numerator: number;
  readonly denominator: number;
  readonly alignmentPercent: number;
} {
  const numerator = exactSum(contributions.map(({ weightedContribution }) => weightedContribution));
  const denominator = exactSum(contributions.map(({ weight }) => weight));
  return {
    numerator: numerator.toNumber(),
    denominator: denominator.toNumber(),
    alignmentPercent: roundedRatio(numerator.times(100), denominator),
  };
}

/** How well a blueprint covers one named external assessment [RP-167..RP-176]. */
export const alignmentReport = z
  .strictObject({
    object: z.literal('alignment_report'),
    improvementRunId: text,
    sourceKey,
    sourceAssessment: text,
    sourceVersion: text,
    contentTestSpecId: reference,
    contentTestSpecVersion: text,
    crosswalkHash: sha256,
    formulaVersion: z.literal(alignmentFormula),
    numerator: z.number().min(0),
    denominator: z.number().positive(),
    alignmentPercent: z.number().min(0).max(100),
    contributions: z
      .array(alignmentContribution)
      .min(1)
      .max(10_000)
      .refine(
        (rows) => areUnique(rows.map(({ sourceRequirementId }) => sourceRequirementId)),
        'every requirement counts once [RP-177]',
      ),
    predictedActual: predictedActualComparison.nullable(),
    limitations: z.array(z.string().min(1).max(500)).max(100),
    receipt: receiptLink,
    sources,
    ...composed,
  })
  .check(
    z.refine((report) => {
      // Refinements also run on wrong values: without positive weights there is no percentage to compare with.
      const { length } = report.contributions;
      if (length === 0 || report.contributions.some(({ weight }) => weight <= 0)) return false;
      const exact = alignmentPercentOf(report.contributions);
      return (
        report.numerator === exact.numerator &&
        report.denominator === exact.denominator &&
        report.alignmentPercent === exact.alignmentPercent
      );
    }, 'sums and percentage are those of the contributions [RP-172, RP-174]'),
    z.refine(
      ({ receipt, observedAt }) => compareInstants(receipt.expiresAt, observedAt) > 0,
      'a link has not expired when it is given [RP-213]',
    ),
  );
export type AlignmentReport = z.infer<typeof alignmentReport>;
