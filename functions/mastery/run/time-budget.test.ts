import { expect, it } from 'vitest';
import type { AdaptiveRunState } from '../continuation/run-state.ts';
import { clockStartAt, timeBudgetEndOf } from './time-budget.ts';

const START = Date.parse('2026-03-01T08:00:00Z');

it('the clock starts at the first session’s creation, held between the start and now [MA-111]', () => {
  const at = (createdAt: string) => clockStartAt(createdAt, START, START + 1_000) - START;
  expect(at('2026-03-01T08:00:00.400Z')).toBe(400);
  expect(at('2026-03-01T05:00:00Z')).toBe(0);
  expect(at('2026-03-01T11:00:00Z')).toBe(1_000);
});

it('the time budget of a token of version 0.1.0, which has no clock start, counts from the start time [MA-111]', () => {
  const state = { startedAt: START } as unknown as AdaptiveRunState;
  expect(timeBudgetEndOf(state, 60)).toBe(START + 60_000);
  expect(timeBudgetEndOf({ ...state, clockStart: START + 5 }, 60)).toBe(START + 60_005);
});
