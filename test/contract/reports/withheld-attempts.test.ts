import { afterEach, describe, expect, it } from 'vitest';
import type { EntityName } from '#local/platform/entities.ts';
import { provable } from '#shared/contract/gates.ts';
import type { AttemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { lazily } from '#test/support/lazily.ts';
import { candidatePages, openReportsCaller, queryOf, reportsAnswerOf } from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { startTestStack, useTestStack } from '#test/support/stack.ts';

// What a long list does with attempts that cannot be a report. Each cause alone: test/lemmas/contradictions.contract.test.ts.

const tenantId = 'tenant-aurora';
type Query = Readonly<Record<string, string>>;

function pagesOf(caller: ReportsCaller, candidateSourcedId: string, query: Query) {
  return candidatePages(caller, { tenantId, path: { candidateSourcedId } }, query);
}

/** What pages say that they have passed over, summed up. */
function withheldOf(pages: readonly AttemptReportPage[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { reason, count } of pages.flatMap(({ withheld = [] }) => withheld))
    sums[reason] = (sums[reason] ?? 0) + count;
  return sums;
}

const idsOf = (pages: readonly AttemptReportPage[]): readonly string[] =>
  pages.flatMap(({ data }) => data.map(({ attemptId }) => attemptId));

describe('an attempt that cannot be a report', () => {
  const stack = useTestStack();
  const caller = lazily(() => openReportsCaller(stack));
  afterEach(() => stack.control('POST', 'reset'));

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

  it('is counted on exactly one page, whatever limit, form, kind and status are asked for [RP-017, RP-062, RP-087]', async () => {
    const { withHistory, attempts } = history();
    const before = idsOf(await pagesOf(caller, withHistory, { limit: '100' }));
    const of = (kind: string) => attempts.filter(({ record }) => record.testKind === kind);
    const unsettled = of('mastery_gate').slice(10, 14);
    const stale = [...of('mastery_gate').slice(20, 23), ...of('formative').slice(0, 2)];
    for (const { record } of unsettled)
      await change('results.settled_record', record.resultRecordId, '/settled', false);
    for (const { record } of stale)
      await change('results.settled_record', record.resultRecordId, '/freshness', 'stale');
    const failed = of('mastery_gate').filter(({ record }) => record.gate?.status === 'fail');
    const unverified = failed.slice(-3);
    for (const { record } of unverified)
      await change('results.settled_record', record.resultRecordId, '/mastery/0/state', 'gap');
    const gone = new Set([...unsettled, ...stale, ...unverified].map(({ attempt }) => attempt.attemptId));
    // Of a form they count within the filters that Results applies.
    const { qtiTestId } = stale[0]!.attempt;
    const ofForm = (given: typeof stale) => given.filter(({ attempt }) => attempt.qtiTestId === qtiTestId);
    const within = {
      unsettled: ofForm(unsettled).length,
      stale: ofForm(stale).length,
      unverified: ofForm(unverified).length,
    };
    const all = { unsettled: 4, stale: 5, unverified: 3 };
    // … and takes no other one along.
    expect(idsOf(await pagesOf(caller, withHistory, { limit: '100' }))).toEqual(
      before.filter((id) => !gone.has(id)),
    );
    const cases: readonly [Query, typeof all][] = [
      [{ limit: '7' }, all],
      [{ limit: '25', testKind: 'formative' }, all],
      [{ limit: '3', status: 'indeterminate' }, all],
      [{ limit: '100', testKind: 'formative', status: 'indeterminate' }, all],
      [{ limit: '5', qtiTestId }, within],
    ];
    for (const [query, expected] of cases) {
      const pages = await pagesOf(caller, withHistory, query);
      const counted = { unsettled: 0, stale: 0, unverified: 0, ...withheldOf(pages) };
      expect([query, counted]).toEqual([query, expected]);
      expect(idsOf(pages).filter((id) => gone.has(id))).toEqual([]);
    }
  }, 60_000);

  it('closes no page to the others, but owners that do not converge do, where the page covers the attempt [RP-017, RP-028]', async () => {
    const { withHistory, attempts } = history();
    const call = { tenantId, path: { candidateSourcedId: withHistory } };
    const answer = async (query: Query): Promise<string> =>
      reportsAnswerOf(await caller.call(listCandidateReports, { ...call, query: queryOf(query) }));
    const newest = attempts.at(-1)!.record.resultRecordId;
    const queries = [{ limit: '1' }, { limit: '100', testKind: 'formative' }];
    await change('results.settled_record', newest, '/testKind', 'quiz');
    for (const query of queries) expect(await answer(query)).toBe('200');
    await change('results.settled_record', newest, '/contentTestSpecVersion', 'another');
    for (const query of queries) expect(await answer(query)).toBe('503 dependency-unavailable results');
    await stack.control('POST', 'reset');
    // Of the oldest attempt only the last page knows.
    const oldest = attempts[0]!.record.resultRecordId;
    await change('results.settled_record', oldest, '/contentTestSpecVersion', 'another');
    expect(await answer({ limit: '1' })).toBe('200');
  });
});

describe('without the mastery engine’s proof with production learners', () => {
  it('adaptive diagnostics are passed over and counted, whatever is asked for, and every other attempt is there [RP-026]', async () => {
    await using stack = await startTestStack({
      proved: provable.filter((name) => name !== 'mastery_engine_production_learner'),
    });
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
  }, 60_000);
});
