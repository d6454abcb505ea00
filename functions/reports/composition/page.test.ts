import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptReport } from '#shared/contract/reports/attempt-report.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { candidateAttempts } from '#shared/platform/owners/results.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import {
  anExampleOf,
  attemptFacts,
  frozen,
  indexLike,
  moment,
  problemsUrl,
  rowOf,
} from '#test/support/report-facts.ts';
import { composeAttemptReport, projectAttemptReport } from './attempt-report.ts';
import { checkIndex, composePageRow } from './page.ts';
import type { IndexRequest } from './page.ts';

// What a wrong or missing fact makes of the page: test/lemmas/contradictions.contract.test.ts; what the filters select:
// test/contract/reports/candidate-list.test.ts.

describe('a row of a candidate’s page', () => {
  it('is the summary of the same attempt’s report, with the receipts of what the page has read [RP-001, RP-003, RP-005, RP-133, RP-137]', () => {
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        const { row, context } = rowOf(frozen(facts));
        const result = composePageRow(row, context);
        const whole = composeAttemptReport({ ...facts, enrichments: [] });
        if (!whole.ok || !result.ok || result.value === undefined)
          throw new Error('the facts make no report');
        const summary = projectAttemptReport(result.value, 'summary', moment, problemsUrl);
        expect(attemptReport.parse(summary)).toEqual(summary);
        expect(summary).toEqual({
          ...projectAttemptReport(whole.value, 'summary', moment, problemsUrl),
          sources: [
            {
              ...context.index,
              resourceId: row.record.resultRecordId,
              version: row.record.version,
            },
            context.criteria.receipt,
            context.candidate,
          ],
        });
      }),
    );
  });

  it('is a 503 when record and row were modified at two times [RP-028]', () => {
    const { row, context } = rowOf(anExampleOf(attemptFacts()));
    for (const modifiedAt of ['1900-01-01T00:00:00Z', '2999-01-01T00:00:00Z'])
      expect(composePageRow({ ...row, modifiedAt }, context)).toMatchObject({
        error: { status: 503, code: 'dependency-incomplete', dependency: 'results', reason: 'contradiction' },
      });
  });
});

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
    const rows = fc.uniqueArray(attemptFacts(), {
      maxLength: 6,
      selector: ({ evidence }) => evidence.value.attemptId,
    });
    fc.assert(
      fc.property(rows, (attempts) => {
        const index = like.page(
          attempts
            .map((facts) => rowOf(facts).row)
            .toSorted(
              (a, b) =>
                compareInstants(b.modifiedAt, a.modifiedAt) ||
                Buffer.from(a.attemptId).compare(Buffer.from(b.attemptId)),
            ),
        );
        expect(candidateAttempts.parse(index)).toEqual(index);
        expect(checkIndex(frozen(index), { ...request, limit: 6 })).toBeUndefined();
      }),
      { numRuns: 50 },
    );
    expect(checkIndex(threeRows(), request)).toBeUndefined();
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
