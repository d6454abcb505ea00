import * as z from 'zod';
import { administration } from './owners/administration.ts';
import { administrationAnalysis, analysisArtifact, formEquivalence, rollup } from './owners/analytics.ts';
import { manifest } from './owners/bank.ts';
import { caliperEnvelope, storedEvent } from './owners/caliper.ts';
import { cfItem, cfPackage } from './owners/case.ts';
import {
  alignmentCrosswalk,
  alignmentSources,
  bankMembers,
  blueprint,
  formEvidence,
  readinessCrosswalks,
  reportCriteria,
} from './owners/content.ts';
import { anchorTable } from './owners/extmap.ts';
import { classSingleton, schoolSingleton, userSingleton } from './owners/oneroster.ts';
import {
  attemptEvidence,
  attemptIdentity,
  deliveryJson,
  deliverySessionRequest,
  form,
  offeredSession,
  runtimeData,
} from './owners/qti.ts';
import {
  candidateAttempts,
  capabilities,
  kcComponentsAck,
  kcComponentsRequest,
  resultRecordAck,
  resultRecordRequest,
  settledComponentsAck,
  settledComponentsRequest,
  settledRecord,
} from './owners/results.ts';
import { revisionOrderAck, revisionOrderRequest } from './owners/revision-orders.ts';
import type { UpstreamOperation } from './operation.ts';

const SMALL = 256 * 1024;
const LARGE = 16 * 1024 * 1024;
/** A record with a quarter of a million evidence rows; what is beyond is refused for its number of rows, or here for its size. */
const HUGE = 64 * 1024 * 1024;

/** Keeps the id and the exact schema types of a row. */
function operation<Id extends string, Answer extends z.ZodType, Body extends z.ZodType | undefined>(
  row: UpstreamOperation<Answer, Body> & { readonly id: Id },
): UpstreamOperation<Answer, Body> & { readonly id: Id } {
  return row;
}

/*
 * Every upstream operation, once, in the order of the contract page. Each is an export of its own: the bundle of a function holds the rows
 * that it names, with their schemas, and no others.
 */

export const readTestSpec = operation({
  id: 'content.read_test_spec',
  service: 'content',
  method: 'GET',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/blueprint',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: blueprint,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'The role is `spec`; the complete normalized projection is hashed.',
});

export const validateAdaptiveBankIdentity = operation({
  id: 'content.validate_adaptive_bank_identity',
  service: 'content',
  method: 'GET',
  path: '/tenants/{tenantId}/core/content/items/{testBankId}/bank-members',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: bankMembers,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'Bank and spec match, the membership rule is `qti_adaptive_selection`, and there is no Content member.',
});

export const readAdaptivePoolRoot = operation({
  id: 'qti.read_adaptive_pool_root',
  service: 'qti',
  method: 'GET',
  path: '/tenants/{tenantId}/qti/artifact-versions/{artifactVersionId}/delivery-json',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: deliveryJson,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'The version and a strong ETag match, the type is `assessment-test`, refs are ordered, and a repeated read gives the same hash.',
});

export const readAdaptivePoolManifest = operation({
  id: 'bank.read_adaptive_pool_manifest',
  service: 'bank',
  method: 'GET',
  path: '/v1/bank-operations/{operationId}/manifest',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: manifest,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'Terminal and of the same tenant; ETag and hash agree on a repeated read; members and QTI root correspond one to one.',
});

export const readCandidateRuntime = operation({
  id: 'qti.read_candidate_runtime',
  service: 'qti',
  method: 'GET',
  path: '/tenants/{tenantId}/qti/candidates/{candidateRef}/runtime-data',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: runtimeData,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'Only the sessions that the continuation names count; attempts are put in canonical order.',
});

export const offerSelectedItem = operation({
  id: 'qti.offer_selected_item',
  service: 'qti',
  method: 'POST',
  path: '/tenants/{tenantId}/qti/delivery-sessions',
  query: [],
  status: 'bound',
  retry: 'idempotent-write',
  success: [200, 201],
  body: deliverySessionRequest,
  answer: offeredSession,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'Exactly the selected artifact, a pseudonymous candidate, a non-empty delivery snapshot. `Idempotency-Key` is the deterministic offer id: 201 first, 200 for its repetition, 409 when the candidate holds another open offer.',
});

export const resolveMapping = operation({
  id: 'case.resolve_mapping',
  service: 'case',
  method: 'GET',
  path: '/ims/case/v1p1/CFItems/{sourcedId}',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: cfItem,
  tenantInAnswer: false,
  maxAnswerBytes: SMALL,
  rule: 'Identifier and URI are those of the pinned mapping.',
});

export const verifyAnchor = operation({
  id: 'extmap.verify_anchor',
  service: 'anchor',
  method: 'GET',
  path: '/extmap/v1/r90',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: anchorTable,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'The table has the version, and in it the source point, that the calibration’s anchor names, with a non-null source ref; no rank is read.',
});

export const readCapabilities = operation({
  id: 'results.read_capabilities',
  service: 'results',
  method: 'GET',
  path: '/core/results/v1/capabilities',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: capabilities,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'A learner run starts only where Results says that it takes `kc_components`.',
});

export const writeResultRecord = operation({
  id: 'results.write_result_record',
  service: 'results',
  method: 'POST',
  path: '/core/results/v1/result-records',
  query: [],
  status: 'bound',
  retry: 'idempotent-write',
  success: [200, 201],
  body: resultRecordRequest,
  answer: resultRecordAck,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'Acknowledged only when the answer echoes the producer result id. The same id with other content is refused with 409.',
});

export const writeKcComponents = operation({
  id: 'results.write_kc_components',
  service: 'results',
  method: 'POST',
  path: '/core/results/v1/result-records/{resultRecordId}/components',
  query: [],
  status: 'gap',
  retry: 'idempotent-write',
  success: [200, 201],
  body: kcComponentsRequest,
  answer: kcComponentsAck,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'Acknowledged only when the answer names every component id and their count.',
});

export const emitEvent = operation({
  id: 'caliper.emit_completion_or_simulation',
  service: 'caliper',
  method: 'POST',
  path: '/caliper/v1p2/events',
  query: [],
  status: 'bound',
  retry: 'idempotent-write',
  success: [200, 201, 202, 204],
  body: caliperEnvelope,
  answer: z.undefined(),
  bodyIgnored: true,
  tenantInAnswer: false,
  maxAnswerBytes: SMALL,
  rule: 'The same event id is the same event. Learner completion only after Results.',
});

export const readEvidenceAck = operation({
  id: 'caliper.read_evidence_ack',
  service: 'caliper',
  method: 'GET',
  path: '/caliper/v1p2/events',
  query: ['eventIri'],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: storedEvent,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'The event IRI and the generated refs are those of the emitted event; anything else is no acknowledgement.',
});

export const readAttemptEvidence = operation({
  id: 'qti.read_attempt_evidence',
  service: 'qti',
  method: 'GET',
  path: '/tenants/{tenantId}/qti/attempts/{attemptId}/evidence',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: attemptIdentity,
  wholeAnswer: attemptEvidence,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'The one lookup by attempt id: QTI’s facts, and the ids and versions under which Results and Content hold theirs; those owners must then answer exactly these versions.',
});

export const readForm = operation({
  id: 'qti.read_form',
  service: 'qti',
  method: 'GET',
  path: '/tenants/{tenantId}/qti/forms/{qtiTestId}',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: form,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'Names the test spec, and its version, that governs the form.',
});

export const writeSettledComponents = operation({
  id: 'results.write_settled_components',
  service: 'results',
  method: 'POST',
  path: '/core/results/v1/attempts/{attemptId}/components',
  query: [],
  status: 'gap',
  retry: 'idempotent-write',
  success: [200, 201],
  body: settledComponentsRequest,
  answer: settledComponentsAck,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'The scored outcomes of one attempt, all of them, each under its deterministic component id; `Idempotency-Key` is made of the content. Results settles the attempt: 201 first, 200 for what it holds already, 409 for an id, an outcome or a key that stands for something else. Acknowledged only when the answer names the attempt, every component id and their count.',
});

export const readSettledRecord = operation({
  id: 'results.read_settled_record',
  service: 'results',
  method: 'GET',
  path: '/core/results/v1/result-records/{resultRecordId}',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: settledRecord,
  tenantInAnswer: true,
  maxAnswerBytes: HUGE,
  rule: 'The settled facts of one attempt under one version; passed on, never recomputed.',
});

export const listCandidateAttempts = operation({
  id: 'results.list_candidate_attempts',
  service: 'results',
  method: 'GET',
  path: '/core/results/v1/candidates/{candidateSourcedId}/attempts',
  query: ['limit'],
  optionalQuery: ['qtiTestId', 'testKind', 'status', 'modifiedSince', 'afterModifiedAt', 'afterAttemptId'],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: candidateAttempts,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'Newest modification first, ties by attempt id ascending (UTF-8 bytes); `afterModifiedAt` and `afterAttemptId` name the last row of the page before. `modifiedSince` is inclusive; `status` `indeterminate` means that the gate of a `mastery_gate` is, or lacks its decision, measurement, coverage evidence or criteria; every other record is `scored`. A row without a record passes `testKind` and `status`.',
});

export const readReportCriteria = operation({
  id: 'content.read_report_criteria',
  service: 'content',
  method: 'GET',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/report-criteria',
  query: ['version'],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: reportCriteria,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'Exactly the version that is asked for: test kind, criteria and framework of reports.',
});

export const readReadinessCrosswalks = operation({
  id: 'content.read_readiness_crosswalks',
  service: 'content',
  method: 'GET',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/readiness-crosswalks',
  query: ['version'],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: readinessCrosswalks,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'The blueprint’s crosswalks to named external tests, for exactly the version that is asked for; none is an empty list.',
});

export const readFormEvidence = operation({
  id: 'content.read_form_evidence',
  service: 'content',
  method: 'GET',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/form-evidence/{qtiTestId}',
  query: ['version'],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: formEvidence,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'What the blueprint, in exactly the version that is asked for, says of coverage and depth of knowledge of a form beside the forms that Analytics compared.',
});

export const readPackage = operation({
  id: 'case.read_package',
  service: 'case',
  method: 'GET',
  path: '/ims/case/v1p1/CFPackages/{sourcedId}',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: cfPackage,
  tenantInAnswer: false,
  maxAnswerBytes: LARGE,
  rule: 'Every CASE GUID of a report, and every parent, stands in the package of the spec’s framework; a package older than the spec knows is stale. Revalidated by its ETag.',
});

export const readUser = operation({
  id: 'oneroster.read_user',
  service: 'oneroster',
  method: 'GET',
  path: '/ims/oneroster/rostering/v1p2/users/{sourcedId}',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: userSingleton,
  tenantInAnswer: false,
  maxAnswerBytes: SMALL,
  rule: 'The candidate is on the roster; `tobedeleted` is absent.',
});

export const readClass = operation({
  id: 'oneroster.read_class',
  service: 'oneroster',
  method: 'GET',
  path: '/ims/oneroster/rostering/v1p2/classes/{sourcedId}',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: classSingleton,
  tenantInAnswer: false,
  maxAnswerBytes: SMALL,
  rule: 'The class is on the roster; `tobedeleted` is absent.',
});

export const readSchool = operation({
  id: 'oneroster.read_school',
  service: 'oneroster',
  method: 'GET',
  path: '/ims/oneroster/rostering/v1p2/schools/{sourcedId}',
  query: [],
  status: 'bound',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: schoolSingleton,
  tenantInAnswer: false,
  maxAnswerBytes: SMALL,
  rule: 'The school is on the roster; `tobedeleted` is absent.',
});

export const readClassRollup = operation({
  id: 'analytics.read_class_rollup',
  service: 'analytics',
  method: 'GET',
  path: '/core/analytics/v1/classes/{classSourcedId}/rollup',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: rollup,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'About exactly that class; its values are passed on as published, none when suppressed.',
});

export const readSchoolGradeRollup = operation({
  id: 'analytics.read_school_grade_rollup',
  service: 'analytics',
  method: 'GET',
  path: '/core/analytics/v1/schools/{schoolSourcedId}/grades/{grade}/rollup',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: rollup,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'About exactly that school and grade; its values are passed on as published, none when suppressed.',
});

export const readFormEquivalence = operation({
  id: 'analytics.read_form_equivalence',
  service: 'analytics',
  method: 'GET',
  path: '/core/analytics/v1/forms/{qtiTestId}/equivalence',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: formEquivalence,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'Method, numbers and decision are passed on as published; the test spec is the form’s own.',
});

export const readAdministration = operation({
  id: 'administration.read_administration',
  service: 'administration',
  method: 'GET',
  path: '/core/administration/v1/administrations/{administrationId}',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: administration,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'The class or school that an administration was for.',
});

export const readAlignmentSources = operation({
  id: 'content.read_alignment_sources',
  service: 'content',
  method: 'GET',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/alignment-sources',
  query: ['version'],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: alignmentSources,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'The named external assessments of exactly the version that is asked for, each with the SHA-256 of its crosswalk’s bytes. Immutable: a run pins the bytes that it has read.',
});

export const readAlignmentCrosswalk = operation({
  id: 'content.read_alignment_crosswalk',
  service: 'content',
  method: 'GET',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/alignment-sources/{crosswalkId}',
  query: ['version'],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: alignmentCrosswalk,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'Complete and immutable: the same bytes as long as anybody asks for them. Checked against the pinned SHA-256.',
});

export const readAdministrationAnalysis = operation({
  id: 'analytics.read_administration_analysis',
  service: 'analytics',
  method: 'GET',
  path: '/core/analytics/v1/administrations/{administrationId}/analysis',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: administrationAnalysis,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'Which metric and comparison artifacts there are of an administration, each with the SHA-256 of its bytes; of the administration’s own test spec and version.',
});

export const readAnalysisArtifact = operation({
  id: 'analytics.read_analysis_artifact',
  service: 'analytics',
  method: 'GET',
  path: '/core/analytics/v1/analysis-artifacts/{artifactRef}',
  query: [],
  status: 'gap',
  retry: 'safe-read',
  success: [200],
  body: undefined,
  answer: analysisArtifact,
  tenantInAnswer: true,
  maxAnswerBytes: LARGE,
  rule: 'Immutable: the same bytes as long as anybody asks for them. Checked against the pinned SHA-256; its values are shown and compared, never copied or recomputed.',
});

export const orderBankRevision = operation({
  id: 'bank.receive_revision_order',
  service: 'bank',
  method: 'POST',
  path: '/core/bank/v1/revision-orders',
  query: [],
  status: 'gap',
  retry: 'idempotent-write',
  success: [200, 201],
  body: revisionOrderRequest,
  answer: revisionOrderAck,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'Acknowledged only when the answer echoes the order’s id, which is also the `Idempotency-Key`: 201 first, 200 for its repetition, with the first receipt. The same id with other content is refused with 409.',
});

export const orderBlueprintRevision = operation({
  id: 'blueprint.receive_revision_order',
  service: 'blueprint',
  method: 'POST',
  path: '/core/blueprint/v1/revision-orders',
  query: [],
  status: 'gap',
  retry: 'idempotent-write',
  success: [200, 201],
  body: revisionOrderRequest,
  answer: revisionOrderAck,
  tenantInAnswer: true,
  maxAnswerBytes: SMALL,
  rule: 'As the Bank’s.',
});
