import { describe, expect, it } from 'vitest';
import { exampleOutcome, exampleState } from '#test/support/example-run.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';
import type { RunRuntime } from './runtime.ts';
import { clockStartAt, checkTimeBudget, timeBudgetEndOf } from './time-budget.ts';

const START = Date.parse('2026-03-01T08:00:00Z');

it('the clock starts at the first session’s creation, held between the start and now, whose clock may be behind by a minute [MA-111]', () => {
  const at = (createdAt: string) => clockStartAt(createdAt, START, START + 1_000) - START;
  expect(at('2026-03-01T08:00:00.400Z')).toBe(400);
  expect(at('2026-03-01T05:00:00Z')).toBe(0);
  // A container that is a minute behind returns the same.
  expect(at('2026-03-01T08:01:01Z')).toBe(61_000);
  expect(at('2026-03-01T11:00:00Z')).toBe(61_000);
});

it('the time budget of a token of version 0.1.0, which has no clock start, counts from the start time [MA-111]', () => {
  const state = { startedAt: START } as unknown as AdaptiveRunState;
  expect(timeBudgetEndOf(state, 60)).toBe(START + 60_000);
  expect(timeBudgetEndOf({ ...state, clockStart: START + 5 }, 60)).toBe(START + 60_005);
});

describe('what an advance does with the outstanding item [MA-111]', () => {
  const BUDGET_S = 60;
  const created = START + 500;
  const outcome = { ...exampleOutcome, handedInMs: created };
  /** A run whose clock started with its first session; `handedIn` and `advanced` in milliseconds after that. */
  const verdict = (
    advanced: number,
    answer: { readonly handedIn?: number | null; readonly isScored?: boolean; readonly consumed?: number },
    budget: number | null = BUDGET_S,
  ) => {
    const { handedIn, isScored = true, consumed = 1 } = answer;
    const handedInMs = typeof handedIn === 'number' ? created + handedIn : undefined;
    const runtime = {
      consumed: Array.from({ length: consumed }, () => outcome),
      news: isScored && handedInMs !== undefined ? { ...outcome, handedInMs } : undefined,
      pending:
        isScored || handedIn === undefined ? undefined : { handedInMs, sinceMs: undefined, hasFailed: false },
      named: { sessions: [{ createdAt: new Date(created).toISOString() }] },
    } as unknown as RunRuntime;
    const verdict = checkTimeBudget(
      { ...exampleState, clockStart: created },
      runtime,
      budget,
      created + advanced,
    );
    return typeof verdict === 'string' ? verdict : verdict.elapsedMilliseconds;
  };

  it.each([
    [
      'consumes an answer handed in a millisecond before the end, late as it is scored',
      90_000,
      { handedIn: 59_999 },
      90_000,
    ],
    ['stops without an answer handed in exactly at the end', 60_000, { handedIn: 60_000 }, 'stop'],
    ['stops without an answer handed in after the end', 61_000, { handedIn: 61_000 }, 'stop'],
    ['consumes the first answer whenever it was given', 70_000, { handedIn: 65_000, consumed: 0 }, 70_000],
    ['counts the later of the two clocks', 10_000, { handedIn: 20_000 }, 20_000],
    ['waits a millisecond before the end', 59_999, {}, 'wait'],
    ['stops at the end, when nothing is handed in', 60_000, {}, 'stop'],
    ['waits after the end while nothing was consumed', 90_000, { consumed: 0 }, 'wait'],
    [
      'waits after the end for an answer handed in in time',
      90_000,
      { handedIn: 59_999, isScored: false },
      'wait',
    ],
    [
      'waits after the end for an answer of which QTI says only with the score when it was handed in',
      90_000,
      { handedIn: null, isScored: false },
      'wait',
    ],
    [
      'stops without an unscored answer handed in exactly at the end',
      90_000,
      { handedIn: 60_000, isScored: false },
      'stop',
    ],
  ] as const)('%s', (_, advanced, answer, expected) => {
    expect(verdict(advanced, answer)).toBe(expected);
  });

  it('has no end without a budget', () => {
    expect(verdict(10 ** 9, {}, null)).toBe('wait');
    expect(verdict(10 ** 9, { handedIn: 10 ** 9 }, null)).toBe(10 ** 9);
  });
});
