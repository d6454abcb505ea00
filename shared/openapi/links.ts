import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import { materializeAttemptReport } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { readImprovementRun } from '#shared/contract/reports/routes/read-improvement-run.ts';
import { readReadiness } from '#shared/contract/reports/routes/read-readiness.ts';
import type { Route } from '#shared/contract/route.ts';

/** A link of OpenAPI: the values of a success that the next request takes, as runtime expressions. */
interface Link {
  readonly from: readonly Route[];
  readonly to: Route;
  readonly description: string;
  readonly values: {
    readonly parameters?: Record<string, string>;
    readonly requestBody?: Record<string, string>;
  };
}

const continuation = { continuationToken: '$response.body#/continuationToken' };
const thisRun = { improvementRunId: '$response.body#/improvementRunId' };

/** The links of successes. Each response names a link after its target. */
export const links: readonly Link[] = [
  {
    from: [startAdaptiveRun, inspectAdaptiveRun, advanceAdaptiveRun],
    to: inspectAdaptiveRun,
    description: 'Get the current state and entity tag of the run.',
    values: { requestBody: continuation },
  },
  {
    // The tags of start and advance are out of date once the offered item is scored.
    from: [inspectAdaptiveRun],
    to: advanceAdaptiveRun,
    description: 'Once QTI has scored the offered item, get the next one.',
    values: { parameters: { 'If-Match': '$response.header.ETag' }, requestBody: continuation },
  },
  {
    from: [readAttemptReport],
    to: readReadiness,
    description: 'Get what the attempt implies for named external tests.',
    values: { parameters: { attemptId: '$response.body#/attemptId' } },
  },
  {
    from: [materializeAttemptReport],
    to: readAttemptReport,
    description: 'Get the report again.',
    values: { parameters: { attemptId: '$response.body#/report/attemptId' } },
  },
  {
    from: [listCandidateReports],
    to: listCandidateReports,
    description: 'While `hasMore` is true, get the next page with the same filters, sort and limit.',
    values: {
      parameters: {
        candidateSourcedId: '$request.path.candidateSourcedId',
        cursor: '$response.body#/nextCursor',
      },
    },
  },
  {
    from: [analyzeAdministration, readImprovementRun],
    to: readImprovementRun,
    description: 'Repeat until the run has ended.',
    values: { parameters: thisRun },
  },
  {
    from: [analyzeAdministration, readImprovementRun],
    to: listRevisionOrders,
    description: 'List what the run asks Bank and Blueprint to revise.',
    values: { parameters: thisRun },
  },
];

/**
 * Returns the links of a route's success to the routes of the same document.
 * @param published the routes of the document: no link leads to a closed route
 */
export function linksOf(
  { operationId }: Route,
  published: readonly Route[],
): Pick<ZodOpenApiResponseObject, 'links'> {
  const found = links.flatMap(({ from, to: { operationId: target }, description, values }) =>
    from.some((route) => route.operationId === operationId) &&
    published.some((route) => route.operationId === target)
      ? [[target, { operationId: target, description, ...values }] as const]
      : [],
  );
  return found.length === 0 ? {} : { links: Object.fromEntries(found) };
}
