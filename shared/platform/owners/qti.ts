import * as z from 'zod';
import { reference } from '#shared/contract/reports/primitives.ts';
import { LARGE, idempotentWrite, reportRead, runRead } from '#shared/platform/operation.ts';
import { governed, instant, ownerId, sha256, utcInstant, version, versioned } from './primitives.ts';

/** QTI: the delivery form of an immutable artifact version; for a pool its assessment-test root with ordered item refs [MA-024]. */
export const deliveryJson = z.looseObject({
  tenantId: ownerId,
  artifactId: ownerId,
  artifactVersionId: ownerId,
  packageId: ownerId,
  packageHash: sha256,
  type: z.string(),
  qtiIdentifier: ownerId,
  itemRefs: z.array(
    z.looseObject({
      identifier: ownerId,
      artifactVersionId: ownerId,
      /** The largest SCORE of the member, if QTI states it (assumed: QTI’s own term of an outcome declaration). */
      normalMaximum: z.number().optional(),
    }),
  ),
});
export type DeliveryJson = z.infer<typeof deliveryJson>;

/**
 * QTI: one attempt in a delivery session. `submittedAt`, when the learner submitted it, exists if QTI stores that time (assumed); `outcomes` and
 * `scoredAt` exist once the attempt is scored. Their reader checks their content, so that one bad score does not make the whole answer malformed. The
 * scores are durable once the processing trace (its form is assumed) is `completed` [MA-030]. The run reads only the statuses `scored` and `submitted`
 * and the outcome variable `SCORE`.
 */
export const attempt = z.looseObject({
  attemptId: ownerId,
  attemptNumber: z.int().min(1),
  status: z.string(),
  submittedAt: z.unknown().optional(),
  outcomes: z.unknown().optional(),
  scoredAt: z.unknown().optional(),
  processingTrace: z.looseObject({ traceRef: ownerId, status: z.string() }).optional(),
});
export type Attempt = z.infer<typeof attempt>;

/** QTI: a delivery session of one candidate. Only the run tag of its offer's snapshot is read. */
export const deliverySession = z.looseObject({
  deliverySessionId: ownerId,
  rootArtifactVersionId: ownerId,
  status: z.string(),
  createdAt: utcInstant,
  deliverySnapshot: z.looseObject({ runTag: z.string().nullish() }).nullish(),
  attempts: z.array(attempt),
});
export type DeliverySession = z.infer<typeof deliverySession>;

/** QTI: everything about one candidate, here always pseudonymous [MA-028]. An unknown candidate has no sessions. */
export const runtimeData = z.looseObject({
  tenantId: ownerId,
  candidateRef: ownerId,
  sessions: z.array(deliverySession),
});
export type RuntimeData = z.infer<typeof runtimeData>;

/** QTI: the offer of one item [MA-029]. */
export const deliverySessionRequest = z.strictObject({
  candidateRef: ownerId,
  rootArtifactVersionId: ownerId,
  deliverySnapshot: z.strictObject({
    poolArtifactVersionId: ownerId,
    packageId: ownerId,
    packageHash: sha256,
    qtiIdentifier: ownerId,
    sequence: z.int().min(1),
    /** Distinguishes the offers of one run from those of the learner's other runs; absent in a run that was started before tags existed. */
    runTag: ownerId.optional(),
  }),
});
export type DeliverySessionRequest = z.infer<typeof deliverySessionRequest>;

/** QTI: the answer to an offer; the same for its repetition under the same Idempotency-Key. */
export const offeredSession = z.looseObject({
  tenantId: ownerId,
  candidateRef: ownerId,
  deliverySessionId: ownerId,
  rootArtifactVersionId: ownerId,
  createdAt: utcInstant,
});
export type OfferedSession = z.infer<typeof offeredSession>;

/** QTI: the scored outcome of one administered item. */
const itemOutcome = z.object({ qtiItemId: reference, qtiOutcomeId: reference, scoredAt: instant });

/**
 * QTI: the owner of an attempt. The rest of the answer is read only once the caller may see the candidate, so that nothing in it distinguishes a
 * foreign attempt from an absent one.
 */
const attemptIdentity = z.looseObject({
  tenantId: ownerId,
  attemptId: reference,
  candidateSourcedId: reference,
});

/**
 * QTI: everything about one attempt, by its id: QTI's own facts, and the ids and versions of those of Results and Content. `resultRecordId` and
 * `resultRecordVersion` are null until Results has settled the attempt.
 */
export const attemptEvidence = z.object({
  tenantId: ownerId,
  attemptId: reference,
  ...versioned,
  /** `scored` once every outcome is final. No other status is distinguished. */
  status: z.string(),
  qtiSessionId: reference.nullable(),
  qtiTestId: reference,
  candidateSourcedId: reference,
  administrationId: reference,
  ...governed,
  resultRecordId: reference.nullable(),
  resultRecordVersion: version.nullable(),
  administeredItemCount: z.int().min(0),
  outcomes: z.array(itemOutcome),
});
export type AttemptEvidence = z.infer<typeof attemptEvidence>;

/** QTI: a test form and the Content test spec that governs it. */
export const form = z.object({
  tenantId: ownerId,
  qtiTestId: reference,
  ...versioned,
  ...governed,
});
export type Form = z.infer<typeof form>;

export const readAdaptivePoolRoot = runRead({
  id: 'qti.read_adaptive_pool_root',
  path: '/tenants/{tenantId}/qti/artifact-versions/{artifactVersionId}/delivery-json',
  status: 'bound',
  answer: deliveryJson,
  isPool: true,
  maxAnswerBytes: LARGE,
  rule: 'The version and a strong ETag match, the type is `assessment-test`, refs are ordered, and a repeated read gives the same hash. A ref that states a maximum score states 1.',
});

export const readCandidateRuntime = runRead({
  id: 'qti.read_candidate_runtime',
  path: '/tenants/{tenantId}/qti/candidates/{candidateRef}/runtime-data',
  status: 'bound',
  answer: runtimeData,
  maxAnswerBytes: LARGE,
  rule: 'Only the sessions that the continuation names count; attempts are put in canonical order. An outcome counts once its processing trace is `completed`. Sessions of the learner’s other runs only narrow the pool.',
  assumed: 'Every session returns the delivery snapshot of its offer, at least its `runTag`.',
});

export const offerSelectedItem = idempotentWrite({
  id: 'qti.offer_selected_item',
  path: '/tenants/{tenantId}/qti/delivery-sessions',
  status: 'bound',
  body: deliverySessionRequest,
  answer: offeredSession,
  uses: ['offer'],
  echo: { candidateRef: 'candidateRef', rootArtifactVersionId: 'rootArtifactVersionId' },
  rule: 'Exactly the selected artifact, a pseudonymous candidate, a non-empty delivery snapshot. `Idempotency-Key` is the deterministic offer id: 201 first, 200 for its repetition, 409 when the run holds another open offer.',
  assumed:
    'A policy that avoids or excludes prior use makes all runs of one learner over one bank one candidate, so an open offer refuses only an offer with the same `runTag`. A 409 although no session of the run is open is 424, not retryable.',
});

export const readAttemptEvidence = reportRead({
  id: 'qti.read_attempt_evidence',
  path: '/tenants/{tenantId}/qti/attempts/{attemptId}/evidence',
  answer: attemptIdentity,
  // Nothing in the answer is compared before the caller may see its candidate, not even the attempt's id.
  echo: {},
  wholeAnswer: attemptEvidence,
  maxAnswerBytes: LARGE,
  rule: 'The one lookup by attempt id: QTI’s facts, and the ids and versions under which Results and Content hold theirs; those owners must then answer exactly these versions.',
});

export const readForm = reportRead({
  id: 'qti.read_form',
  path: '/tenants/{tenantId}/qti/forms/{qtiTestId}',
  answer: form,
  rule: 'Names the test spec, and its version, that governs the form.',
});
