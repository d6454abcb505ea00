import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulateScoreRecovery } from './routes.ts';
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
  });

  it('are told from a body of any form: what is no list or no object is not counted', () => {
    for (const value of [
      undefined,
      null,
      1,
      'text',
      [],
      {},
      { profiles: { length: 101 } },
      { profiles: [null, 1] },
    ])
      expect(exceedsSimulationLimits(value)).toBe(false);
    expect(exceedsSimulationLimits({ profiles: [{ knownMastery: 'x'.repeat(600) }] })).toBe(false);
    expect(exceedsSimulationLimits({ profiles: [{ knownMastery: Array.from({ length: 600 }) }] })).toBe(
      false,
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(exceedsSimulationLimits(value)).toBe(false);
      }),
    );
  });

  it('hold whatever else is wrong with the profiles [MA-182]', () => {
    expect(exceedsSimulationLimits({ profiles: Array.from({ length: 101 }, () => null) })).toBe(true);
    expect(exceedsSimulationLimits({ profiles: [{ id: 'student', knownMastery: known(501) }] })).toBe(true);
  });
});

describe('a known mastery', () => {
  const accepts = (text: string): boolean =>
    request.body.safeParse(
      body([{ syntheticProfileId: 'synthetic:1', knownMastery: JSON.parse(text) as unknown }]),
    ).success;

  it.each([
    ['no component', '{}'],
    ['a prototype alone', '{"__proto__": 0.5}'],
    ['a prototype beside a component', `{"__proto__": 0.5, "${guid(1)}": 0.5}`],
    ['a prototype that is an object', `{"__proto__": {"${guid(2)}": 1}, "${guid(1)}": 0.5}`],
    ['a constructor', '{"constructor": 0.5}'],
    ['a name that is no GUID', '{"kc-1": 0.5}'],
    ['a text', `{"${guid(1)}": "0.5"}`],
    ['more than certainty', `{"${guid(1)}": 1.0000001}`],
    ['less than nothing', `{"${guid(1)}": -0.1}`],
    ['null', `{"${guid(1)}": null}`],
    ['a list', '[0.5]'],
  ])('is not one with %s [MA-041, MA-128]', (_, text) => {
    expect(accepts(text)).toBe(false);
  });

  it('takes the ends of a probability, and UUIDs of any version in lower case [MA-128]', () => {
    expect(accepts(`{"${guid(1)}": 0, "${guid(2)}": 1, "2f0a6d0c-6a1b-8c55-9a3e-0b8f2b7d9c11": 0.5}`)).toBe(
      true,
    );
    expect(accepts(`{"2F0A6D0C-6A1B-4C55-9A3E-0B8F2B7D9C11": 0.5}`)).toBe(false);
  });
});

describe('the answer of a simulation', () => {
  const { schema, example } = simulateScoreRecovery.success;
  it.each<[string, object]>([
    ['no profile', { profilesTotal: 0, recoveryErrors: [] }],
    ['no replication', { replications: 0 }],
    ['another count than errors', { profilesTotal: 3 }],
    ['a negative error', { recoveryErrors: [{ ...example.recoveryErrors[0], absoluteError: -1 }] }],
    ['an endless scale', { recoveryErrors: [{ ...example.recoveryErrors[0], knownScale: Infinity }] }],
    ['an event that is no IRI', { eventIri: 'event-1' }],
    ['a hash that is none', { envelopeHash: 'A'.repeat(64) }],
    ['a learner', { resultsStudentId: 'student-1' }],
  ])('never has %s [MA-129, MA-130, MA-134]', (_, change) => {
    expect(schema.safeParse(example).success).toBe(true);
    expect(schema.safeParse({ ...example, ...change }).success).toBe(false);
  });
});
