import * as z from 'zod';

/**
 * What a client reads of an adaptive run. Unknown members and unknown values of open enumerations are tolerated, as the contract asks of
 * clients [MA-020]; members that a client does not act on are not looked at.
 */
export const runAnswer = z.looseObject({
  continuationToken: z.string().min(1),
  status: z.string(),
  selectionPolicyId: z.string(),
  scaleCalibrationId: z.string(),
  offeredItem: z
    .looseObject({
      deliverySessionId: z.string().min(1),
      artifactVersionId: z.string().min(1),
      sequence: z.int().min(1),
    })
    .nullable(),
  kcClassifications: z.array(
    z.looseObject({
      caseCompetencyGuid: z.string(),
      classification: z.string(),
      posteriorProbability: z.number(),
      evidenceItemRefs: z.array(z.string()),
    }),
  ),
  scaleReportability: z.string(),
  scale: z.looseObject({ scaleScore: z.number(), standardError: z.number(), scaleId: z.string() }).nullable(),
  stopReason: z.string().nullable(),
  remainingUncertainty: z.number(),
  resultRecordRef: z.string().optional(),
  caliperEventRef: z.string().optional(),
  receiptId: z.string(),
});
export type RunAnswer = z.infer<typeof runAnswer>;

/** What a client reads of a problem document. */
export const problemAnswer = z.looseObject({
  code: z.string(),
  status: z.int(),
  detail: z.string(),
  requestId: z.string(),
  retryable: z.boolean(),
  currentEtag: z.string().optional(),
  receiptId: z.string().optional(),
  upstream: z.looseObject({ service: z.string(), operation: z.string() }).optional(),
});
export type ProblemAnswer = z.infer<typeof problemAnswer>;
