import { expect, it } from 'vitest';
import { listCandidateReportsOperation } from '#functions/reports/endpoints/list-candidate-reports/operation.ts';
import { MOST_INDEX_READS } from '#functions/reports/endpoints/list-candidate-reports/read-facts.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import { addressAt, answerWith, dependenciesOver } from '#test/support/report-owners.ts';

// The most that a page can have to read: thousands of attempts, every one of another test spec, of which none is of the status that is asked
// for but the last; and new versions while the first and the last page of the index are read.

const INDEX_PAGE = 100;
/** Turns of the event loop without a call, after which whoever still wants to ask waits for an answer. */
const QUIET_TURNS = 3;
const tenantId = 'tenant-aurora';
const candidateSourcedId = 'student-1';

type IndexRow = CandidateAttempts['rows'][number];

/** A scored attempt of a spec of its own, in one version of the spec by its index row and in one by its record. */
function scored(n: number, inIndex: string, inRecord: string): IndexRow {
  const modifiedAt = new Date(Date.UTC(2026, 2, 1) - n * 60_000).toISOString();
  return {
    attemptId: `attempt-${n}`,
    attemptStatus: 'scored',
    qtiSessionId: null,
    qtiTestId: `form-${n}`,
    administrationId: 'administration-1',
    contentTestSpecId: `spec-${n}`,
    contentTestSpecVersion: inIndex,
    administeredItemCount: 10,
    modifiedAt,
    record: {
      resultRecordId: `record-${n}`,
      version: inRecord,
      freshness: 'current',
      settled: true,
      attemptId: `attempt-${n}`,
      candidateSourcedId,
      contentTestSpecId: `spec-${n}`,
      contentTestSpecVersion: inRecord,
      testKind: 'mastery_gate',
      modifiedAt,
      score: { value: 7, minimum: 0, maximum: 10, unit: 'points', scaleVersion: null },
      gate: {
        status: 'pass',
        criteriaVersion: 'criteria-1',
        achieved: 0.9,
        required: 0.8,
        gapCaseGuids: [],
        coverageEvidenceId: 'coverage-1',
      },
      diagnostic: null,
      completionEventIri: null,
    },
  };
}

/** An attempt with an open gate: the one that is asked for. */
function undecided(row: IndexRow): IndexRow {
  const { record } = row;
  return { ...row, record: record === null ? null : { ...record, gate: null } };
}

function criteriaOf(testSpecId: string, version: string): ReportCriteria {
  return {
    tenantId,
    testSpecId,
    version,
    freshness: 'current',
    testKind: 'mastery_gate',
    caseFrameworkGuid: 'framework-1',
    caseFrameworkChangedAt: '2026-01-10T00:00:00Z',
    criteria: { criteriaVersion: 'criteria-1', required: 0.8 },
    qualifyingCoverage: false,
    externalScale: null,
  };
}

/** Owners whose answers arrive in rounds: all that is under way arrives together, once nobody asks any more. */
function ownersInRounds(answerTo: (url: URL) => Response) {
  const taken = { calls: 0, depth: 0 };
  let underway: (() => void)[] = [];
  const fetch = async (url: string): Promise<Response> => {
    taken.calls += 1;
    await new Promise<void>((resolve) => underway.push(resolve));
    return answerTo(new URL(url));
  };
  /** Lets what is under way arrive, round by round, until the work is done. */
  async function during<T>(work: Promise<T>): Promise<T> {
    const state = { done: false, asked: 0, quiet: 0 };
    const ending = work.finally(() => (state.done = true));
    while (!state.done) {
      await new Promise((resolve) => setTimeout(resolve));
      state.quiet = underway.length === state.asked ? state.quiet + 1 : 0;
      state.asked = underway.length;
      if (state.asked === 0 || state.quiet < QUIET_TURNS) continue;
      taken.depth += 1;
      const arriving = underway;
      underway = [];
      for (const arrive of arriving) arrive();
    }
    return ending;
  }
  return { taken, fetch, during };
}

/** Whole pages of the index, from the n-th on; the record of each of their rows names the version. */
const pageFrom = (page: number, inIndex = '1', inRecord = inIndex): readonly IndexRow[] =>
  Array.from({ length: INDEX_PAGE }, (_, n) => scored(page * INDEX_PAGE + n, inIndex, inRecord));

it('takes no more and no less than the budget of its row, 128 calls at a time', async () => {
  /** Pages of the index, read by read; the last one ends the list. */
  let index: (readonly IndexRow[])[] = [];
  const base = addressAt(tenantId, operations.readReportCriteria, {
    path: { testSpecId: 'SPEC' },
    query: { version: '1' },
  });
  const specOf = new RegExp(RegExp.escape(new URL(base).pathname).replace('SPEC', '([^/]+)'));
  const owners = ownersInRounds((url) => {
    const spec = specOf.exec(url.pathname)?.[1];
    if (spec !== undefined)
      return answerWith(JSON.stringify(criteriaOf(spec, url.searchParams.get('version') ?? '')));
    if (url.href === addressAt(tenantId, operations.readUser, { path: { sourcedId: candidateSourcedId } }))
      return answerWith(JSON.stringify({ user: { sourcedId: candidateSourcedId, status: 'active' } }));
    const rows = index.shift() ?? [];
    const isLast = rows.length < INDEX_PAGE || rows.some(({ record }) => record?.gate === null);
    return answerWith(
      JSON.stringify({
        tenantId,
        candidateSourcedId,
        version: '1',
        freshness: 'current',
        rows: [...rows],
        hasMore: !isLast,
      } satisfies CandidateAttempts),
    );
  });
  const issuer = await createTestIssuer();
  const lambda = await testLambda(
    listCandidateReports,
    listCandidateReportsOperation({
      ...dependenciesOver(tenantId, owners.fetch),
      keys: createMemoryKeyRing(),
    }),
    { issuer },
  );
  const request = {
    path: { candidateSourcedId },
    query: { limit: '100', status: 'indeterminate' },
    headers: { Authorization: `Bearer ${await issuer.sign({ studentIds: [candidateSourcedId] })}` },
  };
  const ask = () => owners.during(lambda.invoke(request));
  const last = (rows: readonly IndexRow[]) => [...rows.slice(0, -1), ...rows.slice(-1).map(undecided)];

  index = [pageFrom(0), last(pageFrom(1).slice(0, 25))];
  expect(await ask()).toMatchObject({
    status: 200,
    body: { data: [{ status: 'indeterminate' }], hasMore: false },
  });
  // Candidate and index; the test specs of its page; the next page; its test specs.
  expect(owners.taken).toEqual({ calls: 2 + 100 + 1 + 25, depth: 4 });

  Object.assign(owners.taken, { calls: 0, depth: 0 });
  const between = Array.from({ length: MOST_INDEX_READS - 4 }, (_, n) => pageFrom(n + 1));
  const end = MOST_INDEX_READS - 3;
  index = [
    pageFrom(0, '1', '2'),
    pageFrom(0, '2'),
    ...between,
    last(pageFrom(end, '1', '2')),
    last(pageFrom(end, '2')),
  ];
  const worst = await ask();
  expect(worst).toMatchObject({ status: 200, body: { data: [{ status: 'indeterminate' }], hasMore: false } });
  expect(index).toEqual([]);
  expect(owners.taken).toEqual(listCandidateReports.budget);
}, 60_000);
