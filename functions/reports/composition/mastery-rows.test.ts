import { describe, expect, it } from 'vitest';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import { soundChild, soundGate, soundRow } from '#test/support/sound-attempt.ts';
import { composeMastery } from './mastery-rows.ts';

// How many rows and how much evidence a report can carry: attempt-report.property.test.ts.

type Facts = ReturnType<typeof soundGate>;
type Change = (facts: Facts) => void;

function masteryOf({ evidence, record, framework }: Facts): ReturnType<typeof composeMastery> {
  return composeMastery(record.value.mastery, evidence.value, framework.value);
}

const rowed = (...rows: readonly Partial<typeof soundRow>[]): Change => {
  return ({ record }) => {
    record.value.mastery = rows.map((row) => ({ ...soundRow, ...row }));
  };
};
const child = (parentCaseGuid: string | null): Change => rowed({ ...soundChild, parentCaseGuid });
const outcome = (qtiItemId: string, qtiOutcomeId = 'SCORE', scoredAt = '2026-03-02T09:00:00Z') => ({
  qtiItemId,
  qtiOutcomeId,
  scoredAt,
});
const [piece] = soundRow.evidence;
const outcomes = (...all: readonly ReturnType<typeof outcome>[]): Change => {
  return ({ evidence }) => {
    evidence.value.outcomes = [...all];
  };
};
const both =
  (...changes: readonly Change[]): Change =>
  (facts) =>
    changes.forEach((change) => change(facts));

describe('the mastery of an attempt', () => {
  it('is the rows of Results, with the time of each outcome from QTI [RP-092, RP-093, RP-094, RP-096, RP-097, RP-098, RP-099]', () => {
    const { evidence, ...row } = soundRow;
    const { evidence: ofChild, ...component } = soundChild;
    expect(masteryOf(soundGate())).toEqual({
      ok: true,
      value: {
        rows: [
          { row, evidence: [{ ...evidence[0], observedAt: '2026-03-02T09:00:00Z' }] },
          {
            row: component,
            evidence: [
              { ...ofChild[0], observedAt: '2026-03-02T09:00:00Z' },
              { ...ofChild[1], observedAt: '2026-03-02T09:05:00Z' },
            ],
          },
        ],
        scoredItemCount: 2,
      },
    });
  });

  const sound: readonly (readonly [title: string, change: Change, row: object])[] = [
    ['has a component under any of its parents [RP-090]', child('decimals'), { parentCaseGuid: 'decimals' }],
    [
      'has a root that CASE lists with no parent [RP-090]',
      ({ framework }) => {
        framework.value.parents.set('fractions', []);
      },
      { parentCaseGuid: null },
    ],
    ['shows an estimate of 0 [RP-092]', rowed({ state: 'gap', estimate: 0 }), { state: 'gap', estimate: 0 }],
    ['shows a threshold of 0 [RP-092]', rowed({ threshold: 0 }), { threshold: 0 }],
    ...['not_yet', 'insufficient_evidence'].map(
      (state) => [`shows ${state} as it is [RP-091]`, rowed({ state }), { state }] as const,
    ),
    [
      'shows a state that the contract does not name as unknown [RP-091]',
      rowed({ state: 'enlightened' }),
      { state: 'unknown' },
    ],
    ...['standard_error', 'interval_half_width'].map(
      (uncertaintyKind) =>
        [
          `shows ${uncertaintyKind} as it is [RP-093]`,
          rowed({ uncertaintyKind }),
          { uncertaintyKind },
        ] as const,
    ),
    [
      'shows a kind of uncertainty that the contract does not name as unknown [RP-093]',
      rowed({ uncertaintyKind: 'gut' }),
      { uncertaintyKind: 'unknown' },
    ],
  ];
  it.each(sound)('%s', (_, change, row) => {
    const facts = soundGate();
    change(facts);
    const mastery = masteryOf(facts);
    if (!mastery.ok) throw new Error(mastery.error.detail);
    expect(mastery.value.rows[0]?.row).toMatchObject(row);
  });

  it.each([
    ['no items when nothing is scored', both(rowed(), outcomes()), 0],
    [
      'an item with two outcomes once',
      outcomes(outcome('item-1'), outcome('item-2'), outcome('item-1', 'TIME'), outcome('item-1', 'HINTS')),
      2,
    ],
  ] as const)('counts %s', (_, change, scoredItemCount) => {
    const facts = soundGate();
    change(facts);
    expect(masteryOf(facts)).toMatchObject({ ok: true, value: { scoredItemCount } });
  });

  const problems: readonly (readonly [string, Change, SourceService, string])[] = [
    ['a row has no evidence [RP-095]', rowed({ evidence: [] }), 'results', 'missing'],
    ['an estimate is not settled [RP-092]', rowed({ estimate: null }), 'results', 'missing'],
    ['a threshold is not settled [RP-092]', rowed({ threshold: null }), 'results', 'missing'],
    ['CASE does not have the GUID of a row [RP-089]', rowed({ caseGuid: 'nowhere' }), 'case', 'missing'],
    ['CASE does not have the parent of a row [RP-089]', child('nowhere'), 'case', 'missing'],
    ['a row with a parent in CASE names none [RP-090]', child(null), 'results', 'contradiction'],
    ['a row names another parent than CASE [RP-090]', child('adding'), 'results', 'contradiction'],
    ['a root names a parent [RP-090]', rowed({ parentCaseGuid: 'decimals' }), 'results', 'contradiction'],
    ['QTI has no outcome of the item [RP-099]', outcomes(outcome('item-2')), 'qti', 'missing'],
    [
      'QTI has another outcome of the item alone [RP-099]',
      outcomes(outcome('item-1', 'TIME'), outcome('item-2')),
      'qti',
      'missing',
    ],
    [
      'QTI has other outcomes of the item [RP-099]',
      outcomes(outcome('item-1', 'TIME'), outcome('item-1', 'HINTS'), outcome('item-2')),
      'qti',
      'missing',
    ],
    [
      'QTI has no outcome of the second piece alone [RP-099]',
      rowed({ evidence: [piece!, { ...piece!, qtiOutcomeId: 'TIME' }] }),
      'qti',
      'missing',
    ],
    [
      'QTI names an outcome twice, at two times [RP-099]',
      outcomes(outcome('item-1'), outcome('item-1', 'SCORE', '2026-03-02T10:00:00Z')),
      'qti',
      'unusable',
    ],
    [
      'QTI names one of several outcomes twice [RP-099]',
      outcomes(
        outcome('item-1'),
        outcome('item-1', 'TIME'),
        outcome('item-1', 'HINTS'),
        outcome('item-1', 'HINTS'),
      ),
      'qti',
      'unusable',
    ],
  ];
  it.each(problems)('is a 503 when %s', (_, change, dependency, reason) => {
    const facts = soundGate();
    change(facts);
    expect(masteryOf(facts)).toMatchObject({
      ok: false,
      error: { status: 503, code: 'dependency-incomplete', dependency, reason },
    });
  });
});
