import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EntityName } from '#local/platform/entities.ts';
import { provable } from '#shared/contract/gates.ts';
import type { AttemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import { openReportsCaller, reportsAnswerOf } from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// What a long list does with attempts that cannot be a report yet. Each cause alone: test/lemmas/contradictions.contract.test.ts.

const tenantId = 'tenant-aurora';
type Query = Readonly<Record<string, string>>;
type Withheld = Readonly<Record<string, number>>;

const queryOf = (query: Query): string => `?${new URLSearchParams(query).toString()}`;

function ask(caller: ReportsCaller, candidateSourcedId: string, query: Query = {}) {
  return caller.call(listCandidateReports, {
    tenantId,
    path: { candidateSourcedId },
    query: queryOf(query),
  });
}

async function pageOf(
  caller: ReportsCaller,
  candidateSourcedId: string,
  query: Query = {},
): Promise<AttemptReportPage> {
  const reply = await ask(caller, candidateSourcedId, query);
  expect([query, reportsAnswerOf(reply)]).toEqual([query, '200']);
  return listCandidateReports.success.schema.parse(JSON.parse(reply.text));
}

/** Every page of a list; none of them is empty while more follow. */
async function pagesOf(caller: ReportsCaller, candidateSourcedId: string, query: Query) {
  const pages: AttemptReportPage[] = [];
  for (let cursor: string | null | undefined = undefined; cursor !== null;) {
    const page: AttemptReportPage = await pageOf(caller, candidateSourcedId, {
      ...query,
      ...(cursor === undefined ? {} : { cursor }),
    });
    if (page.hasMore) expect(page.data).not.toEqual([]);
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

/** What pages say that they have passed over, summed up. */
function withheldOf(pages: readonly AttemptReportPage[]): Withheld {
  const sums: Record<string, number> = {};
  for (const { reason, count } of pages.flatMap(({ withheld = [] }) => withheld))
    sums[reason] = (sums[reason] ?? 0) + count;
  return sums;
}

const idsOf = (pages: readonly AttemptReportPage[]): readonly string[] =>
  pages.flatMap(({ data }) => data.map(({ attemptId }) => attemptId));

describe('an attempt that cannot be a report yet', () => {
  let stack: TestStack;
  let caller: ReportsCaller;
  beforeAll(async () => {
    stack = await startTestStack();
    caller = openReportsCaller(stack);
  });
  afterEach(() => stack.control('POST', 'reset'));
  afterAll(() => stack.close());

  const reports = () => stack.seededTenants.get(tenantId)!.platform.reports;
  const change = (entity: EntityName, id: string, pointer: string, value: unknown): Promise<unknown> =>
    stack.control('PATCH', 'entities', { tenantId, entity, id, changes: [{ pointer, value }] });

  /** The scored attempts of the long history with their records. */
  function history() {
    const { generated } = reports();
    const { withHistory } = caller.fixtures(tenantId).candidates;
    const attempts = (generated.attemptIds.get(withHistory) ?? [])
      .map((id) => generated.attempts.get(id)!())
      .filter(({ status }) => status === 'scored')
      .map((attempt) => ({ attempt, record: generated.records.get(attempt.resultRecordId!)!() }));
    return { withHistory, attempts };
  }

  it('is counted on exactly one page, whatever limit, kind and status are asked for [RP-017, RP-062, RP-087]', async () => {
    const { withHistory, attempts } = history();
    const before = idsOf(await pagesOf(caller, withHistory, { limit: '100' }));
    const gates = attempts.filter(({ record }) => record.testKind === 'mastery_gate');
    const formative = attempts.filter(({ record }) => record.testKind === 'formative');
    for (const { record } of gates.slice(10, 14))
      await change('results.settled_record', record.resultRecordId, '/settled', false);
    for (const { record } of [...gates.slice(20, 23), ...formative.slice(0, 2)])
      await change('results.settled_record', record.resultRecordId, '/freshness', 'stale');
    const gone = new Set(
      [...gates.slice(10, 14), ...gates.slice(20, 23), ...formative.slice(0, 2)].map(
        ({ attempt }) => attempt.attemptId,
      ),
    );
    const expected = { unsettled: 4, stale: 5 };
    // … and takes no other one along.
    expect(idsOf(await pagesOf(caller, withHistory, { limit: '100' }))).toEqual(
      before.filter((id) => !gone.has(id)),
    );
    const filters: Query[] = [
      { limit: '7' },
      { limit: '100' },
      { limit: '25', testKind: 'formative' },
      { limit: '3', status: 'indeterminate' },
      { limit: '100', testKind: 'formative', status: 'indeterminate' },
    ];
    for (const query of filters) {
      const pages = await pagesOf(caller, withHistory, query);
      expect([query, withheldOf(pages)]).toEqual([query, expected]);
      expect(idsOf(pages).filter((id) => gone.has(id))).toEqual([]);
    }
    // Within the filters that Results applies.
    const [{ attempt: { qtiTestId } } = gates[0]!] = gates.slice(20, 21);
    const within = [...gates.slice(10, 14), ...gates.slice(20, 23), ...formative.slice(0, 2)].filter(
      ({ attempt }) => attempt.qtiTestId === qtiTestId,
    );
    const counted = withheldOf(await pagesOf(caller, withHistory, { limit: '5', qtiTestId }));
    expect(Object.values(counted).reduce((sum, count) => sum + count, 0)).toBe(within.length);
  }, 60_000);

  it('is no excuse for an owner that contradicts another one [RP-017, RP-028]', async () => {
    const { withHistory, attempts } = history();
    const answer = async (query: Query = { limit: '100' }): Promise<string> =>
      reportsAnswerOf(await ask(caller, withHistory, query));
    const newest = attempts.at(-1)!;
    await change('results.settled_record', newest.record.resultRecordId, '/testKind', 'quiz');
    for (const query of [{ limit: '1' }, { limit: '100', testKind: 'formative' }])
      expect(await answer(query)).toBe('503 dependency-incomplete results');
    await stack.control('POST', 'reset');
    // Of the oldest attempt only the last page knows.
    await change('results.settled_record', attempts[0]!.record.resultRecordId, '/testKind', 'quiz');
    expect(await answer({ limit: '1' })).toBe('200');
  });
});

describe('without the mastery engine’s proof with production learners', () => {
  it('adaptive diagnostics are passed over and counted, whatever is asked for, and every other attempt is there [RP-026]', async () => {
    const stack = await startTestStack({
      proved: provable.filter((name) => name !== 'mastery_engine_production_learner'),
    });
    try {
      const caller = openReportsCaller(stack);
      const { withHistory } = caller.fixtures(tenantId).candidates;
      const { generated } = stack.seededTenants.get(tenantId)!.platform.reports;
      const diagnostics = [...generated.records.values()]
        .map((make) => make())
        .filter((record) => record.candidateSourcedId === withHistory && record.diagnostic !== null);
      expect(diagnostics.length).toBeGreaterThan(20);
      for (const query of [
        { limit: '25' },
        { limit: '100', testKind: 'mastery_gate' },
        { limit: '10', testKind: 'adaptive_diagnostic' },
      ]) {
        const pages = await pagesOf(caller, withHistory, query);
        expect(withheldOf(pages)).toEqual({ unreleased: diagnostics.length });
        expect(pages.flatMap(({ data }) => data).filter(({ diagnostic }) => diagnostic !== null)).toEqual([]);
        expect(idsOf(pages).length > 0).toBe(query.testKind !== 'adaptive_diagnostic');
      }
    } finally {
      await stack.close();
    }
  }, 60_000);
});
