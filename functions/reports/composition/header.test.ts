import { describe, expect, it } from 'vitest';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { RecordHeader, SettledGate } from '#shared/platform/owners/results.ts';
import { soundGate } from '#test/support/sound-attempt.ts';
import { composeHeader } from './header.ts';
import type { ComposedHeader } from './header.ts';

type Facts = ReturnType<typeof soundGate>;

function headerOf({ evidence, record, criteria, proved }: Facts): ReturnType<typeof composeHeader> {
  const gapRows = record.value.mastery.filter(({ state }) => state === 'gap').map(({ caseGuid }) => caseGuid);
  return composeHeader({
    attempt: evidence.value,
    record: record.value,
    criteria: criteria.value,
    gapRows,
    proved,
  });
}

/** What the sound gate shows. */
const sound: ComposedHeader = {
  attemptId: 'attempt-1',
  qtiSessionId: 'session-1',
  qtiTestId: 'form-1',
  resultRecordId: 'record-1',
  candidateSourcedId: 'learner-1',
  administrationId: 'administration-1',
  contentTestSpecId: 'spec-1',
  testKind: 'mastery_gate',
  status: 'scored',
  score: { value: 61, minimum: 0, maximum: 100, unit: 'percent', scaleVersion: null },
  gate: {
    status: 'pass',
    criteriaVersion: '4',
    achieved: 61,
    required: 60,
    gapCaseGuids: [],
    coverageEvidenceId: 'coverage-771',
  },
  diagnostic: null,
};
const gate = sound.gate!;
const score = sound.score;
const measured: NonNullable<RecordHeader['diagnostic']> = {
  scaleScore: 512.4,
  scaleVersion: '3',
  calibrationVersion: '7',
  standardError: 4.5,
  stoppingReason: 'max_items',
};
const shownDiagnostic = {
  ...measured,
  stoppingReason: 'max_items',
  administeredItemCount: 3,
  extNormsSet: null,
} as const;

type Change = (facts: Facts) => void;
const ofKind = (kind: string, change: Change = () => undefined): Change => {
  return (facts) => {
    facts.record.value.testKind = facts.criteria.value.testKind = kind;
    change(facts);
  };
};
/** An adaptive diagnostic with a measurement; the gate's decision and criteria are still there. */
const diagnostic = (change: Change = () => undefined): Change =>
  ofKind('adaptive_diagnostic', (facts) => {
    facts.record.value.diagnostic = { ...measured };
    change(facts);
  });
const scored = (changed: Partial<typeof score> | { unit: string }): Change => {
  return ({ record: { value } }) => {
    value.score = { ...score, ...changed };
  };
};
const decided = (changed: Partial<SettledGate>): Change => {
  return ({ record: { value } }) => {
    value.gate = { ...gate, ...changed };
  };
};

const headers: readonly (readonly [title: string, change: Change, shown: Partial<ComposedHeader>])[] = [
  ['is each owner’s own facts [RP-001, RP-005, RP-059]', () => undefined, {}],
  [
    'has no session where QTI has none [RP-056]',
    ({ evidence: { value } }) => {
      value.qtiSessionId = null;
    },
    { qtiSessionId: null },
  ],
  // Kinds.
  ['has no gate and no diagnostic on a formative [RP-066, RP-068]', ofKind('formative'), { gate: null }],
  [
    'shows a kind that the contract does not name as unknown, with neither [RP-060, RP-066, RP-068]',
    ofKind('quiz', ({ record }) => {
      record.value.diagnostic = { ...measured };
    }),
    { gate: null },
  ],
  [
    'has no diagnostic on a gate, whatever Results holds [RP-009, RP-068]',
    ({ record }) => {
      record.value.diagnostic = { ...measured };
    },
    {},
  ],
  [
    'has a diagnostic and no gate on an adaptive one, whatever Results holds [RP-012, RP-066, RP-068]',
    diagnostic(),
    { gate: null, diagnostic: shownDiagnostic },
  ],
  // Scores.
  [
    'shows the settled score, whatever the outcomes add up to [RP-003, RP-080]',
    scored({ value: 60.5 }),
    { score: { ...score, value: 60.5 } },
  ],
  [
    'shows no bounds where Results has none [RP-081]',
    scored({ value: 112, minimum: null, maximum: null }),
    { score: { ...score, value: 112, minimum: null, maximum: null } },
  ],
  [
    'keeps the version of a scale that is no mastery scale [RP-083]',
    scored({ unit: 'points', scaleVersion: '9' }),
    { score: { ...score, unit: 'points', scaleVersion: '9' } },
  ],
  [
    'shows a score on a mastery scale with its version [RP-083]',
    scored({ unit: 'mastery_scale', scaleVersion: '3' }),
    { score: { ...score, unit: 'mastery_scale', scaleVersion: '3' } },
  ],
  [
    'shows a unit that the contract does not name as unknown [RP-082]',
    scored({ unit: 'stanine' }),
    { score: { ...score, unit: 'unknown' } },
  ],
  // The status of the report.
  [
    'is scored on a failed gate [RP-061]',
    decided({ status: 'fail', achieved: 41 }),
    { gate: { ...gate, status: 'fail', achieved: 41 } },
  ],
  [
    'is indeterminate exactly when the gate is [RP-061, RP-104]',
    decided({ coverageEvidenceId: null }),
    { status: 'indeterminate', gate: { ...gate, status: 'indeterminate', coverageEvidenceId: null } },
  ],
  [
    'is unknown exactly when the gate is [RP-061, RP-104]',
    decided({ status: 'appealed' }),
    { status: 'unknown', gate: { ...gate, status: 'unknown' } },
  ],
  [
    'is scored where the decision of another kind would be indeterminate [RP-061]',
    ofKind('formative', decided({ coverageEvidenceId: null })),
    { gate: null },
  ],
  // Diagnostics.
  [
    'counts the items that QTI administered, one at least [RP-106]',
    diagnostic(({ evidence }) => {
      evidence.value.administeredItemCount = 1;
    }),
    { gate: null, diagnostic: { ...shownDiagnostic, administeredItemCount: 1 } },
  ],
  [
    'names the external scale only where the blueprint has a crosswalk to it [RP-013, RP-108]',
    diagnostic(({ criteria }) => {
      criteria.value.externalScale = { normsSet: 'norms-2024' };
    }),
    { gate: null, diagnostic: { ...shownDiagnostic, extNormsSet: 'norms-2024' } },
  ],
  [
    'shows a reason of stopping that the contract does not name as unknown [RP-107]',
    diagnostic(({ record }) => {
      record.value.diagnostic = { ...measured, stoppingReason: 'boredom' };
    }),
    { gate: null, diagnostic: { ...shownDiagnostic, stoppingReason: 'unknown' } },
  ],
  [
    'needs no proof of the mastery engine on a gate [RP-026]',
    (facts) => {
      facts.proved = new Set();
    },
    {},
  ],
];

const problems: readonly (readonly [
  title: string,
  change: Change,
  dependency: SourceService,
  reason: string,
])[] = [
  [
    'Results has not settled the record [RP-062]',
    ({ record }) => {
      record.value.settled = false;
    },
    'results',
    'unsettled',
  ],
  [
    'Results and Content name two kinds [RP-008]',
    ({ criteria }) => {
      criteria.value.testKind = 'formative';
    },
    'results',
    'contradiction',
  ],
  [
    'two kinds are named that the contract does not [RP-008]',
    ({ record, criteria }) => {
      record.value.testKind = 'quiz';
      criteria.value.testKind = 'riddle';
    },
    'results',
    'contradiction',
  ],
  [
    'there is no settled score [RP-062, RP-080]',
    ({ record }) => {
      record.value.score = null;
    },
    'results',
    'unsettled',
  ],
  ['a mastery scale has no version [RP-083]', scored({ unit: 'mastery_scale' }), 'results', 'unsettled'],
  [
    'no owner has criteria of a gate [RP-104]',
    ({ record, criteria }) => {
      record.value.gate = criteria.value.criteria = null;
    },
    'content',
    'unsettled',
  ],
  [
    'there is no proof of the mastery engine with production learners [RP-026]',
    diagnostic((facts) => {
      facts.proved = new Set(['A', 'B', 'C', 'D', 'F', 'candidate_attempt_index']);
    }),
    'mastery_engine',
    'unreleased',
  ],
  [
    'Results has no measurement of a diagnostic [RP-068]',
    ofKind('adaptive_diagnostic'),
    'results',
    'unsettled',
  ],
  [
    'QTI counts no item of a diagnostic [RP-106]',
    diagnostic(({ evidence }) => {
      evidence.value.administeredItemCount = 0;
    }),
    'qti',
    'unusable',
  ],
  // The facts that the invariants of a summary judge; what each of them holds: shared/contract/reports/invariants.
  ['the score lies outside its bounds [RP-081]', scored({ value: 100.5 }), 'results', 'unusable'],
  [
    'the gate is passed and lists a gap [RP-105]',
    decided({ gapCaseGuids: ['adding'] }),
    'results',
    'contradiction',
  ],
  [
    'score and diagnostic are on two scales [RP-012]',
    diagnostic(scored({ value: 512.4, maximum: null, unit: 'mastery_scale', scaleVersion: '4' })),
    'results',
    'contradiction',
  ],
];

describe('what every view of a report says', () => {
  it.each(headers)('%s', (_, change, shown) => {
    const facts = soundGate();
    change(facts);
    const testKind = { quiz: 'unknown' }[facts.criteria.value.testKind] ?? facts.criteria.value.testKind;
    expect(headerOf(facts)).toEqual({ ok: true, value: { ...sound, testKind, ...shown } });
  });

  it.each(problems)('is a 503 when %s', (_, change, dependency, reason) => {
    const facts = soundGate();
    change(facts);
    expect(headerOf(facts)).toMatchObject({
      ok: false,
      error: { status: 503, code: 'dependency-incomplete', dependency, reason },
    });
  });
});
