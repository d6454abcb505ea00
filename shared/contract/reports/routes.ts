import * as z from 'zod';
import { defineRoute } from '../route.ts';
import { attemptReport, attemptReportPage, requestableTestKind, view } from './attempt-report.ts';
import { cohortReport, grade } from './cohort-report.ts';
import { equivalenceReport } from './equivalence-report.ts';
import * as examples from './examples.ts';
import { materializeRequest, materializeResponse } from './materialize.ts';
import { instant, reference } from './primitives.ts';
import { readinessReport } from './readiness-report.ts';

/*
 * Budgets are of the worst that can happen: a kept answer is confirmed, in vain; then everything is read, and what does not agree once more.
 */

/** What every read takes alike: no body, no key, no precondition. */
const read = { body: undefined, maxBodyBytes: 0, idempotencyKey: false, ifMatch: false };
const noQuery = z.strictObject({});

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

/** The filters of a candidate's reports; which rows they match is decided on authoritative facts, never on these. */
const candidateQuery = z.strictObject({
  qtiTestId: reference.optional(),
  testKind: requestableTestKind.optional(),
  status: z.enum(['scored', 'indeterminate']).optional(),
  /** Inclusive lower bound on the modification in Results. */
  modifiedSince: instant.optional(),
  /** Newest modification first, ties by attempt id ascending. */
  sort: z.enum(['-modifiedAt']).default('-modifiedAt'),
  limit,
  cursor,
});

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
    'For every named source test of the blueprint’s crosswalk: projected pass, not ready or indeterminate, by the rule `gate-implies-readiness` version 2. Evidence that is missing or stale gives `indeterminate` with a limitation that names the cause. An attempt whose blueprint has no crosswalk answers 404.',
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
  // 5 confirmations; lookup; record, criteria, crosswalks, candidate; and all of these but the candidate once more.
  budget: { calls: 14, depth: 4 },
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
    'The summaries of a candidate’s scored attempts, newest modification first, ties by attempt id. Every row satisfies every filter. Send `nextCursor` back with the same filters, sort and limit; it is valid for one hour. A page may hold fewer rows than the limit while more follow.',
  scope: 'reports:read',
  gates: ['C', 'D'],
  handler: 'functions/reports/endpoints/list-candidate-reports/handler.ts',
  request: {
    ...read,
    path: z.strictObject({ candidateSourcedId: reference }),
    query: candidateQuery,
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
   * 103 confirmations of a page that a second read of the index had filled up; then candidate and index, the criteria of 100 test specs, and
   * index and criteria once more. As 32 calls are under way at a time, 100 of them take four turns: 4, and 1 + 4 + 4.
   */
  budget: { calls: 306, depth: 13 },
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
    'The class as Analytics has rolled it up, once OneRoster confirms the class. Nothing is calculated here, and a suppressed snapshot shows no value.',
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
    'The grade of a school as Analytics has rolled it up, once OneRoster confirms the school. Nothing is calculated here, and a suppressed snapshot shows no value.',
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
    'The decision of Analytics on a form and the forms beside it, with its method, its numbers and the blueprint’s evidence. Nothing is calculated here.',
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
    'Hands the scored outcomes of an attempt to Results as settled components, emits the Caliper event of the settled score, reads Results back and composes the report. A repetition within 24 hours under the same key and with the same body writes nothing again: it has the same `operationId`, the header `Idempotent-Replayed: true`, and the report as it is now. Every problem from the first write on carries the `operationId`; repeat the request under the same key until it succeeds.',
  scope: 'reports:write',
  gates: ['B', 'C', 'D'],
  handler: 'functions/reports/endpoints/materialize-attempt-report/handler.ts',
  request: {
    path: z.strictObject({}),
    query: noQuery,
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
  // Lookup; administration; components; event; then the reads of a report, lookup, record and criteria twice, and no confirmations.
  budget: { calls: 13, depth: 8 },
  lambda: {
    // As much as reading the report takes.
    memoryMb: 1769,
    timeoutSeconds: 29,
    grants: ['control:write', 'keys:idempotency', 'profiles:read'],
    impact: 'Clients cannot have a scored attempt settled and published; reading reports goes on.',
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
] as const;
