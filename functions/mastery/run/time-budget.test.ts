import { describe, expect, it } from 'vitest';
import type { AdaptiveRunState } from '../continuation/run-state.ts';
import { clockStartAt, judgeTime, timeBudgetEndOf } from './time-budget.ts';

const START = Date.parse('2026-03-01T08:00:00Z');

describe('clockStartAt', () => {
  it('is the first session’s creation, held between the start and now [MA-111]', () => {
    const at = (createdAt: string) => clockStartAt(createdAt, START, START + 1_000) - START;
    expect(at('2026-03-01T08:00:00.400Z')).toBe(400);
    expect(at('2026-03-01T05:00:00Z')).toBe(0);
    expect(at('2026-03-01T11:00:00Z')).toBe(1_000);
  });
});

describe('a token of version 0.1.0, which has no clock start', () => {
  const state = { startedAt: START } as unknown as AdaptiveRunState;

  it('counts from the start time [MA-111]', () => {
    expect(timeBudgetEndOf(state, 60)).toBe(START + 60_000);
    expect(timeBudgetEndOf({ ...state, clockStart: START + 5 }, 60)).toBe(START + 60_005);
    const runtime = {
      consumed: [{}],
      news: undefined,
      pending: undefined,
      named: { sessions: [], unnamed: [] },
    } as unknown as Parameters<typeof judgeTime>[1];
    expect(judgeTime(state, runtime, 60, START + 59_999).kind).toBe('wait');
    expect(judgeTime(state, runtime, 60, START + 60_000).kind).toBe('stop');
  });
});
