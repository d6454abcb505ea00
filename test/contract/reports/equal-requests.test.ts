import { expect, it } from 'vitest';
import {
  listCandidateReports,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
  readSchoolGradeCohort,
} from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import * as operations from '#shared/platform/operations.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { openReportsCaller, reportsAnswerOf } from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const caller = lazily(() => openReportsCaller(stack));

const tenantId = 'tenant-aurora';
type Fixtures = ReturnType<ReportsCaller['fixtures']>;

/** One good request per route. */
const requests: readonly { readonly route: Route; readonly callOf: (fixtures: Fixtures) => GatewayCall }[] = [
  {
    route: readAttemptReport,
    callOf: ({ attempts }) => ({ path: { attemptId: attempts.gateFail }, query: '?view=evidence' }),
  },
  { route: readReadiness, callOf: ({ attempts }) => ({ path: { attemptId: attempts.gatePass } }) },
  {
    route: listCandidateReports,
    callOf: ({ candidates }) => ({
      path: { candidateSourcedId: Object.values(candidates)[0] ?? '' },
      query: '?limit=5',
    }),
  },
  { route: readClassCohort, callOf: ({ classes }) => ({ path: { classSourcedId: classes[0] ?? '' } }) },
  {
    route: readSchoolGradeCohort,
    callOf: ({ schools }) => ({ path: { schoolSourcedId: '', grade: '', ...schools[0] } }),
  },
  { route: readEquivalence, callOf: ({ forms }) => ({ path: { qtiTestId: Object.values(forms)[0] ?? '' } }) },
];

// The specification limits a response cache and requires none: this service has none, so that no answer is older than its request.
it.each(requests)(
  '$route.operationId: of two equal requests both ask every owner, by the same and by another principal [RP-001, RP-336, RP-337]',
  async ({ route, callOf }) => {
    const asked: unknown[] = [];
    const call = { tenantId, ...callOf(caller.fixtures(tenantId)) };
    for (const scopes of [[route.scope], [route.scope], [route.scope, 'another:principal']]) {
      const { result, calls } = await callsDuring(stack, () => caller.call(route, { ...call, scopes }));
      expect(reportsAnswerOf(result)).toBe('200');
      // A container keeps CASE frameworks, which hold nothing of a learner; CASE confirms them for each request.
      const given = calls.filter(({ operation }) => operation !== operations.readPackage.id);
      expect(new Set(given.map(({ status }) => status))).toEqual(new Set([200]));
      asked.push(calls.map(({ path }) => path).toSorted());
    }
    expect(asked).toEqual([asked[0], asked[0], asked[0]]);
    expect(asked[0]).not.toEqual([]);
  },
);
