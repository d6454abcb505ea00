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
 * Budgets are of the worst that can happen: everything is read, and what does not agree once more.
 */

/** What the rows that read, and those that write, have alike. */
const read = { service: 'reports', method: 'GET', scope: 'reports:read' } as const;
const write = { service: 'reports', method: 'POST', scope: 'reports:write' } as const;

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
    modifiedSince: {
      schema: instant,
      appliedBy: 'owner',
      fact: 'modifiedAt',
      admits: (modifiedAt, since) => compareInstants(modifiedAt, since) >= 0,
      canonical: normalizeInstant,
    },
  },
  {
    sort: z.enum(['-modifiedAt']).default('-modifiedAt'),
    limit,
    cursor,
  },
);

/** One whole processor. A settled record of 64 MB, read twice, takes half of it (`npm run bench -- --only report-limit`). */
const RECORD_MEMORY_MB = 1769;

export const readAttemptReport = defineRoute({
  ...read,
  operationId: 'readAttemptReport',
  path: '/v1/attempt-reports/{attemptId}',
  summary: 'Get the report of an attempt',
  description:
    'Returns the settled score of a scored attempt, the exact gaps and their evidence, with a receipt per source. The kind of the test decides which sections the report has; `view` decides how much of them is returned. If a required source is unavailable, the service returns 503: it never returns a partial report.',
  gates: ['C', 'D'],
  request: {
    path: z.strictObject({ attemptId: reference }),
    query: z.strictObject({ view: view.default('summary') }),
  },
  success: { schema: attemptReport, transfer: 'stream', example: examples.failedGate },
  problems: ['409 source-version-conflict'],
  // Lookup; record, criteria, candidate; framework, event; and the first three of them once more, side by side.
  budget: { calls: 9, depth: 4 },
  learnersWait: true,
  lambda: {
    memoryMb: RECORD_MEMORY_MB,
    grants: ['profiles:read'],
    impact: 'Clients cannot show the report of an attempt.',
  },
});

export const readReadiness = defineRoute({
  ...read,
  operationId: 'readReadiness',
  path: '/v1/attempt-reports/{attemptId}/readiness',
  summary: 'Get the readiness for external tests',
  description:
    'Returns one decision per external test that the blueprint’s crosswalk names, by the rule `gate-implies-readiness` version 2. A failed gate is `not_ready`. If evidence is missing, unusable or out of date, the decision is `indeterminate`, and a limitation names the cause. External tests without a published coverage are listed in `omittedEntries`. If the blueprint has no crosswalk, the service returns 404.',
  gates: ['C', 'D'],
  request: { path: z.strictObject({ attemptId: reference }) },
  success: { schema: readinessReport, example: examples.notReady },
  problems: ['409 source-version-conflict'],
  // Lookup; record, criteria, candidate; the first three once more, side by side; framework, crosswalks; the crosswalks once more.
  budget: { calls: 10, depth: 5 },
  lambda: {
    memoryMb: RECORD_MEMORY_MB,
    grants: ['profiles:read'],
    impact: 'Clients cannot show what an attempt implies for external tests. Reports still work.',
  },
});

export const listCandidateReports = defineRoute({
  ...read,
  operationId: 'listCandidateReports',
  path: '/v1/candidates/{candidateSourcedId}/attempt-reports',
  summary: 'List the reports of a candidate',
  description:
    'Returns the scored attempts of a candidate in the view `summary`, last modified first. Every report matches every filter. To get the next page, send `nextCursor` with the same filters, sort and limit; it expires after one hour. A page can have fewer reports than the limit although more follow; it is never empty then. Attempts that cannot be reported yet are left out, and `withheld` counts them by reason.',
  gates: ['C', 'D'],
  receipts: ['candidate_attempt_index'],
  request: { path: z.strictObject({ candidateSourcedId: reference }), ...candidateQuery },
  success: { schema: attemptReportPage, transfer: 'stream', example: examples.page },
  /*
   * Candidate, 50 reads of the index, and 100 test specs with each of them. As 128 calls are under way at a time, a page's test specs are
   * read beside the next page of the index: a turn for each read of the index, and four for test specs alone: the first page's, and the
   * last one's, each read twice.
   */
  budget: { calls: 5051, depth: 54 },
  lambda: {
    memoryMb: 1024,
    grants: ['profiles:read', 'keys:cursor'],
    impact: 'Clients cannot list the attempts of a candidate. Single reports still work.',
  },
});

/** What both cohort reports have alike. */
const cohort = {
  ...read,
  gates: ['A', 'D'],
  // Roster and rollup, side by side.
  budget: { calls: 2, depth: 1 },
} as const;
const cohortLambda = { memoryMb: 512, timeoutSeconds: 15, grants: ['profiles:read'] } as const;

export const readClassCohort = defineRoute({
  ...cohort,
  operationId: 'readClassCohort',
  path: '/v1/classes/{classSourcedId}/cohort-report',
  summary: 'Get the cohort report of a class',
  description:
    'Returns the roll-up of a class as Analytics published it, after OneRoster has confirmed the class. The service calculates nothing, and a suppressed snapshot contains no values. If Analytics has never rolled up the class, the service returns 404.',
  request: { path: z.strictObject({ classSourcedId: reference }) },
  success: { schema: cohortReport, example: examples.classCohort },
  lambda: { ...cohortLambda, impact: 'Clients cannot show the cohort report of a class.' },
});

export const readSchoolGradeCohort = defineRoute({
  ...cohort,
  operationId: 'readSchoolGradeCohort',
  path: '/v1/schools/{schoolSourcedId}/grades/{grade}/cohort-report',
  summary: 'Get the cohort report of a grade',
  description:
    'Returns the roll-up of a grade of a school as Analytics published it, after OneRoster has confirmed the school. The service calculates nothing, and a suppressed snapshot contains no values. If Analytics has never rolled up the grade, the service returns 404.',
  request: { path: z.strictObject({ schoolSourcedId: reference, grade }) },
  success: { schema: cohortReport, example: examples.schoolGradeCohort },
  lambda: { ...cohortLambda, impact: 'Clients cannot show the cohort report of a grade.' },
});

export const readEquivalence = defineRoute({
  ...read,
  operationId: 'readEquivalence',
  path: '/v1/forms/{qtiTestId}/equivalence',
  summary: 'Get the equivalence of a form',
  description:
    'Returns whether a form measures like its parallel forms: the decision of Analytics with its method, its figures and the evidence of the blueprint. The service calculates nothing. If Analytics has never analyzed the form, the service returns 404.',
  gates: ['A', 'D'],
  request: { path: z.strictObject({ qtiTestId: reference }) },
  success: { schema: equivalenceReport, example: examples.equivalentForms },
  // Form; analysis, criteria, form evidence; and all four once more, side by side.
  budget: { calls: 8, depth: 3 },
  lambda: {
    memoryMb: 512,
    timeoutSeconds: 15,
    grants: ['profiles:read'],
    impact: 'Clients cannot show whether parallel forms are equivalent.',
  },
});

export const materializeAttemptReport = defineRoute({
  ...write,
  operationId: 'materializeAttemptReport',
  path: '/v1/attempt-reports:materialize',
  summary: 'Settle and publish a scored attempt',
  description:
    'Writes the scored outcomes of an attempt to Results, emits the Caliper event of the settled score, reads Results back and returns the report. If you retry within 24 hours with the same key and body, nothing is written twice: the response has the same `operationId` and the current report, and the header `Idempotent-Replayed: true` if the first request had succeeded. A problem after the first write contains the `operationId`; retry with the same key until the request succeeds.',
  gates: ['B', 'C', 'D'],
  request: { body: materializeRequest },
  success: {
    schema: materializeResponse,
    transfer: 'stream',
    headers: ['Idempotent-Replayed'],
    example: examples.materialized,
  },
  requestExample: {
    attemptId: examples.failedGate.attemptId,
    administrationId: examples.failedGate.administrationId,
    view: 'summary',
  },
  problems: ['409 source-version-conflict'],
  // Lookup; administration; criteria, while a kind is not released; components; event; then the reads of a report, lookup, record and criteria
  // twice.
  budget: { calls: 14, depth: 9 },
  learnersWait: true,
  lambda: {
    // As much as reading the report takes.
    memoryMb: 1769,
    grants: ['control:write', 'keys:idempotency', 'profiles:read'],
    impact: 'Clients cannot settle and publish a scored attempt. Reports can still be read.',
  },
});

export const analyzeAdministration = defineRoute({
  ...write,
  operationId: 'analyzeAdministration',
  path: '/v1/administrations/{administrationId}/improvement-runs:analyze',
  summary: 'Analyze a scored administration',
  description:
    'Starts an improvement run: pins the blueprint of the administration, its external assessments, the metrics of Analytics and the released policy, and queues the analysis. The request has no body: the server sets policy and formula. Read the run until it has ended. If you retry within 24 hours with the same key, the service returns the same run in its current state, with the header `Idempotent-Replayed: true` if the first request had succeeded. A different key starts another run. A run that waits for an unavailable receiver continues.',
  gates: ['D', 'F'],
  request: { path: z.strictObject({ administrationId: reference }) },
  success: { schema: improvementRun, headers: ['Idempotent-Replayed'], example: examples.queuedRun },
  problems: ['409 source-version-conflict'],
  // Administration; sources and analysis; four artifacts; and all of these once more.
  budget: { calls: 14, depth: 6 },
  lambda: {
    memoryMb: 1024,
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
    impact: 'Clients cannot analyze an administration. Improvement runs can still be read.',
  },
});

export const readImprovementRun = defineRoute({
  ...read,
  operationId: 'readImprovementRun',
  path: '/v1/improvement-runs/{improvementRunId}',
  summary: 'Get an improvement run',
  description:
    'Returns the state of the run, its counts, the status of its four metrics and its omissions, and once it is complete a short-lived link to its receipt bundle. Counts can grow until the run has ended. The service reads the pinned artifacts of Analytics and Content again; if one is no longer available, it returns 503.',
  gates: ['D', 'F'],
  request: { path: z.strictObject({ improvementRunId: reference }) },
  success: { schema: improvementRun, example: examples.completedRun },
  // Sources and four artifacts; and what was amiss of them once more.
  budget: { calls: 10, depth: 2 },
  lambda: {
    memoryMb: 1024,
    timeoutSeconds: 15,
    grants: ['improvement:read', 'receipts:link', 'keys:receipt-link', 'profiles:read'],
    impact: 'Clients cannot read the progress of an improvement run or get the link to its receipt.',
  },
});

export const readAlignmentReport = defineRoute({
  ...read,
  operationId: 'readAlignmentReport',
  path: '/v1/improvement-runs/{improvementRunId}/alignment-reports/{sourceKey}',
  summary: 'Get an alignment report',
  description:
    'Returns how well the blueprint covers one external assessment: each requirement with its weight and its contribution, the exact sums, the percentage by the formula `alignment-v1`, the comparison of predicted with actual results if Analytics has one, and a short-lived link to the receipt bundle. The service calculates it from the pinned crosswalk. If the crosswalk is no longer available, or the run has not reached the assessment yet, it returns 503; retry later.',
  gates: ['D', 'F'],
  request: { path: z.strictObject({ improvementRunId: reference, sourceKey }) },
  success: { schema: alignmentReport, transfer: 'stream', example: examples.alignment },
  problems: ['409 source-version-conflict'],
  // Crosswalk and comparison; and both once more.
  budget: { calls: 4, depth: 2 },
  lambda: {
    memoryMb: 1769,
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

export const listRevisionOrders = defineRoute({
  ...read,
  operationId: 'listRevisionOrders',
  path: '/v1/improvement-runs/{improvementRunId}/revision-orders',
  summary: 'List the revision orders of an improvement run',
  description:
    'Returns what the run asks Bank and Blueprint to revise, with the observed value, the threshold that it breaches and the receipt of the receiver, sorted by `createdAt` and `revisionOrderId`. The service reads observed values again from the pinned artifacts. A page can have fewer orders than the limit; follow `nextCursor` until it is null.',
  gates: ['D', 'F'],
  request: { path: z.strictObject({ improvementRunId: reference }), ...orderQuery },
  success: { schema: revisionOrderPage, transfer: 'stream', example: examples.revisionOrders },
  // Sources and what the orders of a page rest on: at most twelve artifacts; and all of these once more.
  budget: { calls: 26, depth: 2 },
  lambda: {
    memoryMb: 1769,
    grants: ['improvement:read', 'keys:cursor', 'records:read', 'profiles:read'],
    impact: 'Clients cannot read the orders of an improvement run to Bank and Blueprint.',
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
