import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptReport, masteryRow, score, view } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { reportCriteria } from '#shared/platform/owners/content.ts';
import { attemptEvidence } from '#shared/platform/owners/qti.ts';
import { settledRecord } from '#shared/platform/owners/results.ts';
import { attemptFacts, frozen, moment } from '#test/support/report-facts.ts';
import { composeAttemptReport, projectAttemptReport } from './attempt-report.ts';
import type { ComposedAttempt } from './attempt-report.ts';
import type { ReportFacts } from '../facts/facts.ts';

/** Facts that belong together make a report, and are only read. */
function composed(facts: ReportFacts): ComposedAttempt {
  const result = composeAttemptReport(frozen(facts));
  expect(result).toMatchObject({ ok: true });
  if (!result.ok) throw new Error(result.error.detail);
  return result.value;
}

function whole(facts: ReportFacts): AttemptReport {
  return projectAttemptReport(composed(facts), 'evidence', moment);
}

describe('the report of any attempt on which its owners agree', () => {
  it('is about facts that their owners’ contracts allow', () => {
    fc.assert(
      fc.property(attemptFacts(), ({ evidence, record, criteria }) => {
        expect(attemptEvidence.parse(evidence.value)).toEqual(evidence.value);
        expect(settledRecord.parse(record.value)).toEqual(record.value);
        expect(reportCriteria.parse(criteria.value)).toEqual(criteria.value);
      }),
    );
  });

  it('has the shape of a report in every view [RP-044, RP-054, RP-059, RP-066, RP-068, RP-070, RP-096, RP-106]', () => {
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        const report = composed(facts);
        for (const each of view.options) {
          const body = projectAttemptReport(report, each, moment);
          expect(attemptReport.parse(body)).toEqual(body);
        }
      }),
    );
  });

  it('shows the score that Results has settled, whatever the contributions add up to [RP-003, RP-080, RP-098]', () => {
    fc.assert(
      fc.property(
        attemptFacts(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (facts, contribution) => {
          const other = structuredClone(facts);
          for (const { evidence } of other.record.value.mastery)
            for (const part of evidence) part.contribution = contribution;
          const settled = facts.record.value.score;
          for (const each of [facts, other]) {
            const shown = whole(each);
            expect(shown.score).toEqual({
              ...settled,
              unit: score.shape.unit.options.find((unit) => unit === settled?.unit) ?? 'unknown',
            });
          }
          for (const { evidence = [] } of whole(other).mastery)
            for (const part of evidence) expect(part.contribution).toBe(contribution);
        },
      ),
    );
  });

  it('differs between views in nothing but the projection [RP-065, RP-075, RP-076, RP-077]', () => {
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        const report = composed(facts);
        const [summary, standards, evidence] = view.options.map((each) =>
          projectAttemptReport(report, each, moment),
        );
        const rows = evidence!.mastery;
        expect(rows).toHaveLength(facts.record.value.mastery.length);
        expect(evidence!.omitted).toEqual(['readiness']);
        expect(standards).toEqual({
          ...evidence,
          mastery: rows.map((row) => {
            const standard = { ...row };
            delete standard.evidence;
            return standard;
          }),
          omitted: ['itemEvidence', 'readiness'],
        });
        expect(standards!.mastery.some((row) => 'evidence' in row)).toBe(false);
        expect(summary).toEqual({
          ...evidence,
          mastery: [],
          omitted: ['mastery', 'itemEvidence', 'readiness'],
        });
      }),
    );
  });

  it('passes every id on as it came [RP-005, RP-055, RP-056, RP-057, RP-058]', () => {
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        const { evidence, record } = facts;
        const report = whole(facts);
        const {
          attemptId,
          qtiSessionId,
          qtiTestId,
          candidateSourcedId,
          administrationId,
          contentTestSpecId,
        } = evidence.value;
        expect(report).toMatchObject({
          attemptId,
          qtiSessionId,
          qtiTestId,
          candidateSourcedId,
          administrationId,
          contentTestSpecId,
          resultRecordId: record.value.resultRecordId,
        });
        expect(
          report.mastery.map(({ kind, caseGuid, parentCaseGuid }) => [kind, caseGuid, parentCaseGuid]),
        ).toEqual(
          record.value.mastery.map(({ kind, caseGuid, parentCaseGuid }) => [kind, caseGuid, parentCaseGuid]),
        );
        expect(
          report.mastery.map((row) =>
            row.evidence?.map(({ qtiItemId, qtiOutcomeId, resultComponentId, contribution }) => ({
              qtiItemId,
              qtiOutcomeId,
              resultComponentId,
              contribution,
            })),
          ),
        ).toEqual(record.value.mastery.map((row) => row.evidence));
        expect(report.gate?.gapCaseGuids ?? []).toEqual(
          report.gate === null ? [] : (record.value.gate?.gapCaseGuids ?? []),
        );
      }),
    );
  });

  it('passes every number and version of a row on, and calls `unknown` what it has no name for [RP-091, RP-092, RP-093, RP-094]', () => {
    const { state: states, uncertaintyKind: kinds } = masteryRow.shape;
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        for (const [at, row] of whole(facts).mastery.entries()) {
          const settled = facts.record.value.mastery[at]!;
          const { estimate, threshold, uncertainty, policyId, policyVersion } = settled;
          expect(row).toMatchObject({ estimate, threshold, uncertainty, policyId, policyVersion });
          expect(row.state).toBe(states.options.find((name) => name === settled.state) ?? 'unknown');
          expect(row.uncertaintyKind).toBe(
            kinds.options.find((name) => name === settled.uncertaintyKind) ?? 'unknown',
          );
        }
      }),
    );
  });

  it('dates every piece of evidence as QTI does, by item and outcome [RP-099]', () => {
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        for (const { evidence = [] } of whole(facts).mastery)
          for (const { qtiItemId, qtiOutcomeId, observedAt } of evidence)
            expect(facts.evidence.value.outcomes).toContainEqual({
              qtiItemId,
              qtiOutcomeId,
              scoredAt: observedAt,
            });
      }),
    );
  });

  it('has a receipt of every owner that was consulted, in one order [RP-006, RP-069, RP-087]', () => {
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        const { sources } = whole(facts);
        expect(sources).toEqual([
          facts.evidence.receipt,
          facts.record.receipt,
          facts.criteria.receipt,
          facts.candidate,
          facts.framework.receipt,
          ...facts.enrichments.map(({ receipt }) => receipt),
        ]);
        expect(sources.slice(0, 5).map(({ service, status }) => [service, status])).toEqual(
          ['qti', 'results', 'content', 'oneroster', 'case'].map((service) => [service, 'current']),
        );
      }),
    );
  });

  it('never passes a gate without criteria or coverage evidence [RP-011, RP-103]', () => {
    fc.assert(
      fc.property(attemptFacts(fc.constant('mastery_gate')), (facts) => {
        const { gate: settled } = facts.record.value;
        const { criteria } = facts.criteria.value;
        const isMissing =
          settled === null ||
          settled.coverageEvidenceId === null ||
          settled.criteriaVersion === null ||
          settled.required === null ||
          criteria === null;
        const { gate, status } = whole(facts);
        if (isMissing) expect(gate?.status).toBe('indeterminate');
        else expect(gate?.status).toBe(settled.status === 'appealed' ? 'unknown' : settled.status);
        // The reading of RP-104.
        expect(status).toBe(gate?.status === 'indeterminate' ? 'indeterminate' : 'scored');
      }),
    );
  });
});
