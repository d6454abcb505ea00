import * as z from 'zod';
import { reference, text } from '#shared/contract/reports/primitives.ts';
import { HUGE, LARGE, idempotentWrite, reportRead } from '#shared/platform/operation.ts';
import { governed, instant, ownerId, version, versioned } from './primitives.ts';

/** Results: a settled scale score of a learner. `producerResultId` is ours and deterministic; Results echoes it [MA-033]. */
export const resultRecordRequest = z.strictObject({
  producerResultId: ownerId,
  studentId: ownerId,
  testSpecId: ownerId,
  testBankId: ownerId,
  bankOperationId: ownerId,
  selectionPolicyId: ownerId,
  scaleCalibrationId: ownerId,
  scale: z.strictObject({
    scaleId: ownerId,
    scaleScore: z.number(),
    standardError: z.number().min(0),
    /** All limitations of the score, if the run has added one to those of its calibration; absent otherwise. */
    limitations: z.array(z.string().min(1)).min(1).optional(),
  }),
  stopReason: z.string(),
  administeredItemCount: z.int().min(0),
  deliverySessionIds: z.array(ownerId),
  /** QTI's processing traces of the outcomes that counted, in the order of the run; absent when the run has consumed none with a trace. */
  processingTraceRefs: z.array(ownerId).optional(),
  scoredAt: instant,
  /** The cause of the run's end, if the stop reason does not name it. */
  metadata: z.strictObject({ stopCause: z.string() }).optional(),
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

/** Results: the scored outcomes of an attempt, sent as one idempotent set for Results to settle. They contain no score. */
export const settledComponent = z.strictObject({
  componentId: ownerId,
  qtiItemId: reference,
  qtiOutcomeId: reference,
  scoredAt: instant,
});
export const settledComponentsRequest = z.strictObject({
  attemptId: reference,
  /** QTI's version of the outcomes. */
  evidenceVersion: version,
  ...governed,
  components: z.array(settledComponent).min(1),
});
export type SettledComponentsRequest = z.infer<typeof settledComponentsRequest>;

/** Results: the settled score. */
const settledScore = z.object({
  value: z.number(),
  minimum: z.number().nullable(),
  maximum: z.number().nullable(),
  unit: z.string(),
  scaleVersion: z.string().min(1).max(128).nullable(),
});
export type SettledScore = z.infer<typeof settledScore>;

/** Results: the components that it has settled, with record and version. */
export const settledComponentsAck = z.looseObject({
  tenantId: ownerId,
  attemptId: reference,
  resultRecordId: reference,
  version,
  count: z.int().min(0),
  componentIds: z.array(ownerId),
  score: settledScore,
  /** When Results settled this version. */
  settledAt: instant,
});
export type SettledComponentsAck = z.infer<typeof settledComponentsAck>;

/** Results: the decision on the attempt under the blueprint's criteria. */
const settledGate = z.object({
  status: z.string(),
  criteriaVersion: text.nullable(),
  achieved: z.number().nullable(),
  required: z.number().nullable(),
  gapCaseGuids: z.array(reference),
  coverageEvidenceId: reference.nullable(),
});
export type SettledGate = z.infer<typeof settledGate>;

/** Results: the measurement of an adaptive diagnostic. */
const settledDiagnostic = z.object({
  scaleScore: z.number(),
  scaleVersion: text,
  calibrationVersion: text,
  standardError: z.number().min(0),
  stoppingReason: z.string(),
});

/** Results: the part of an item's outcome in one mastery row. QTI has its time. */
const settledEvidence = z.object({
  qtiItemId: reference,
  qtiOutcomeId: reference,
  resultComponentId: reference.nullable(),
  contribution: z.number(),
});

/** Results: the mastery of one standard or knowledge component. `estimate` and `threshold` are null while they are not settled. */
const settledMastery = z.object({
  kind: z.enum(['standard', 'knowledge_component']),
  caseGuid: reference,
  parentCaseGuid: reference.nullable(),
  state: z.string(),
  estimate: z.number().nullable(),
  threshold: z.number().nullable(),
  uncertainty: z.number().min(0),
  uncertaintyKind: z.string(),
  /** The certainty that the policy requires of `mastered` and `gap`, if Results states it. */
  confidence: z.number().min(0).max(1).nullable().optional(),
  policyId: text,
  policyVersion: text,
  evidence: z.array(settledEvidence),
});
export type SettledMastery = z.infer<typeof settledMastery>;

/** Results: the settled facts of an attempt without its mastery rows. */
const recordHeader = z.object({
  resultRecordId: reference,
  ...versioned,
  settled: z.boolean(),
  attemptId: reference,
  candidateSourcedId: reference,
  ...governed,
  testKind: z.string(),
  modifiedAt: instant,
  score: settledScore.nullable(),
  gate: settledGate.nullable(),
  diagnostic: settledDiagnostic.nullable(),
  /** The Caliper event that published the result, if any. */
  completionEventIri: reference.nullable(),
});
export type RecordHeader = z.infer<typeof recordHeader>;

/** Results: the whole settled record of one attempt. */
export const settledRecord = recordHeader.extend({ tenantId: ownerId, mastery: z.array(settledMastery) });
export type SettledRecord = z.infer<typeof settledRecord>;

/** Results: a record in the index, with the CASE GUIDs of its mastery rows in state `gap`. Without them, its gate cannot be verified. */
const indexedRecord = recordHeader.extend({ gapRowCaseGuids: z.array(reference).optional() });

/**
 * Results: the authoritative index of a candidate's attempts, newest modification first, ties by attempt id ascending. `record` is null
 * until Results has settled the attempt.
 */
export const candidateAttempts = z.object({
  tenantId: ownerId,
  candidateSourcedId: reference,
  ...versioned,
  rows: z.array(
    z.object({
      attemptId: reference,
      /** QTI's status of the attempt; only `scored` attempts have reports. */
      attemptStatus: z.string(),
      qtiSessionId: reference.nullable(),
      qtiTestId: reference,
      administrationId: reference,
      ...governed,
      administeredItemCount: z.int().min(0),
      modifiedAt: instant,
      record: indexedRecord.nullable(),
    }),
  ),
  /** Whether more rows follow. */
  hasMore: z.boolean(),
});
export type CandidateAttempts = z.infer<typeof candidateAttempts>;

export const writeResultRecord = idempotentWrite({
  id: 'results.write_result_record',
  path: '/core/results/v1/result-records',
  status: 'bound',
  body: resultRecordRequest,
  answer: resultRecordAck,
  uses: ['write'],
  echo: { producerResultId: 'producerResultId' },
  rule: 'Acknowledged only when the answer echoes the producer result id. The same id with other content is refused with 409.',
});

export const writeKcComponents = idempotentWrite({
  id: 'results.write_kc_components',
  path: '/core/results/v1/result-records/{resultRecordId}/components',
  body: kcComponentsRequest,
  answer: kcComponentsAck,
  uses: ['write'],
  echo: { resultRecordId: 'resultRecordId' },
  rule: 'Acknowledged only when the answer names every component id and their count. Called only for a tenant whose service profile says `RESULTS_KC_COMPONENTS=supported`; without it no learner run starts.',
});

export const writeSettledComponents = idempotentWrite({
  id: 'results.write_settled_components',
  path: '/core/results/v1/attempts/{attemptId}/components',
  body: settledComponentsRequest,
  answer: settledComponentsAck,
  uses: ['report'],
  echo: { attemptId: 'attemptId' },
  maxAnswerBytes: LARGE,
  rule: 'The scored outcomes of one attempt, all of them, each under its deterministic component id; `Idempotency-Key` is made of the content. Results settles the attempt: 201 first, 200 for what it holds already, 409 for an id, an outcome or a key that stands for something else. Acknowledged only when the answer names the attempt, every component id and their count.',
});

export const readSettledRecord = reportRead({
  id: 'results.read_settled_record',
  path: '/core/results/v1/result-records/{resultRecordId}',
  answer: settledRecord,
  maxAnswerBytes: HUGE,
  rule: 'The settled facts of one attempt under one version; passed on, never recomputed.',
  assumed:
    'A gate that is passed or failed lists in `gapCaseGuids` every mastery row in state `gap` of which its criteria speak.',
});

export const listCandidateAttempts = reportRead({
  id: 'results.list_candidate_attempts',
  path: '/core/results/v1/candidates/{candidateSourcedId}/attempts',
  query: ['limit'],
  optionalQuery: ['qtiTestId', 'modifiedSince', 'afterModifiedAt', 'afterAttemptId'],
  answer: candidateAttempts,
  maxAnswerBytes: LARGE,
  rule: 'Newest modification first, ties by attempt id ascending (UTF-8 bytes); `afterModifiedAt` and `afterAttemptId` name the last row of the page before. `modifiedSince` is inclusive. `gapRowCaseGuids` of a record are the CASE GUIDs of its mastery rows in state `gap`.',
});
