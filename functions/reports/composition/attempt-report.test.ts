import { describe, expect, it } from 'vitest';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SettledMastery } from '#shared/platform/owners/results.ts';
import { problem } from '#shared/problems/registry.ts';
import { moment, problemsUrl, receipt } from '#test/support/report-facts.ts';
import { soundChild, soundGate, soundRow } from '#test/support/sound-attempt.ts';
import { composeAttemptReport, projectAttemptReport } from './attempt-report.ts';

type Facts = ReturnType<typeof soundGate>;
type Change = (facts: Facts) => void;

const sourcesOf = ({ evidence, record, criteria, candidate, framework }: Facts) => [
  evidence.receipt,
  record.receipt,
  criteria.receipt,
  candidate,
  framework.receipt,
];
const both =
  (...changes: readonly Change[]): Change =>
  (facts) =>
    changes.forEach((change) => change(facts));
const rows = (...mastery: readonly SettledMastery[]): Change => {
  return ({ record }) => {
    record.value.mastery = [...mastery];
  };
};
const decided = (changed: object): Change => {
  return ({ record }) => {
    record.value.gate = { ...record.value.gate!, ...changed };
  };
};
const governed = (...governedCaseGuids: readonly string[]): Change => {
  return ({ criteria }) => {
    criteria.value.criteria = { ...criteria.value.criteria!, governedCaseGuids: [...governedCaseGuids] };
  };
};
const undecided: Change = ({ criteria }) => {
  criteria.value.criteria = null;
};
const ofKind = (kind: string): Change => {
  return ({ record, criteria }) => {
    record.value.testKind = criteria.value.testKind = kind;
  };
};
const framework = (changedAt: string, builtAt = '2026-01-10T00:00:00Z'): Change => {
  return (facts) => {
    facts.framework.value.changedAt = changedAt;
    facts.criteria.value.caseFrameworkChangedAt = builtAt;
  };
};
const administered = (count: number): Change => {
  return ({ evidence }) => {
    evidence.value.administeredItemCount = count;
  };
};
const gapRow: SettledMastery = { ...soundRow, state: 'gap', estimate: 0.2 };
const gapChild: SettledMastery = { ...soundChild, state: 'gap', estimate: 0.2 };
const failing = (...gapCaseGuids: readonly string[]) =>
  decided({ status: 'fail', achieved: 41, gapCaseGuids });

/** Facts that can all be true make a report. */
const reports: readonly (readonly [title: string, change: Change])[] = [
  ['of a pass beside mastered rows', () => undefined],
  ['of a pass without rows [RP-045]', rows()],
  ['of a fail that lists its gap', both(failing('fractions'), rows(gapRow, soundChild))],
  ['of a fail that lists every gap', both(failing('adding', 'fractions'), rows(gapRow, gapChild))],
  ['of a fail that lists a gap without a row', both(failing('decimals'), rows(soundRow))],
  [
    'of a pass beside a gap that its criteria do not govern',
    both(governed('adding'), rows(gapRow, soundChild)),
  ],
  ['of an undecided gate beside a gap that it does not list', both(undecided, rows(gapRow))],
  ['of a formative with gaps, which has no gate to list them', both(ofKind('formative'), rows(gapRow))],
  [
    'on the framework that the test spec was built on, in another spelling of the instant',
    framework('2026-01-10T00:00:00.000Z'),
  ],
  ['on a framework that has changed since', framework('2026-01-10T00:00:00.000000001Z')],
  ['when every administered item is scored', administered(2)],
];

type Problem = readonly [title: string, change: Change, dependency: SourceService, reason: string];
const problems: readonly Problem[] = [
  ...(['stale', 'unavailable', 'unknown'] as const).flatMap((status) =>
    (['qti', 'results', 'content', 'oneroster', 'case'] as const).map((service): Problem => [
      `the receipt of ${service} is ${status} [RP-028, RP-087]`,
      (facts) => {
        for (const source of sourcesOf(facts)) if (source.service === service) source.status = status;
      },
      service,
      'stale',
    ]),
  ),
  [
    'two receipts are stale, of the first [RP-087]',
    ({ record, framework: { receipt: held } }) => {
      record.receipt.status = held.status = 'stale';
    },
    'results',
    'stale',
  ],
  [
    'a source is stale and what it says cannot be true, for the first reason',
    (facts) => {
      facts.record.receipt.status = 'stale';
      failing('adding')(facts);
    },
    'results',
    'stale',
  ],
  [
    'QTI has not scored the attempt [RP-063]',
    ({ evidence }) => {
      evidence.value.status = 'submitted';
    },
    'qti',
    'unsettled',
  ],
  [
    'the framework is older than the one of the test spec [RP-089]',
    framework('2026-01-09T23:59:59.999999999Z'),
    'case',
    'stale',
  ],
  [
    'a fact of the summary is missing [RP-062]',
    ({ record }) => {
      record.value.score = null;
    },
    'results',
    'unsettled',
  ],
  ['a mastery row has no evidence [RP-095]', rows({ ...soundRow, evidence: [] }), 'results', 'missing'],
  // The whole check of the gate's gaps.
  [
    'a passed gate does not list a gap of its rows [RP-105]',
    rows(gapRow, soundChild),
    'results',
    'contradiction',
  ],
  [
    'a passed gate does not list a gap that its criteria govern [RP-105]',
    both(governed('fractions'), rows(gapRow, soundChild)),
    'results',
    'contradiction',
  ],
  [
    'a failed gate does not list a gap of its rows [RP-105]',
    both(failing('adding'), rows(gapRow, gapChild)),
    'results',
    'contradiction',
  ],
  ['a listed gap is mastered [RP-105]', failing('adding'), 'results', 'contradiction'],
  ['CASE does not have a listed gap [RP-105]', both(failing('nowhere'), rows()), 'case', 'missing'],
  [
    'CASE does not have one of the listed gaps [RP-105]',
    both(failing('decimals', 'nowhere'), rows()),
    'case',
    'missing',
  ],
  // What else the invariants of a report judge; what each of them holds: shared/contract/reports/invariants.
  ['QTI has scored more items than it administered [RP-106]', administered(1), 'qti', 'contradiction'],
  ['Results holds a row twice [RP-064]', rows(soundRow, soundRow), 'results', 'contradiction'],
];

describe('the report of an attempt', () => {
  it.each(reports)('is made %s', (_, change) => {
    const facts = soundGate();
    change(facts);
    expect(composeAttemptReport(facts)).toMatchObject({
      ok: true,
      value: { sources: sourcesOf(facts), enrichmentProblems: [] },
    });
  });

  it.each(problems)('is a 503 when %s', (_, change, dependency, reason) => {
    const facts = soundGate();
    change(facts);
    expect(composeAttemptReport(facts)).toMatchObject({
      ok: false,
      error: { status: 503, code: 'dependency-incomplete', dependency, reason },
    });
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
