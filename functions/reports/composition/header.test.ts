import { describe, expect, it } from 'vitest';
import type { Provable } from '#shared/contract/gates.ts';
import type { RecordHeader } from '#shared/platform/owners/results.ts';
import {
  both,
  decided,
  nothing,
  ofKind,
  rowsOf,
  says,
  shortfall,
  soundGate,
} from '#test/support/sound-attempt.ts';
import type { Change } from '#test/support/sound-attempt.ts';
import { composeHeader, type ComposedHeader } from './header.ts';

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

/** An adaptive diagnostic with a measurement; the gate's decision and criteria are still there. */
const diagnostic = (change: Change = nothing): Change =>
  both(ofKind('adaptive_diagnostic'), says('record', { diagnostic: { ...measured } }), change);
const proving = (...proved: readonly Provable[]): Change => {
  return (facts) => {
    facts.proved = new Set(proved);
  };
};
const scored = (changed: Partial<typeof score> | { unit: string }): Change =>
  says('record', { score: { ...score, ...changed } });
/** What is shown of a diagnostic. */
const shownAs = (changed: object = {}) => ({ gate: null, diagnostic: { ...shownDiagnostic, ...changed } });

const headers: Readonly<Record<string, readonly [change: Change, shown: object]>> = {
  'is each owner’s own facts [RP-001, RP-005, RP-059]': [nothing, {}],
  'has no session where QTI has none [RP-056]': [
    says('evidence', { qtiSessionId: null }),
    { qtiSessionId: null },
  ],
  // Kinds.
  'has no gate and no diagnostic on a formative [RP-066, RP-068]': [ofKind('formative'), { gate: null }],
  'shows a kind that the contract does not name as unknown, with neither [RP-060, RP-066, RP-068]': [
    both(ofKind('quiz'), says('record', { diagnostic: { ...measured } })),
    { gate: null },
  ],
  'has no diagnostic on a gate, whatever Results holds [RP-009, RP-068]': [
    says('record', { diagnostic: { ...measured } }),
    {},
  ],
  'has a diagnostic and no gate on an adaptive one, whatever Results holds [RP-012, RP-066, RP-068]': [
    diagnostic(),
    shownAs(),
  ],
  // Scores.
  ...Object.fromEntries(
    [
      ['the settled score, whatever the outcomes add up to [RP-003, RP-080]', { value: 60.5 }],
      ['no bounds where Results has none [RP-081]', { value: 112, minimum: null, maximum: null }],
      ['the version of a scale that is no mastery scale [RP-083]', { unit: 'points', scaleVersion: '9' }],
      ['a mastery scale with its version [RP-083]', { unit: 'mastery_scale', scaleVersion: '3' }],
    ].map(([title, change]) => [
      `shows ${title as string}`,
      [scored(change as object), { score: { ...score, ...(change as object) } }] as const,
    ]),
  ),
  'shows a unit that the contract does not name as unknown [RP-082]': [
    scored({ unit: 'stanine' }),
    { score: { ...score, unit: 'unknown' } },
  ],
  // The status of the report.
  'is scored on a failed gate [RP-061]': [
    decided({ status: 'fail', achieved: 41 }),
    { gate: { ...gate, status: 'fail', achieved: 41 } },
  ],
  'is indeterminate exactly when the gate is [RP-061, RP-104]': [
    decided({ coverageEvidenceId: null }),
    { status: 'indeterminate', gate: { ...gate, status: 'indeterminate', coverageEvidenceId: null } },
  ],
  'is unknown exactly when the gate is [RP-061, RP-104]': [
    decided({ status: 'appealed' }),
    { status: 'unknown', gate: { ...gate, status: 'unknown' } },
  ],
  'is scored where the decision of another kind would be indeterminate [RP-061]': [
    both(ofKind('formative'), decided({ coverageEvidenceId: null })),
    { gate: null },
  ],
  // Diagnostics.
  'counts the items that QTI administered, one at least [RP-106]': [
    diagnostic(says('evidence', { administeredItemCount: 1 })),
    shownAs({ administeredItemCount: 1 }),
  ],
  'names the external scale only where the blueprint has a crosswalk to it [RP-013, RP-108]': [
    diagnostic(says('criteria', { externalScale: { normsSet: 'norms-2024' } })),
    shownAs({ extNormsSet: 'norms-2024' }),
  ],
  'shows a reason of stopping that the contract does not name as unknown [RP-107]': [
    diagnostic(says('record', { diagnostic: { ...measured, stoppingReason: 'boredom' } })),
    shownAs({ stoppingReason: 'unknown' }),
  ],
  'needs no proof of the mastery engine on a gate [RP-026]': [proving(), {}],
};

/** By owner and reason; the facts that the invariants of a summary judge: shared/contract/reports/invariants. */
const problems: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
  'results unsettled': {
    'Results has not settled the record [RP-062]': says('record', { settled: false }),
    'there is no settled score [RP-062, RP-080]': says('record', { score: null }),
    'a mastery scale has no version [RP-083]': scored({ unit: 'mastery_scale' }),
    'Results has no measurement of a diagnostic [RP-068]': ofKind('adaptive_diagnostic'),
  },
  'results contradiction': {
    'Results and Content name two kinds [RP-008]': says('criteria', { testKind: 'formative' }),
    'two kinds are named that the contract does not [RP-008]': both(
      says('record', { testKind: 'quiz' }),
      says('criteria', { testKind: 'riddle' }),
    ),
    'the gate is passed and lists a gap [RP-105]': decided({ gapCaseGuids: ['adding'] }),
    'score and diagnostic are on two scales [RP-012]': diagnostic(
      scored({ value: 512.4, maximum: null, unit: 'mastery_scale', scaleVersion: '4' }),
    ),
  },
  'results unusable': { 'the score lies outside its bounds [RP-081]': scored({ value: 100.5 }) },
  'content unsettled': {
    'no owner has criteria of a gate [RP-104]': both(
      says('record', { gate: null }),
      says('criteria', { criteria: null }),
    ),
  },
  'mastery_engine unreleased': {
    'there is no proof of the mastery engine with production learners [RP-026]': diagnostic(
      proving('A', 'B', 'C', 'D', 'F', 'candidate_attempt_index'),
    ),
  },
  'qti unusable': {
    'QTI counts no item of a diagnostic [RP-106]': diagnostic(says('evidence', { administeredItemCount: 0 })),
  },
};

describe('what every view of a report says', () => {
  it.each(Object.entries(headers))('%s', (_, [change, shown]) => {
    const facts = soundGate();
    change(facts);
    const testKind = { quiz: 'unknown' }[facts.criteria.value.testKind] ?? facts.criteria.value.testKind;
    expect(headerOf(facts)).toEqual({ ok: true, value: { ...sound, testKind, ...shown } });
  });

  it.each(rowsOf(problems))('is a 503 that says %s when %s', (expected, _, change) => {
    const facts = soundGate();
    change(facts);
    expect(headerOf(facts)).toMatchObject(shortfall(expected));
  });
});
