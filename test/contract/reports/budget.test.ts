import { afterEach, describe, expect, it } from 'vitest';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { readClassCohort } from '#shared/contract/reports/routes/read-class-cohort.ts';
import { readEquivalence } from '#shared/contract/reports/routes/read-equivalence.ts';
import { readReadiness } from '#shared/contract/reports/routes/read-readiness.ts';
import { readSchoolGradeCohort } from '#shared/contract/reports/routes/read-school-grade-cohort.ts';
import type { Route } from '#shared/contract/route.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { callsDuring, slowDown, takenBy } from '#test/support/platform-calls.ts';
import { openReportsCaller, reportsAnswerOf, reportReads } from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { useTestStack } from '#test/support/stack.ts';
import { tenantId } from '#test/lemmas/sound-reads.ts';

// The reads of every route over whole functions. A page that looks through thousands of test specs, which no seed has:
// budget-of-a-page.test.ts.

const stack = useTestStack();
const caller = lazily(() => openReportsCaller(stack));
const holdToDocument = openPublishedContract('reports');
afterEach(() => stack.control('DELETE', 'faults'));

type Fixtures = ReturnType<ReportsCaller['fixtures']>;

interface Subject {
  readonly route: Route;
  /** A request for everything that the tenant has to read there, whatever it is answered. */
  readonly calls: (fixtures: Fixtures) => readonly GatewayCall[];
  /** The request that has most to read. */
  readonly fullest: (fixtures: Fixtures) => GatewayCall;
  /** How many of its reads wait for one another when all owners agree. */
  readonly waves: number;
  /** Its read that does not agree with the others when its version drifts. */
  readonly drifting: keyof typeof operations;
  /** How much of the row's budget that takes up: the half of it, where owners contradict each other in nothing else. */
  readonly most: Route['budget'];
}

const byAttempt =
  (query = '') =>
  ({ attempts, special }: Fixtures): readonly GatewayCall[] =>
    [...Object.values(attempts), ...Object.values(special.attempts)].map((attemptId) => ({
      path: { attemptId },
      query,
    }));

const subjects: readonly Subject[] = [
  {
    route: readAttemptReport,
    calls: byAttempt('?view=evidence'),
    fullest: ({ attempts }) => ({ path: { attemptId: attempts.gatePass }, query: '?view=evidence' }),
    waves: 3,
    drifting: 'readSettledRecord',
    most: { calls: 9, depth: 4 },
  },
  {
    route: readReadiness,
    calls: byAttempt(),
    fullest: ({ attempts }) => ({ path: { attemptId: attempts.gatePass } }),
    waves: 3,
    drifting: 'readSettledRecord',
    // The row has one more of each for late crosswalks, and all of it twice.
    most: { calls: 9, depth: 4 },
  },
  {
    route: listCandidateReports,
    calls: ({ candidates }) =>
      Object.values(candidates).flatMap((candidateSourcedId) =>
        ['?limit=1', '?limit=100'].map((query) => ({ path: { candidateSourcedId }, query })),
      ),
    fullest: ({ candidates }) => ({
      path: { candidateSourcedId: candidates.withHistory },
      query: '?limit=2&testKind=mastery_gate',
    }),
    waves: 3,
    drifting: 'readReportCriteria',
    // Of four test specs: candidate and index; the criteria of all; the index, then the criteria that differ, once more; the gates' framework.
    most: { calls: 9, depth: 5 },
  },
  {
    route: readClassCohort,
    calls: ({ classes, special }) =>
      [
        ...classes,
        ...special.classesDeleted,
        ...special.classesWithoutRollup,
        ...special.classesWithheld,
      ].map((classSourcedId) => ({ path: { classSourcedId } })),
    fullest: ({ classes: [classSourcedId = ''] }) => ({ path: { classSourcedId } }),
    waves: 1,
    drifting: 'readClassRollup',
    most: { calls: 2, depth: 1 },
  },
  {
    route: readSchoolGradeCohort,
    calls: ({ schools, special }) =>
      [...schools, ...special.schoolsWithoutRollup, ...special.schoolsWithheld].map((path) => ({ path })),
    fullest: ({ schools: [path = { schoolSourcedId: '', grade: '' }] }) => ({ path }),
    waves: 1,
    drifting: 'readSchoolGradeRollup',
    most: { calls: 2, depth: 1 },
  },
  {
    route: readEquivalence,
    calls: ({ forms }) => Object.values(forms).map((qtiTestId) => ({ path: { qtiTestId } })),
    fullest: ({ forms }) => ({ path: { qtiTestId: forms.equivalent } }),
    waves: 2,
    drifting: 'readReportCriteria',
    most: { calls: 8, depth: 3 },
  },
];

/** Long enough where the processor is at hand. */
const FIRST_TRY_MS = 40;

/** Slows every owner down; one read gives another version so often, and is then never alone in its wave. */
async function arm(name: Subject['drifting'], times: number, milliseconds?: number): Promise<void> {
  await stack.control('DELETE', 'faults');
  if (times > 0) await stack.fault({ operation: operations[name].id, kind: 'version_drift', times });
  await slowDown(stack, milliseconds);
}

/**
 * What requests take while every owner is slow. A moment without a processor can only make reads look as if they had waited for one
 * another, or run out of their time and be repeated: after a try that takes more than `most`, another one counts, with more time.
 */
async function leastTaken(
  { route, drifting }: Subject,
  calls: readonly GatewayCall[],
  most: Route['budget'],
  drifts = 0,
) {
  const all = [];
  await arm(drifting, drifts, FIRST_TRY_MS);
  for (const call of calls) {
    for (let tries = 1; ; tries += 1) {
      const given = await callsDuring(stack, () => caller.call(route, { tenantId, ...call }));
      holdToDocument(route, given.result);
      if (given.result.status === 200) route.success.schema.parse(JSON.parse(given.result.text));
      const seen = { answer: reportsAnswerOf(given.result), taken: takenBy(given.calls) };
      if (tries === 3 || (seen.taken.calls <= most.calls && seen.taken.depth <= most.depth)) {
        all.push(seen);
        break;
      }
      await arm(drifting, drifts);
    }
  }
  return all;
}

it('every route has a budget to be held to', () => {
  expect(subjects.map(({ route }) => route.operationId).toSorted()).toEqual(
    reportReads.map(({ operationId }) => operationId).toSorted(),
  );
});

describe.each(subjects)('$route.operationId', (subject) => {
  const { route, calls: requests, fullest, waves } = subject;

  it(`has chains of ${waves} reads at most, when all owners agree, whatever there is to read [RP-001]`, async () => {
    const most = { ...route.budget, depth: waves };
    const all = await leastTaken(subject, requests(caller.fixtures(tenantId)), most);
    for (const { taken } of all) expect(taken.calls).toBeLessThanOrEqual(route.budget.calls);
    expect(Math.max(...all.map(({ taken }) => taken.depth))).toBe(waves);
  }, 60_000);

  it('of equal requests all ask every owner, by the same and by another principal [RP-001, RP-336, RP-337]', async () => {
    const call = { tenantId, ...fullest(caller.fixtures(tenantId)) };
    const asked: unknown[] = [];
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
  });

  it('takes, when its owners agree late, what its budget says, and finds nothing by any further read [RP-030]', async () => {
    const call = fullest(caller.fixtures(tenantId));
    const expected = [{ answer: '200', taken: subject.most }];
    expect(await leastTaken(subject, [call], subject.most, 1)).toEqual(expected);
  });

  it('takes no more when its owners do not come to agree', async () => {
    const call = fullest(caller.fixtures(tenantId));
    for (const { taken } of await leastTaken(subject, [call], route.budget, 1_000)) {
      expect(taken.calls).toBeLessThanOrEqual(route.budget.calls);
      expect(taken.depth).toBeLessThanOrEqual(route.budget.depth);
    }
  });
});
