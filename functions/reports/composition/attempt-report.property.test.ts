import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptReport, type AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { reportCriteria } from '#shared/platform/owners/content.ts';
import { attemptEvidence } from '#shared/platform/owners/qti.ts';
import { settledRecord } from '#shared/platform/owners/results.ts';
import { reportsDocument } from '#shared/problems/document.ts';
import { expectedReport } from '#test/support/expected-report.ts';
import {
  anExampleOf,
  attemptFacts,
  frozen,
  moment,
  problemsUrl,
  withRows,
} from '#test/support/report-facts.ts';
import { composeAttemptReport, projectAttemptReport, type ComposedAttempt } from './attempt-report.ts';
import type { ReportFacts } from '../facts/facts.ts';

/** Facts that belong together make a report, and are only read. */
function composed(facts: ReportFacts): ComposedAttempt {
  const result = composeAttemptReport(frozen(facts));
  if (!result.ok) throw new Error(result.error.detail);
  return result.value;
}

function whole(facts: ReportFacts): AttemptReport {
  return projectAttemptReport(composed(facts), 'evidence', moment, problemsUrl);
}

describe('the report of any attempt on which its owners agree', () => {
  it('is its owners’ own facts, member by member, and nothing else [RP-003, RP-005, RP-006, RP-009, RP-010, RP-012, RP-013, RP-014, RP-015, RP-044, RP-054, RP-055, RP-056, RP-057, RP-058, RP-060, RP-061, RP-066, RP-067, RP-068, RP-069, RP-071, RP-080, RP-081, RP-087, RP-091, RP-092, RP-093, RP-094, RP-098, RP-099, RP-106, RP-107, RP-108]', () => {
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        const { evidence, record, criteria, candidate, framework, enrichments } = facts;
        for (const [contract, { value }] of [
          [attemptEvidence, evidence],
          [settledRecord, record],
          [reportCriteria, criteria],
        ] as const)
          expect(contract.parse(value)).toEqual(value);
        const report = whole(facts);
        expect(attemptReport.parse(report)).toEqual(report);
        expect(report).toEqual({
          ...expectedReport(evidence.value, record.value, criteria.value),
          sources: [
            evidence.receipt,
            record.receipt,
            criteria.receipt,
            candidate,
            framework.receipt,
            ...enrichments.map(({ receipt }) => receipt),
          ],
          omitted: ['readiness'],
          incompleteSections: enrichments.flatMap(({ problem }) =>
            problem === undefined ? [] : [reportsDocument(problem, { ...moment, problemsUrl })],
          ),
          ...moment,
        });
      }),
    );
  });

  it('has up to 5,000 rows, 500 pieces of evidence in each and 250,000 in all, and is none beyond [RP-028, RP-064, RP-075, RP-095, RP-233]', () => {
    const facts = anExampleOf(attemptFacts(fc.constant('formative')));
    const whole = Array<number>(500).fill(500);
    const most = [Array<number>(5_000).fill(1), [1, 500, 1], whole];
    for (const rows of most) expect(composeAttemptReport(withRows(facts, rows))).toMatchObject({ ok: true });
    for (const rows of [Array<number>(5_001).fill(1), [1, 501, 1], [...whole, 1]])
      expect(composeAttemptReport(withRows(facts, rows))).toMatchObject({
        error: { status: 503, code: 'dependency-incomplete', dependency: 'results' },
      });
  });

  it('finds an outcome by item and outcome where neither alone tells outcomes apart, and none that QTI names twice [RP-096, RP-099]', () => {
    const outcomes = ['item-a', 'item-b', '__proto__'].flatMap((qtiItemId, item) =>
      ['SCORE', 'DURATION', 'constructor'].slice(item).map((qtiOutcomeId, variable) => ({
        qtiItemId,
        qtiOutcomeId,
        scoredAt: `2026-03-0${item + 1}T00:00:0${variable}Z`,
      })),
    );
    const facts = anExampleOf(attemptFacts(fc.constant('formative')));
    const { mastery } = facts.record.value;
    facts.evidence.value.administeredItemCount = 3;
    facts.evidence.value.outcomes = outcomes;
    mastery.splice(1);
    mastery[0]!.evidence = outcomes.toReversed().map(({ scoredAt, ...ids }) => ({
      ...ids,
      resultComponentId: null,
      contribution: Date.parse(scoredAt),
    }));
    expect(whole(structuredClone(facts)).mastery[0]?.evidence?.map(({ observedAt }) => observedAt)).toEqual(
      outcomes.toReversed().map(({ scoredAt }) => scoredAt),
    );
    for (const twice of outcomes) {
      facts.evidence.value.outcomes = [...outcomes, twice];
      expect(composeAttemptReport(facts)).toMatchObject({ error: { status: 503, dependency: 'qti' } });
    }
  });
});
