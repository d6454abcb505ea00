import * as z from 'zod';
import { instant, ownerId } from './primitives.ts';

/** Results: what this deployment of Results can do. `kc_components` means that components attach idempotently [MA-036]. */
export const capabilities = z.looseObject({ tenantId: ownerId, capabilities: z.array(z.string()) });
export type Capabilities = z.infer<typeof capabilities>;

/** Results: a settled scale score of a learner. `producerResultId` is ours and deterministic; Results echoes it [MA-033]. */
export const resultRecordRequest = z.strictObject({
  producerResultId: ownerId,
  studentId: ownerId,
  testSpecId: ownerId,
  testBankId: ownerId,
  bankOperationId: ownerId,
  selectionPolicyId: ownerId,
  scaleCalibrationId: ownerId,
  scale: z.strictObject({ scaleId: ownerId, scaleScore: z.number(), standardError: z.number().min(0) }),
  stopReason: z.string(),
  administeredItemCount: z.int().min(0),
  deliverySessionIds: z.array(ownerId),
  scoredAt: instant,
});
export type ResultRecordRequest = z.infer<typeof resultRecordRequest>;

export const resultRecordAck = z.looseObject({
  tenantId: ownerId,
  resultRecordId: ownerId,
  producerResultId: ownerId,
});
export type ResultRecordAck = z.infer<typeof resultRecordAck>;

/** Results: one component per knowledge component, attached as one idempotent set [MA-034]. */
export const kcComponent = z.strictObject({
  componentId: ownerId,
  caseCompetencyGuid: ownerId,
  classification: z.enum(['mastered', 'gap', 'not_yet']),
  posteriorProbability: z.number().min(0).max(1),
  evidenceItemRefs: z.array(ownerId),
  selectionPolicyId: ownerId,
  scaleCalibrationId: ownerId,
});
export const kcComponentsRequest = z.strictObject({
  resultRecordId: ownerId,
  components: z.array(kcComponent).min(1),
});
export type KcComponentsRequest = z.infer<typeof kcComponentsRequest>;

export const kcComponentsAck = z.looseObject({
  tenantId: ownerId,
  resultRecordId: ownerId,
  count: z.int().min(0),
  componentIds: z.array(ownerId),
});
export type KcComponentsAck = z.infer<typeof kcComponentsAck>;
