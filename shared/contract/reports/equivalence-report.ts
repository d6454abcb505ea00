import * as z from 'zod';
import { when } from '../conditions.ts';
import { composed, count, httpsUrl, reference, text, uniqueListOf } from './primitives.ts';
import { sources } from './source-ref.ts';

/** Returns whether there is one sample size for the subject and for each form compared with it, and no other [RP-123]. */
export function hasSizeOfEveryForm({
  qtiTestId,
  comparisonQtiTestIds,
  sampleSizes,
}: {
  readonly qtiTestId: string;
  readonly comparisonQtiTestIds: readonly string[];
  readonly sampleSizes: Readonly<Record<string, number>>;
}): boolean {
  const forms = [qtiTestId, ...comparisonQtiTestIds];
  return (
    Object.keys(sampleSizes).length === forms.length &&
    forms.every((form) => Object.hasOwn(sampleSizes, form))
  );
}

/** The report on whether a form and its parallel forms measure alike, as Analytics decided it and the blueprint supports it. */
export const equivalenceReport = z
  .strictObject({
    object: z.literal('equivalence_report'),
    qtiTestId: reference,
    comparisonQtiTestIds: uniqueListOf(reference).min(1),
    contentTestSpecId: reference,
    coverageMatch: z.boolean(),
    dokMatch: z.boolean(),
    sampleSizes: z.record(reference, count),
    method: text,
    analysisVersion: text,
    statistic: z.number(),
    confidenceInterval: z.strictObject({ lower: z.number(), upper: z.number() }),
    tolerance: z.number().min(0),
    decision: z.enum(['equivalent', 'not_equivalent', 'insufficient_evidence', 'unknown']),
    evidenceArtifactUrl: httpsUrl.nullable(),
    limitations: z.array(z.string().min(1).max(500)).min(1).optional(),
    sources,
    ...composed,
  })
  .check(
    z.refine(
      ({ statistic, confidenceInterval: { lower, upper } }) => lower <= statistic && statistic <= upper,
      'the statistic lies in its interval [RP-124]',
    ),
    z.refine(hasSizeOfEveryForm, 'one sample size for every form [RP-123]'),
    when(
      {
        if: { decision: z.literal('insufficient_evidence') },
        else: { evidenceArtifactUrl: z.string() },
      },
      'a decision has its evidence [RP-126]',
    ),
  );
export type EquivalenceReport = z.infer<typeof equivalenceReport>;
