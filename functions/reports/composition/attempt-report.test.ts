import { describe, expect, it } from 'vitest';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { SettledMastery } from '#shared/platform/owners/results.ts';
import { problem } from '#shared/problems/registry.ts';
import { moment, problemsUrl, receipt } from '#test/support/report-facts.ts';
import {
  both,
  decided,
  nothing,
  ofKind,
  rows,
  rowsOf,
  says,
  shortfall,
  soundChild,
  soundGate,
  soundRow,
} from '#test/support/sound-attempt.ts';
import type { Change } from '#test/support/sound-attempt.ts';
import { composeAttemptReport, projectAttemptReport } from './attempt-report.ts';

type Facts = ReturnType<typeof soundGate>;

const sourcesOf = ({ evidence, record, criteria, candidate, framework }: Facts) => [
  evidence.receipt,
  record.receipt,
  criteria.receipt,
  candidate,
  framework.receipt,
];
const governed = (...governedCaseGuids: string[]): Change => {
  return ({ criteria }) => void Object.assign(criteria.value.criteria!, { governedCaseGuids });
};
const framework = (changedAt: string): Change => says('framework', { changedAt });
const administered = (count: number) => says('evidence', { administeredItemCount: count });
const gapRow: SettledMastery = { ...soundRow, state: 'gap', estimate: 0.2 };
const gapChild: SettledMastery = { ...soundChild, state: 'gap', estimate: 0.2 };
const failing = (...gapCaseGuids: string[]) => decided({ status: 'fail', achieved: 41, gapCaseGuids });
/** The receipts of these services have another status. */
const receiptsOf = (status: SourceRef['status'], ...services: readonly SourceService[]): Change => {
  return (facts) => {
    for (const source of sourcesOf(facts)) if (services.includes(source.service)) source.status = status;
  };
};

/** Facts that can all be true make a report. */
const reports: Readonly<Record<string, Change>> = {
  'of a pass beside mastered rows': nothing,
  'of a pass without rows [RP-045]': rows(),
  'of a fail that lists its gap': both(failing('fractions'), rows(gapRow, soundChild)),
  'of a fail that lists every gap': both(failing('adding', 'fractions'), rows(gapRow, gapChild)),
  'of a fail that lists a gap without a row': both(failing('decimals'), rows(soundRow)),
  'of a pass beside an ungoverned gap': both(governed('adding'), rows(gapRow, soundChild)),
  'of an undecided gate beside a gap that it does not list': both(
    says('criteria', { criteria: null }),
    rows(gapRow),
  ),
  'of a formative with gaps, which has no gate to list them': both(ofKind('formative'), rows(gapRow)),
  'on the framework of the test spec, in another spelling of the instant':
    framework('2026-01-10T00:00:00.000Z'),
  'on a framework that has changed since': framework('2026-01-10T00:00:00.000000001Z'),
  'when every administered item is scored': administered(2),
};

const services = ['qti', 'results', 'content', 'oneroster', 'case'] as const;
/** By owner and reason. */
const problems: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
  'qti unsettled': { 'QTI has not scored the attempt [RP-063]': says('evidence', { status: 'submitted' }) },
  'results unsettled': { 'a fact of the summary is missing [RP-062]': says('record', { score: null }) },
  'results stale': {
    'two receipts are stale, of the first [RP-087]': receiptsOf('stale', 'results', 'case'),
    'a source is stale and what it says cannot be true, for the first reason': both(
      receiptsOf('stale', 'results'),
      failing('adding'),
    ),
  },
  'case stale': {
    'the framework is older than the one of the test spec [RP-089]': framework(
      '2026-01-09T23:59:59.999999999Z',
    ),
  },
  'results missing': { 'a mastery row has no evidence [RP-095]': rows({ ...soundRow, evidence: [] }) },
  // The whole check of the gate's gaps.
  'results contradiction': {
    'a passed gate does not list a gap of its rows [RP-105]': rows(gapRow, soundChild),
    'a passed gate does not list a gap that its criteria govern [RP-105]': both(
      governed('fractions'),
      rows(gapRow, soundChild),
    ),
    'a failed gate does not list a gap of its rows [RP-105]': both(failing('adding'), rows(gapRow, gapChild)),
    'a listed gap is mastered [RP-105]': failing('adding'),
    // What else the invariants of a report judge: shared/contract/reports/invariants.
    'Results holds a row twice [RP-064]': rows(soundRow, soundRow),
  },
  'case missing': {
    'CASE does not have a listed gap [RP-105]': both(failing('nowhere'), rows()),
    'CASE does not have one of the listed gaps [RP-105]': both(failing('decimals', 'nowhere'), rows()),
  },
  'qti contradiction': { 'QTI has scored more items than it administered [RP-106]': administered(1) },
};

describe('the report of an attempt', () => {
  it.each(Object.entries(reports))('is made %s', (_, change) => {
    const facts = soundGate();
    change(facts);
    expect(composeAttemptReport(facts)).toMatchObject({
      ok: true,
      value: { sources: sourcesOf(facts), enrichmentProblems: [] },
    });
  });

  it.each(rowsOf(problems))('is a 503 that says %s when %s', (expected, _, change) => {
    const facts = soundGate();
    change(facts);
    expect(composeAttemptReport(facts)).toMatchObject(shortfall(expected));
  });

  it.each(
    services.flatMap((service) =>
      (['stale', 'unavailable', 'unknown'] as const).map((status) => [service, status] as const),
    ),
  )('is a 503 when the receipt of %s is %s [RP-028, RP-087]', (service, status) => {
    const facts = soundGate();
    receiptsOf(status, service)(facts);
    expect(composeAttemptReport(facts)).toMatchObject(shortfall(`${service} stale`));
  });
});

describe('a view of a report', () => {
  const failure = problem('reports', 'dependency-unavailable', 503, { dependency: 'caliper' });
  const events = receipt('caliper', 'urn:uuid:1', null);
  const { evidence, ...row } = soundRow;
  const shownRow = { ...row, evidence: [{ ...evidence[0], observedAt: '2026-03-02T09:00:00Z' }] };

  it.each([
    ['summary', [], ['mastery', 'itemEvidence', 'readiness']],
    ['standards', [row], ['itemEvidence', 'readiness']],
    ['evidence', [shownRow], ['readiness']],
  ] as const)(
    '%s differs in mastery and omitted alone [RP-065, RP-075, RP-076, RP-077]',
    (view, mastery, omitted) => {
      const facts = soundGate();
      rows(soundRow)(facts);
      facts.enrichments = [
        { receipt: events },
        { receipt: { ...events, status: 'unavailable' }, problem: failure },
      ];
      const composed = composeAttemptReport(facts);
      if (!composed.ok) throw new Error(composed.error.detail);
      expect(projectAttemptReport(composed.value, view, moment, problemsUrl)).toEqual({
        object: 'attempt_report',
        ...composed.value.header,
        mastery,
        omitted,
        sources: [...sourcesOf(facts), events, { ...events, status: 'unavailable' }],
        incompleteSections: [
          expect.objectContaining({
            type: `${problemsUrl}/dependency-unavailable`,
            status: 503,
            dependency: 'caliper',
            requestId: moment.requestId,
            traceId: moment.traceId,
          }),
        ],
        ...moment,
      });
    },
  );
});
