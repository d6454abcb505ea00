import { describe, expect, it } from 'vitest';
import { simulateScoreRecovery } from './routes/simulate-score-recovery.ts';
import { exceedsSimulationLimits } from './score-recovery.ts';

const { requestExample, request } = simulateScoreRecovery;
const guid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const known = (entries: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: entries }, (_, n) => [guid(n), 0.5]));
const profiles = (count: number, entries = 1): object[] =>
  Array.from({ length: count }, (_, n) => ({
    syntheticProfileId: `synthetic:${n}`,
    knownMastery: known(entries),
  }));
const body = (of: unknown): object => ({ ...requestExample, profiles: of });

describe('the limits of a simulation', () => {
  it('are 100 profiles and 500 knowledge components each: one more is too many [MA-126, MA-128, MA-182]', () => {
    expect(exceedsSimulationLimits(body(profiles(100, 500)))).toBe(false);
    expect(request.body.safeParse(body(profiles(100, 500))).success).toBe(true);
    expect(exceedsSimulationLimits(body(profiles(101)))).toBe(true);
    expect(exceedsSimulationLimits(body([...profiles(99), ...profiles(1, 501)]))).toBe(true);
    expect(exceedsSimulationLimits({ profiles: Array.from({ length: 101 }, () => null) })).toBe(true);
  });
});

it('takes the ends of a probability, and UUIDs of any version, as a known mastery [MA-128]', () => {
  const knownMastery = { [guid(1)]: 0, [guid(2)]: 1, '2f0a6d0c-6a1b-8c55-9a3e-0b8f2b7d9c11': 0.5 };
  const profile = { syntheticProfileId: 'synthetic:1', knownMastery };
  expect(request.body.safeParse(body([profile])).success).toBe(true);
});
