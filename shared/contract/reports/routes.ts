import * as z from 'zod';
import { compareInstants, normalizeInstant } from '#shared/kernel/instant.ts';
import { filteredQuery } from '../filters.ts';
import { defineRoute } from '../route.ts';
import { alignmentReport } from './alignment-report.ts';
import { targetModule } from './analysis-policy.ts';
import { attemptReport, attemptReportPage, requestableTestKind, view } from './attempt-report.ts';
import { cohortReport, grade } from './cohort-report.ts';
import { equivalenceReport } from './equivalence-report.ts';
import * as examples from './examples.ts';
import { improvementRun, sourceKey } from './improvement-run.ts';
import { materializeRequest, materializeResponse } from './materialize.ts';
import { instant, reference } from './primitives.ts';
import { readinessReport } from './readiness-report.ts';
import { orderStatus, revisionOrderPage } from './revision-order.ts';

/*
 * Budgets are of the worst that can happen: a kept answer is confirmed, in vain; then everything is read, and what does not agree once more.
 */

const noQuery = z.strictObject({});
/** What every read takes alike unless it says otherwise: no filter, no body, no key, no precondition. */
const read = { filters: {}, body: undefined, maxBodyBytes: 0, idempotencyKey: false, ifMatch: false };

/** 1-100 as plain digits: no sign, decimal point, leading zero or white space [RP-302]. */
const limit = z
  .string()
  .refine((text) => /^(?:100|[1-9]\d?)$/.test(text), {
    message: 'must be a whole number from 1 to 100, in plain digits',
  })
  .transform(Number)
  .default(25)
  .meta({
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, { type: 'integer', minimum: 1, maximum: 100, default: 25 });
    },
  });

/** Said of every cursor that is refused, whatever is wrong with it [RP-303]. */
export const cursorRefusal = {
  reason: 'not-allowed',
  message: 'must be an unexpired cursor of this very list',
};

const cursor = z
  .string()
  .refine((text) => text.length >= 1 && text.length <= 2048, {
    message: cursorRefusal.message,
    params: { reason: cursorRefusal.reason },
  })
  .meta({ minLength: 1, maxLength: 2048 })
  .optional();

/**
 * The filters of a candidate's reports. Results applies those on its own facts. Kind and status of a report are what Results and Content say
 * together: only this service knows them, so it applies these two.
 */
const candidateQuery = filteredQuery(
  {
    qtiTestId: { schema: reference, appliedBy: 'owner', fact: 'qtiTestId' },
    testKind: { schema: requestableTestKind, appliedBy: 'service', fact: 'testKind' },
    status: { schema: z.enum(['scored', 'indeterminate']), appliedBy: 'service', fact: 'status' },
    /** Inclusive lower bound on the modification in Results. */
    modifiedSince: {
      schema: instant,
      appliedBy: 'owner',
      fact: 'modifiedAt',
      admits: (modifiedAt, since) => compareInstants(modifiedAt, since) >= 0,
      canonical: normalizeInstant,
    },
  },
  {
    /** Newest modification first, ties by attempt id ascending. */
    sort: z.enum(['-modifiedAt']).default('-modifiedAt'),
    limit,
    cursor,
  },
);

/** One whole processor. A settled record of 64 MB, read twice, takes half of it (`npm run bench -- --only report-limit`). */
const RECORD_MEMORY_MB = 1769;

/** GET /v1/attempt-reports/{attemptId} */
export const readAttemptReport = defineRoute({
  service: 'reports',
  operationId: 'readAttemptReport',
  method: 'GET',
  path: '/v1/attempt-reports/{attemptId}',
  summary: 'Read the report of an attempt',
  description:
    'One report on a scored attempt, composed at request time from its owners: the settled score, the exact gaps and their evidence, with a receipt for every source. What the attempt’s test kind supports decides which sections it has; `view` only projects.',
  scope: 'reports:read',
  gates: ['C', 'D'],
  handler: 'functions/reports/endpoints/read-attempt-report/handler.ts',
  request: {
    ...read,
    path: z.strictObject({ attemptId: reference }),
    query: z.strictObject({ view: view.default('summary') }),
  },
  success: {
    status: 200,
    schema: attemptReport,
    transfer: 'stream',
    headers: [],
    example: examples.failedGate,
  },
  problems: ['409 source-version-conflict', '503 dependency-incomplete'],
  // 6 confirmations; lookup; record, criteria, candidate; framework, event; and the first three of them once more, side by side.
  budget: { calls: 15, depth: 5 },
  lambda: {
    memoryMb: RECORD_MEMORY_MB,
    timeoutSeconds: 29,
    grants: ['profiles:read'],
    impact: 'Clients cannot show the report of an attempt.',
  },
});

/** GET /v1/attempt-reports/{attemptId}/readiness */
export const readReadiness = defineRoute({
  service: 'reports',
  operationId: 'readReadiness',
  method: 'GET',
  path: '/v1/attempt-reports/{attemptId}/readiness',
  summary: 'Read what an attempt implies for named external tests',
  description:
    'For every named source test of the blueprint’s crosswalk: projected pass, not ready or indeterminate, by the rule `gate-implies-readiness` version 2. A failed gate is not ready. Otherwise evidence that is missing, unusable or stale gives `indeterminate` with a limitation that names the cause, also where it is the attempt’s own report that lacks it. A source test of which the blueprint does not say how much it covers is named in `omittedEntries`. An attempt whose blueprint has no crosswalk returns 404.',
  scope: 'reports:read',
  gates: ['C', 'D'],
  handler: 'functions/reports/endpoints/read-readiness/handler.ts',
  request: { ...read, path: z.strictObject({ attemptId: reference }), query: noQuery },
  success: {
    status: 200,
    schema: readinessReport,
    transfer: 'buffered',
    headers: [],
    example: examples.notReady,
  },
  problems: ['409 source-version-conflict', '503 dependency-incomplete'],
  // 6 confirmations; lookup; record, criteria, crosswalks, candidate; all of these but the candidate once more; framework.
  budget: { calls: 16, depth: 5 },
  lambda: {
    memoryMb: RECORD_MEMORY_MB,
    timeoutSeconds: 29,
    grants: ['profiles:read'],
    impact: 'Clients cannot show what an attempt implies for external tests; reports go on.',
  },
});

/** GET /v1/candidates/{candidateSourcedId}/attempt-reports */
export const listCandidateReports = defineRoute({
  service: 'reports',
  operationId: 'listCandidateReports',
  method: 'GET',
  path: '/v1/candidates/{candidateSourcedId}/attempt-reports',
  summary: 'List the reports of a candidate',
  description:
    'The summaries of a candidate’s scored attempts, newest modification first, ties by attempt id. Every row satisfies every filter. Send `nextCursor` back with the same filters, sort and limit; it is valid for one hour. A page may have fewer rows than the limit while more follow, and is never empty then. Attempts that cannot be a report yet are passed over; `withheld` counts them by their reason, each on one page.',
  scope: 'reports:read',
  gates: ['C', 'D'],
  receipts: ['candidate_attempt_index'],
  handler: 'functions/reports/endpoints/list-candidate-reports/handler.ts',
  request: {
    ...read,
    path: z.strictObject({ candidateSourcedId: reference }),
    ...candidateQuery,
  },
  success: {
    status: 200,
    schema: attemptReportPage,
    transfer: 'stream',
    headers: [],
    example: examples.page,
  },
  problems: ['503 dependency-incomplete'],
  /*
   * 128 confirmations of a kept page; then candidate, 50 reads of the index, and 100 test specs with each of them. As 128 calls are under way
   * at a time, a page's test specs are read beside the next page of the index: a turn for each read of the index, one for the confirmations,
   * and four for test specs alone: the first page's, and the last one's, each read twice.
   */
  budget: { calls: 5179, depth: 55 },
  lambda: {
    memoryMb: 1024,
    timeoutSeconds: 29,
    grants: ['profiles:read', 'keys:cursor'],
    impact: 'Clients cannot list the attempts of a candidate; single reports go on.',
  },
});

/** What both cohort reports have alike. */
const cohort = {
  service: 'reports',
  method: 'GET',
  scope: 'reports:read',
  gates: ['A', 'D'],
  problems: ['503 dependency-incomplete'],
  // Roster and rollup, confirmed in vain and then read.
  budget: { calls: 4, depth: 2 },
} as const;
const cohortLambda = { memoryMb: 512, timeoutSeconds: 15, grants: ['profiles:read'] } as const;

/** GET /v1/classes/{classSourcedId}/cohort-report */
export const readClassCohort = defineRoute({
  ...cohort,
  operationId: 'readClassCohort',
  path: '/v1/classes/{classSourcedId}/cohort-report',
  summary: 'Read the cohort report of a class',
  description:
    'The class as Analytics has rolled it up, once OneRoster confirms the class. Nothing is calculated here, and a suppressed snapshot shows no value. A class that Analytics has never rolled up returns 404.',
  handler: 'functions/reports/endpoints/read-class-cohort/handler.ts',
  request: { ...read, path: z.strictObject({ classSourcedId: reference }), query: noQuery },
  success: {
    status: 200,
    schema: cohortReport,
    transfer: 'buffered',
    headers: [],
    example: examples.classCohort,
  },
  lambda: { ...cohortLambda, impact: 'Clients cannot show the cohort report of a class.' },
});

/** GET /v1/schools/{schoolSourcedId}/grades/{grade}/cohort-report */
export const readSchoolGradeCohort = defineRoute({
  ...cohort,
  operationId: 'readSchoolGradeCohort',
  path: '/v1/schools/{schoolSourcedId}/grades/{grade}/cohort-report',
  summary: 'Read the cohort report of a grade of a school',
  description:
    'The grade of a school as Analytics has rolled it up, once OneRoster confirms the school. Nothing is calculated here, and a suppressed snapshot shows no value. A grade that Analytics has never rolled up returns 404.',
  handler: 'functions/reports/endpoints/read-school-grade-cohort/handler.ts',
  request: { ...read, path: z.strictObject({ schoolSourcedId: reference, grade }), query: noQuery },
  success: {
    status: 200,
    schema: cohortReport,
    transfer: 'buffered',
    headers: [],
    example: examples.schoolGradeCohort,
  },
  lambda: { ...cohortLambda, impact: 'Clients cannot show the cohort report of a grade.' },
});

/** GET /v1/forms/{qtiTestId}/equivalence */
export const readEquivalence = defineRoute({
  service: 'reports',
  operationId: 'readEquivalence',
  method: 'GET',
  path: '/v1/forms/{qtiTestId}/equivalence',
  summary: 'Read whether a form measures like its parallel forms',
  description:
    'The decision of Analytics on a form and the forms beside it, with its method, its numbers and the blueprint’s evidence. Nothing is calculated here. A form that Analytics has never analysed returns 404.',
  scope: 'reports:read',
  gates: ['A', 'D'],
  handler: 'functions/reports/endpoints/read-equivalence/handler.ts',
  request: { ...read, path: z.strictObject({ qtiTestId: reference }), query: noQuery },
  success: {
    status: 200,
    schema: equivalenceReport,
    transfer: 'buffered',
    headers: [],
    example: examples.equivalentForms,
  },
  problems: ['503 dependency-incomplete'],
  // 4 confirmations; form; analysis, criteria, form evidence; and all four once more, side by side.
  budget: { calls: 12, depth: 4 },
  lambda: {
    memoryMb: 512,
    timeoutSeconds: 15,
    grants: ['profiles:read'],
    impact: 'Clients cannot show whether parallel forms measure alike.',
  },
});

/** POST /v1/attempt-reports:materialize */
export const materializeAttemptReport = defineRoute({
  service: 'reports',
  operationId: 'materializeAttemptReport',
  method: 'POST',
  path: '/v1/attempt-reports:materialize',
  summary: 'Write a scored attempt through, and read its report back',
  description:
    'Hands the scored outcomes of an attempt to Results as settled components, emits the Caliper event of the settled score, reads Results back and composes the report. A repetition within 24 hours under the same key and with the same body writes nothing again: it has the same `operationId`, after a success the header `Idempotent-Replayed: true`, and the report as it is now. Every problem from the first write on carries the `operationId`; repeat the request under the same key until it succeeds.',
  scope: 'reports:write',
  gates: ['B', 'C', 'D'],
  handler: 'functions/reports/endpoints/materialize-attempt-report/handler.ts',
  request: {
    path: z.strictObject({}),
    query: noQuery,
    filters: {},
    body: materializeRequest,
    maxBodyBytes: 256 * 1024,
    idempotencyKey: true,
    ifMatch: false,
  },
  success: {
    status: 200,
    schema: materializeResponse,
    transfer: 'stream',
    headers: ['Idempotent-Replayed'],
    example: examples.materialized,
  },
  requestExample: {
    attemptId: 'attempt-90311',
    administrationId: 'administration-spring-5',
    view: 'summary',
  },
  problems: ['409 source-version-conflict', '503 dependency-incomplete'],
  // Lookup; administration; criteria, while a kind is not released; components; event; then the reads of a report, lookup, record and criteria
  // twice, and no confirmations.
  budget: { calls: 14, depth: 9 },
  lambda: {
    // As much as reading the report takes.
    memoryMb: 1769,
    timeoutSeconds: 29,
    grants: ['control:write', 'keys:idempotency', 'profiles:read'],
    impact: 'Clients cannot have a scored attempt settled and published; reading reports goes on.',
  },
});

/** POST /v1/administrations/{administrationId}/improvement-runs:analyze */
export const analyzeAdministration = defineRoute({
  service: 'reports',
  operationId: 'analyzeAdministration',
  method: 'POST',
  path: '/v1/administrations/{administrationId}/improvement-runs:analyze',
  summary: 'Analyze a scored administration',
  description:
    'Begins an improvement run: pins the administration’s blueprint, its named sources, the metrics of Analytics and the released policy, and queues the analysis. There is no body: policy and formula are the server’s. Read the run until it has ended. A repetition within 24 hours under the same key is the same run, as it is by then, after a success with the header `Idempotent-Replayed: true`; another key begins another run. A run that waits for a missing receiver is taken up again.',
  scope: 'reports:write',
  gates: ['D', 'F'],
  handler: 'functions/reports/endpoints/analyze-administration/handler.ts',
  request: {
    path: z.strictObject({ administrationId: reference }),
    query: noQuery,
    filters: {},
    body: undefined,
    maxBodyBytes: 0,
    idempotencyKey: true,
    ifMatch: false,
  },
  success: {
    status: 200,
    schema: improvementRun,
    transfer: 'buffered',
    headers: ['Idempotent-Replayed'],
    example: examples.queuedRun,
  },
  problems: ['409 source-version-conflict', '503 dependency-incomplete'],
  // Administration; sources and analysis; four artifacts; and all but the administration's claims once more, side by side.
  budget: { calls: 14, depth: 5 },
  lambda: {
    memoryMb: 1024,
    timeoutSeconds: 29,
    grants: [
      'control:write',
      'keys:idempotency',
      'improvement:write',
      'improvement:queue',
      'receipts:link',
      'keys:receipt-link',
      'records:read',
      'profiles:read',
    ],
    impact: 'Clients cannot have an administration analyzed; reading runs goes on.',
  },
});

/** GET /v1/improvement-runs/{improvementRunId} */
export const readImprovementRun = defineRoute({
  service: 'reports',
  operationId: 'readImprovementRun',
  method: 'GET',
  path: '/v1/improvement-runs/{improvementRunId}',
  summary: 'Read how far an improvement run is, and what it has found',
  description:
    'State and counts of the run, the status of each of its four metrics, what it goes without, and a short-lived link to its receipt bundle once it is complete. Counts grow while the run is under way. What Analytics and Content publish is read again from the pinned artifacts: when one no longer dereferences, the answer is 503.',
  scope: 'reports:read',
  gates: ['D', 'F'],
  handler: 'functions/reports/endpoints/read-improvement-run/handler.ts',
  request: { ...read, path: z.strictObject({ improvementRunId: reference }), query: noQuery },
  success: {
    status: 200,
    schema: improvementRun,
    transfer: 'buffered',
    headers: [],
    example: examples.completedRun,
  },
  problems: ['503 dependency-incomplete'],
  // Sources and four artifacts; and what was amiss of them once more.
  budget: { calls: 10, depth: 2 },
  lambda: {
    memoryMb: 1024,
    timeoutSeconds: 15,
    grants: ['improvement:read', 'receipts:link', 'keys:receipt-link', 'profiles:read'],
    impact: 'Clients cannot see how an improvement run goes on, nor fetch its receipt.',
  },
});

/** GET /v1/improvement-runs/{improvementRunId}/alignment-reports/{sourceKey} */
export const readAlignmentReport = defineRoute({
  service: 'reports',
  operationId: 'readAlignmentReport',
  method: 'GET',
  path: '/v1/improvement-runs/{improvementRunId}/alignment-reports/{sourceKey}',
  summary: 'Read how well the blueprint covers one named assessment',
  description:
    'Every requirement of the source with its weight and what it contributes, their exact sums and the percentage by the formula `alignment-v1`, the comparison of predicted with actual results where Analytics has one, and a short-lived link to the immutable receipt bundle. Recomputed from the pinned crosswalk: when that no longer dereferences, the answer is 503. A source that the run has not reached yet is 503 too, and may be asked for again.',
  scope: 'reports:read',
  gates: ['D', 'F'],
  handler: 'functions/reports/endpoints/read-alignment-report/handler.ts',
  request: { ...read, path: z.strictObject({ improvementRunId: reference, sourceKey }), query: noQuery },
  success: {
    status: 200,
    schema: alignmentReport,
    transfer: 'stream',
    headers: [],
    example: examples.alignment,
  },
  problems: ['409 source-version-conflict', '503 dependency-incomplete'],
  // Crosswalk and comparison; and both once more.
  budget: { calls: 4, depth: 2 },
  lambda: {
    memoryMb: 1769,
    timeoutSeconds: 29,
    grants: ['improvement:read', 'receipts:link', 'keys:receipt-link', 'profiles:read'],
    impact: 'Clients cannot show how well a blueprint covers a named assessment.',
  },
});

/** Of orders; the response-only `unknown` cannot be asked for [RP-298, RP-299]. */
const orderQuery = filteredQuery(
  {
    status: { schema: orderStatus, appliedBy: 'service', fact: 'status' },
    targetModule: { schema: targetModule, appliedBy: 'service', fact: 'targetModule' },
  },
  { limit, cursor },
);

/** GET /v1/improvement-runs/{improvementRunId}/revision-orders */
export const listRevisionOrders = defineRoute({
  service: 'reports',
  operationId: 'listRevisionOrders',
  method: 'GET',
  path: '/v1/improvement-runs/{improvementRunId}/revision-orders',
  summary: 'List the revision orders of an improvement run',
  description:
    'What the run asks of Bank and Blueprint, with the observed value, the threshold that it trips and the receiver’s acknowledgement, in the order of `createdAt` and `revisionOrderId`. Observed values are read again from the pinned artifacts. A page may be shorter than the limit; follow `nextCursor` until it is null.',
  scope: 'reports:read',
  gates: ['D', 'F'],
  handler: 'functions/reports/endpoints/list-revision-orders/handler.ts',
  request: { ...read, path: z.strictObject({ improvementRunId: reference }), ...orderQuery },
  success: {
    status: 200,
    schema: revisionOrderPage,
    transfer: 'stream',
    headers: [],
    example: examples.revisionOrders,
  },
  problems: ['503 dependency-incomplete'],
  // Sources and what the orders of a page rest on: at most twelve artifacts; and all of these once more.
  budget: { calls: 26, depth: 2 },
  lambda: {
    memoryMb: 1769,
    timeoutSeconds: 29,
    grants: ['improvement:read', 'keys:cursor', 'records:read', 'profiles:read'],
    impact: 'Clients cannot see what an improvement run asks of Bank and Blueprint.',
  },
});

/** The routes of the reports service, in the order of its document. */
export const reportsRoutes = [
  readAttemptReport,
  listCandidateReports,
  readClassCohort,
  readSchoolGradeCohort,
  readEquivalence,
  readReadiness,
  materializeAttemptReport,
  analyzeAdministration,
  readImprovementRun,
  readAlignmentReport,
  listRevisionOrders,
] as const;
