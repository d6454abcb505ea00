import type * as z from 'zod';
import type { Route } from '#shared/contract/route.ts';
import {
  adaptiveDiagnostic,
  equivalent,
  masteryGate,
  materialized,
  notReady,
  sandboxIds,
  viewOf,
} from '#shared/contract/reports/sandbox-fixtures.ts';
import type { Correlation } from '#shared/contract/reports/sandbox-fixtures.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { pageOf } from './reports.ts';

/** One resource of the sandbox, by its route and its path. */
export interface Fixture {
  readonly route: Route;
  /** Decoded path parameters, compared exactly. */
  readonly path: Readonly<Record<string, string>>;
  /** Returns the response to a query that the row takes. Throws a Refusal for a cursor that the sandbox has not issued. */
  readonly answer: (query: Readonly<Record<string, unknown>>, correlation: Correlation) => unknown;
}

function fixture<R extends Route>(
  route: R,
  path: Readonly<Record<keyof z.input<R['request']['path']>, string>>,
  answer: (
    query: z.output<R['request']['query']>,
    correlation: Correlation,
  ) => z.input<R['success']['schema']>,
): Fixture {
  // SAFETY: the query that comes in is the output of the same row's schema.
  return { route, path, answer: answer as Fixture['answer'] };
}

const { masteryGateAttempt, adaptiveDiagnosticAttempt, candidate, form } = sandboxIds;

/** All resources of the sandbox. A request for anything else is its 404 [RP-042]. */
export const manifest: readonly Fixture[] = [
  fixture(sandboxRoutes.readAttemptReport, { attemptId: masteryGateAttempt }, ({ view }, correlation) =>
    viewOf(masteryGate, view, correlation),
  ),
  fixture(
    sandboxRoutes.readAttemptReport,
    { attemptId: adaptiveDiagnosticAttempt },
    ({ view }, correlation) => viewOf(adaptiveDiagnostic, view, correlation),
  ),
  fixture(sandboxRoutes.readReadiness, { attemptId: masteryGateAttempt }, (_, correlation) => ({
    ...notReady,
    ...correlation,
  })),
  fixture(sandboxRoutes.listCandidateReports, { candidateSourcedId: candidate }, pageOf),
  fixture(sandboxRoutes.readEquivalence, { qtiTestId: form }, (_, correlation) => ({
    ...equivalent,
    ...correlation,
  })),
  fixture(sandboxRoutes.materializeAttemptReport, {}, (_, correlation) => materialized(correlation)),
];
