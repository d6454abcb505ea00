import { describe, expect, it } from 'vitest';
import type { SettledMastery } from '#shared/platform/owners/results.ts';
import {
  both,
  rows,
  rowsOf,
  says,
  shortfall,
  soundChild,
  soundGate,
  soundRow,
} from '#test/support/sound-attempt.ts';
import type { Change } from '#test/support/sound-attempt.ts';
import { composeMastery } from './mastery-rows.ts';

// How many rows and how much evidence a report can carry: attempt-report.property.test.ts.

type Facts = ReturnType<typeof soundGate>;
function masteryOf({ evidence, record, framework }: Facts): ReturnType<typeof composeMastery> {
  return composeMastery(record.value.mastery, evidence.value, framework.value);
}

const rowed = (...changes: readonly Partial<typeof soundRow>[]): Change =>
  rows(...changes.map((change) => ({ ...soundRow, ...change })));
const child = (parentCaseGuid: string | null): Change => rowed({ ...soundChild, parentCaseGuid });
const outcome = (qtiItemId: string, qtiOutcomeId = 'SCORE', scoredAt = '2026-03-02T09:00:00Z') => ({
  qtiItemId,
  qtiOutcomeId,
  scoredAt,
});
const [piece] = soundRow.evidence;
const outcomes = (...all: ReturnType<typeof outcome>[]): Change => says('evidence', { outcomes: all });

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

  /** Members that are shown as Results has them. */
  const shown: readonly Partial<SettledMastery>[] = [
    { state: 'gap', estimate: 0 },
    { threshold: 0 },
    { confidence: 0.8 },
    { confidence: null },
    ...['not_yet', 'insufficient_evidence'].map((state) => ({ state })),
    ...['standard_error', 'interval_half_width'].map((uncertaintyKind) => ({ uncertaintyKind })),
  ];
  it.each<readonly [title: string, change: Change, row: object]>([
    ['has a component under any of its parents [RP-090]', child('decimals'), { parentCaseGuid: 'decimals' }],
    [
      'has a root that CASE lists with no parent [RP-090]',
      ({ framework }) => void framework.value.parents.set('fractions', []),
      { parentCaseGuid: null },
    ],
    ...shown.map(
      (row) => [`shows ${JSON.stringify(row)} [RP-091, RP-092, RP-093]`, rowed(row), row] as const,
    ),
    [
      'shows a state and an uncertainty that the contract does not name as unknown [RP-091, RP-093]',
      rowed({ state: 'enlightened', uncertaintyKind: 'gut' }),
      { state: 'unknown', uncertaintyKind: 'unknown' },
    ],
  ])('%s', (_, change, row) => {
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

  const [first, second, timed, hinted] = [
    outcome('item-1'),
    outcome('item-2'),
    outcome('item-1', 'TIME'),
    outcome('item-1', 'HINTS'),
  ];
  /** By owner and reason. */
  const problems: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
    'results missing': {
      'a row has no evidence [RP-095]': rowed({ evidence: [] }),
      'an estimate is not settled [RP-092]': rowed({ estimate: null }),
      'a threshold is not settled [RP-092]': rowed({ threshold: null }),
    },
    'case missing': {
      'CASE does not have the GUID of a row [RP-089]': rowed({ caseGuid: 'nowhere' }),
      'CASE does not have the parent of a row [RP-089]': child('nowhere'),
    },
    'results contradiction': {
      'a row with a parent in CASE names none [RP-090]': child(null),
      'a row names another parent than CASE [RP-090]': child('adding'),
      'a root names a parent [RP-090]': rowed({ parentCaseGuid: 'decimals' }),
    },
    'qti missing': {
      'QTI has no outcome of the item [RP-099]': outcomes(second),
      'QTI has another outcome of the item alone [RP-099]': outcomes(timed, second),
      'QTI has other outcomes of the item [RP-099]': outcomes(timed, hinted, second),
      'QTI has no outcome of the second piece alone [RP-099]': rowed({
        evidence: [piece!, { ...piece!, qtiOutcomeId: 'TIME' }],
      }),
    },
    'qti unusable': {
      'QTI names an outcome twice, at two times [RP-099]': outcomes(
        first,
        outcome('item-1', 'SCORE', '2026-03-02T10:00:00Z'),
      ),
      'QTI names one of several outcomes twice [RP-099]': outcomes(first, timed, hinted, hinted),
    },
  };
  it.each(rowsOf(problems))('is a 503 that says %s when %s', (expected, _, change) => {
    const facts = soundGate();
    change(facts);
    expect(masteryOf(facts)).toMatchObject(shortfall(expected));
  });
});
