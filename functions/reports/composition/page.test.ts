import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptReport } from '#shared/contract/reports/attempt-report.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import { candidateAttempts, type CandidateAttempts } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import {
  anExampleOf,
  attemptFacts,
  frozen,
  indexLike,
  moment,
  passedGate,
  problemsUrl,
  rowOf,
} from '#test/support/report-facts.ts';
import type { IndexRow, ReportFacts } from '../facts/facts.ts';
import { composeAttemptReport, projectAttemptReport, type ComposedAttempt } from './attempt-report.ts';
import { checkIndex, composePageRow, frameworkOf, verifyPageRow, withheldFor } from './page.ts';
import type { IndexRequest } from './page.ts';

// What a wrong or missing fact makes of the page: test/lemmas/contradictions.contract.test.ts; that every row of the seed is the summary of
// its report, whatever is wrong: test/lemmas/page-and-report.contract.test.ts; what the filters select: test/contract/lists.test.ts.

/** The row of an attempt's page, composed and held against CASE. */
function pageRowOf(facts: ReportFacts): Result<ComposedAttempt, Problem> {
  const { row, context } = rowOf(facts);
  const composed = composePageRow(row, context);
  if (!composed.ok) return composed;
  return frameworkOf(composed.value) === undefined
    ? ok(composed.value.report)
    : verifyPageRow(composed.value, facts.framework);
}

/** The summary of an attempt, without what says from whom it was heard. */
function summaryOf(composed: ComposedAttempt): object {
  const { sources, ...summary } = projectAttemptReport(composed, 'summary', moment, problemsUrl);
  expect(sources).not.toEqual([]);
  expect(attemptReport.parse({ ...summary, sources })).toEqual({ ...summary, sources });
  return summary;
}

describe('a row of a candidate’s page', () => {
  it('is the summary of the same attempt’s report, with the receipts of what the page has read [RP-001, RP-003, RP-005, RP-133, RP-137]', () => {
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        const result = pageRowOf(frozen(facts));
        const whole = composeAttemptReport({ ...facts, enrichments: [] });
        if (!whole.ok || !result.ok) throw new Error('the facts make no report');
        expect(summaryOf(result.value)).toEqual(summaryOf(whole.value));
        const { index, criteria, candidate } = rowOf(facts).context;
        const { resultRecordId, version, testKind } = facts.record.value;
        expect(result.value.sources).toEqual([
          { ...index, resourceId: resultRecordId, version },
          criteria.receipt,
          candidate,
          ...(testKind === 'mastery_gate' ? [facts.framework.receipt] : []),
        ]);
      }),
    );
  });

  it('is withheld when record and row were modified at two times [RP-028]', () => {
    const { row, context } = rowOf(anExampleOf(attemptFacts()));
    for (const modifiedAt of ['1900-01-01T00:00:00Z', '2999-01-01T00:00:00Z']) {
      const result = composePageRow({ ...row, modifiedAt }, context);
      expect(result).toMatchObject({ error: { dependency: 'results', reason: 'contradiction' } });
      expect(result.ok || withheldFor(result.error)).toBe('unverified');
    }
  });

  it.each<[string, (facts: ReportFacts, row: IndexRow) => void, string]>([
    ['of a gate whose gap rows are not known', (_, row) => delete row.record!.gapRowCaseGuids, 'unverified'],
    [
      'of an undecided gate whose gap rows are not known',
      (facts, row) => {
        facts.record.value.gate!.status = 'indeterminate';
        delete row.record!.gapRowCaseGuids;
      },
      'unverified',
    ],
    [
      'of an undecided gate with a gap row that CASE does not have [RP-105]',
      (facts, row) => {
        facts.record.value.gate!.status = 'indeterminate';
        row.record!.gapRowCaseGuids = ['nowhere'];
      },
      'unverified',
    ],
    [
      'of a passed gate with a gap row [RP-105]',
      (_, row) => (row.record!.gapRowCaseGuids = ['a']),
      'unverified',
    ],
    [
      'of a failed gate that lists what CASE does not have [RP-105]',
      ({ record: { value } }) =>
        Object.assign(value.gate!, { status: 'fail', achieved: 0.7, gapCaseGuids: ['nowhere'] }),
      'unverified',
    ],
    ['without a record', (_, row) => (row.record = null), 'unsettled'],
    ['whose record is not settled', (_, row) => (row.record!.settled = false), 'unsettled'],
    ['whose record is old', (_, row) => (row.record!.freshness = 'stale'), 'stale'],
    ['whose framework is old', (facts) => age(facts), 'stale'],
  ])('%s is withheld: %s', (_, spoil, reason) => {
    const facts = passedGate();
    const { row, context } = rowOf(facts);
    spoil(facts, row);
    const composed = composePageRow(row, context);
    const result = composed.ok ? verifyPageRow(composed.value, facts.framework) : composed;
    expect(result.ok || withheldFor(result.error)).toBe(reason);
  });

  it.each<[string, (row: IndexRow, facts: ReportFacts) => void, string]>([
    ['of another attempt', (row) => (row.record!.attemptId += '+'), 'results'],
    ['of another candidate', (row) => (row.record!.candidateSourcedId += '+'), 'results'],
    ['of another test spec', (row) => (row.record!.contentTestSpecId += '+'), 'results'],
    ['under another version of it', (row) => (row.record!.contentTestSpecVersion += '+'), 'results'],
    ['decided under other criteria', (row) => (row.record!.gate!.criteriaVersion = 'another'), 'results'],
    [
      'whose criteria are of another version',
      (_, { criteria }) => (criteria.value.version += '+'),
      'content',
    ],
  ])('with a record %s makes no page [RP-017, RP-133]', (_, spoil, owner) => {
    const facts = passedGate();
    const { row, context } = rowOf(facts);
    spoil(row, facts);
    const result = composePageRow(row, context);
    expect(result).toMatchObject({ error: { code: 'dependency-unavailable', dependency: owner } });
    expect(result.ok || withheldFor(result.error)).toBeUndefined();
  });

  it('has no more gap rows than a report can carry [RP-064]', () => {
    const { row, context } = rowOf(anExampleOf(attemptFacts(fc.constant('formative'))));
    const reasonOf = (count: number): unknown => {
      row.record.gapRowCaseGuids = Array<string>(count).fill('a');
      const result = composePageRow(row, context);
      return result.ok || withheldFor(result.error);
    };
    expect([reasonOf(5_000), reasonOf(5_001)]).toEqual([true, 'unverified']);
  });

  it('needs a framework only where it has a gate', () => {
    for (const [kind, guid] of [
      ['mastery_gate', 'framework-1'],
      ['formative', undefined],
      ['adaptive_diagnostic', undefined],
    ] as const) {
      const facts = anExampleOf(attemptFacts(fc.constant(kind)));
      facts.criteria.value.caseFrameworkGuid = 'framework-1';
      const { row, context } = rowOf(facts);
      const composed = composePageRow(row, context);
      if (!composed.ok) throw new Error(composed.error.detail);
      expect(frameworkOf(composed.value)).toBe(guid);
      // Nothing is asked of the rows of a test without a gate.
      if (guid === undefined) {
        delete row.record.gapRowCaseGuids;
        expect(composePageRow(row, context)).toEqual({
          ok: true,
          value: { ...composed.value, facts: { ...composed.value.facts, gapRows: undefined } },
        });
      }
    }
  });
});

/** Its test spec was built on a newer framework. */
function age({ framework, criteria }: ReportFacts): void {
  criteria.value.caseFrameworkChangedAt = '2026-03-01T00:00:00Z';
  Object.assign(framework.value, { changedAt: '2026-02-28T23:59:59.999999999Z' });
}

const like = indexLike(anExampleOf(attemptFacts()));

/** Three rows, the last two of one instant that is written in two ways. */
const threeRows = (): CandidateAttempts =>
  like.page(
    [
      ['attempt-z', '2026-03-02T10:15:30.000000001Z'],
      ['attempt-a', '2026-03-02T10:15:30Z'],
      ['attempt-b', '2026-03-02T10:15:30.000Z'],
    ].map(([attemptId = '', modifiedAt = '']) => ({ ...like.row(0), attemptId, modifiedAt })),
    true,
  );

const { candidateSourcedId } = like;
const request: IndexRequest = { candidateSourcedId, filters: {}, limit: 3 };

describe('an answer of the index', () => {
  it('is taken when it holds the candidate’s rows in their order, none included [RP-301, RP-306]', () => {
    for (const index of [threeRows(), { ...threeRows(), rows: [], hasMore: false }]) {
      expect(candidateAttempts.parse(index)).toEqual(index);
      expect(checkIndex(frozen(index), request)).toBeUndefined();
    }
  });

  it('is taken beside an earlier read for the same page that gave other attempts', () => {
    const earlier = [{ modifiedAt: '2026-03-03T00:00:00Z', attemptId: 'attempt-c' }];
    expect(checkIndex(threeRows(), { ...request, earlier, after: earlier[0] })).toBeUndefined();
  });

  it('has to begin after the row that the page before ended with [RP-301]', () => {
    const after = (modifiedAt: string, attemptId: string): unknown =>
      checkIndex(threeRows(), { ...request, after: { modifiedAt, attemptId } });
    expect(after('2026-03-02T10:15:30.000000002Z', 'attempt-zz')).toBeUndefined();
    expect(after('2026-03-02T10:15:30.000000001Z', 'attempt-y')).toBeUndefined();
    expect(after('2026-03-02T10:15:30.000000001Z', 'attempt-z')).toMatchObject({ dependency: 'results' });
    expect(after('2026-03-02T10:15:30.000Z', 'attempt-0')).toMatchObject({ dependency: 'results' });
  });

  it('orders ids by their bytes [RP-301]', () => {
    const [first] = threeRows().rows;
    // As UTF-16 the first of these would stand behind the second.
    const rows = ['attempt-\uff71', 'attempt-🦉'].map((attemptId) => ({ ...first!, attemptId }));
    expect(checkIndex({ ...threeRows(), rows }, request)).toBeUndefined();
    expect(checkIndex({ ...threeRows(), rows: rows.toReversed() }, request)).toMatchObject({ status: 503 });
  });

  it('takes a row that was modified at the very bound [RP-300]', () => {
    const bounded = (modifiedSince: string): unknown =>
      checkIndex(threeRows(), { ...request, filters: { modifiedSince } });
    expect(bounded('2026-03-02T10:15:30.0Z')).toBeUndefined();
    expect(bounded('2026-03-02T10:15:30.000000001Z')).toMatchObject({ dependency: 'results' });
  });

  it.each<[string, (index: CandidateAttempts) => unknown, Partial<IndexRequest>]>([
    ['a stale index [RP-087]', (index) => (index.freshness = 'stale'), {}],
    ['an index of unknown age [RP-087]', (index) => (index.freshness = 'unknown'), {}],
    ['more rows than were asked for', () => undefined, { limit: 2 }],
    ['more to come after nothing', (index) => (index.rows = []), {}],
    [
      'a row of another form [RP-295, RP-305]',
      ({ rows }) => (rows[1]!.qtiTestId += '+'),
      { filters: { qtiTestId: 'form' } },
    ],
    ['rows in another order [RP-301]', ({ rows }) => rows.reverse(), {}],
    ['ties in another order [RP-301]', ({ rows }) => rows.splice(1, 2, rows[2]!, rows[1]!), {}],
    ['a row twice', ({ rows }) => rows.splice(1, 1, rows[0]!), {}],
    ['an attempt twice, at two times', ({ rows }) => (rows[2]!.attemptId = 'attempt-z'), {}],
    [
      'an attempt of an earlier read',
      () => undefined,
      { earlier: [{ modifiedAt: '2026-03-03T00:00:00Z', attemptId: 'attempt-b' }] },
    ],
  ])('is a 503 that names Results for %s', (_, spoil, asked) => {
    const index = threeRows();
    for (const row of index.rows) row.qtiTestId = 'form';
    spoil(index);
    expect(checkIndex(index, { ...request, ...asked })).toMatchObject({
      status: 503,
      code: 'dependency-incomplete',
      dependency: 'results',
    });
  });

  it('is none when it is about another candidate [RP-133]', () => {
    const index = { ...threeRows(), candidateSourcedId: `${candidateSourcedId}x` };
    expect(checkIndex(index, request)).toMatchObject({
      status: 503,
      code: 'dependency-unavailable',
      dependency: 'results',
    });
  });
});
