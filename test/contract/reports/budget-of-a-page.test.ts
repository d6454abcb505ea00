import { expect, it } from 'vitest';
import { listCandidateReportsOperation } from '#functions/reports/endpoints/list-candidate-reports/operation.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import { addressAt, answerWith, dependenciesOver } from '#test/support/report-owners.ts';

// The most that a page can have to read: every attempt of another test spec, a list that had unscored attempts among them and has none any
// more, and new versions of everything while it is read.

const LIMIT = 100;
/** Turns of the event loop without a call, after which whoever still wants to ask waits for an answer. */
const QUIET_TURNS = 3;
const tenantId = 'tenant-aurora';
const candidateSourcedId = 'student-1';

type Sent = NonNullable<RequestInit['headers']>;
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
      testKind: 'formative',
      modifiedAt,
      score: { value: 7, minimum: 0, maximum: 10, unit: 'points', scaleVersion: null },
      gate: null,
      diagnostic: null,
      completionEventIri: null,
    },
  };
}

/** An attempt in the place of another one, before it is scored. */
function unscored(row: IndexRow): IndexRow {
  return { ...row, attemptStatus: 'submitted', record: null };
}

function criteriaOf(testSpecId: string, version: string): ReportCriteria {
  return {
    tenantId,
    testSpecId,
    version,
    freshness: 'current',
    testKind: 'formative',
    caseFrameworkGuid: 'framework-1',
    caseFrameworkChangedAt: '2026-01-10T00:00:00Z',
    criteria: null,
    qualifyingCoverage: false,
    externalScale: null,
  };
}

/** Owners whose answers arrive in rounds: all that is under way arrives together, once nobody asks any more. */
function ownersInRounds(answerTo: (url: URL, headers: Sent) => Response) {
  const taken = { calls: 0, depth: 0 };
  let underway: (() => void)[] = [];
  const fetch = async (url: string, { headers = {} }: RequestInit): Promise<Response> => {
    taken.calls += 1;
    await new Promise<void>((resolve) => underway.push(resolve));
    return answerTo(new URL(url), headers);
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

it('takes no more and no less than the budget of its row, 32 calls at a time', async () => {
  /** The newest rows of the index, and what follows them; read by read. */
  let index: (readonly IndexRow[])[] = [];
  const base = addressAt(tenantId, operations.readReportCriteria, {
    path: { testSpecId: 'SPEC' },
    query: { version: '1' },
  });
  const specOf = new RegExp(RegExp.escape(new URL(base).pathname).replace('SPEC', '([^/]+)'));
  const owners = ownersInRounds((url, headers) => {
    const spec = specOf.exec(url.pathname)?.[1];
    if (spec !== undefined)
      return answerWith(JSON.stringify(criteriaOf(spec, url.searchParams.get('version') ?? '')), headers);
    if (url.href === addressAt(tenantId, operations.readUser, { path: { sourcedId: candidateSourcedId } }))
      return answerWith(
        JSON.stringify({ user: { sourcedId: candidateSourcedId, status: 'active' } }),
        headers,
      );
    const rows = index.shift() ?? [];
    return answerWith(
      JSON.stringify({
        tenantId,
        candidateSourcedId,
        version: '1',
        freshness: 'current',
        rows: [...rows],
        hasMore: true,
      } satisfies CandidateAttempts),
      headers,
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
    query: { limit: String(LIMIT) },
    headers: { Authorization: `Bearer ${await issuer.sign({ studentIds: [candidateSourcedId] })}` },
  };
  const ask = () => owners.during(lambda.invoke(request));

  const first = Array.from({ length: LIMIT + 1 }, (_, n) => scored(n, '1', '1'));
  index = [first.slice(0, LIMIT).map((row, n) => (n === 0 ? unscored(row) : row)), first.slice(LIMIT)];
  const kept = await ask();
  expect(kept.status).toBe(200);
  // Candidate and index; the rest of the index; the criteria of a hundred specs in four turns.
  expect(owners.taken).toEqual({ calls: 2 + 1 + LIMIT, depth: 2 + 4 });

  Object.assign(owners.taken, { calls: 0, depth: 0 });
  const later = Array.from({ length: LIMIT }, (_, n) => scored(n, '2', '3'));
  const last = Array.from({ length: LIMIT }, (_, n) => scored(n, '3', '3'));
  // Both reads of the index are confirmed in vain; then it is read, and once more.
  index = [later, last, later, last];
  const worst = await ask();
  expect(worst.status).toBe(200);
  expect(worst.body).toMatchObject({ data: Array.from({ length: LIMIT }, () => ({ status: 'scored' })) });
  expect(owners.taken).toEqual(listCandidateReports.budget);
});
