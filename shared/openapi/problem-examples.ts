import { problemDocument } from '#shared/problems/document.ts';
import type { ReportsProblem } from '#shared/contract/reports/problem.ts';
import type { MasteryProblem } from '#shared/contract/mastery/problem.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { occurrenceOf, type ProblemRow } from '#shared/problems/registry.ts';

export const documentationUrl = 'https://docs.mastery-reports.example';

/** The documented base of problem types: a deployment sets its own (`PROBLEMS_URL`). */
export const documentedProblemsUrl = `${documentationUrl}/problems`;

/** The members of an occurrence in an example: a plausible value of each kind. */
const samples: Readonly<Record<NonNullable<ProblemRow['carries']>, Partial<Problem>>> = {
  invalidParams: {
    invalidParams: [{ name: '/headers/idempotency-key', reason: 'required', message: 'is required' }],
  },
  currentEtag: { currentEtag: '"5f3a1c0b9d2e4f60"' },
  upstream: {
    upstream: { service: 'qti', operation: 'qti.read_candidate_runtime', requestId: 'qti-7f31c2' },
  },
  dependency: { dependency: 'results' },
};

/** Returns one occurrence of a registered problem, serialized by the service's own serializer. */
export function problemExample(row: ProblemRow): MasteryProblem | ReportsProblem {
  const carried = row.carries === undefined ? {} : samples[row.carries];
  return problemDocument(occurrenceOf(row, { retryable: true, ...carried }), {
    problemsUrl: documentedProblemsUrl,
    requestId: '0f9b8a52-6c1e-4d3a-9b57-2f8e0c4d71aa',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  });
}
