import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import { exampleProfiles, exampleTest } from '#test/support/example-simulation.ts';
import { judgeRecovery, simulateProfile } from './recovery.ts';

const test = exampleTest();
const errorsOf = (profiles: ReturnType<typeof exampleProfiles>, of = test) =>
  profiles.map((profile) => simulateProfile(of, profile).error);

describe('a simulated profile', () => {
  it('gives these bytes on every runtime, today and tomorrow: whoever changes them changes every published matrix', () => {
    expect(sha256Hex(canonicalJson(errorsOf(exampleProfiles(40))))).toBe(
      'b454e1cc19a4dbb6d6e1e9aa31b74bb8053e20cf724e9e40891813433c9dc5c7',
    );
  });

  it('does not depend on the profiles beside it, nor on their order [MA-130]', () => {
    const profiles = exampleProfiles(12);
    const together = errorsOf(profiles);
    expect(errorsOf(profiles.toReversed()).toReversed()).toEqual(together);
    for (const [at, profile] of profiles.entries())
      expect(simulateProfile(exampleTest(), profile).error).toEqual(together[at]);
  });

  it('is another one under another id: its answers are drawn by it', () => {
    const [profile] = exampleProfiles(1);
    const found = new Set(
      Array.from({ length: 20 }, (_, n) => {
        const { error } = simulateProfile(test, { ...profile!, syntheticProfileId: `synthetic:other-${n}` });
        expect(error.knownScale).toBe(simulateProfile(test, profile!).error.knownScale);
        return error.recoveredScale;
      }),
    );
    expect(found.size).toBeGreaterThan(1);
  });

  it('shows numbers of the pinned precision, the error being the exact difference of the two shown [MA-117, MA-130]', () => {
    for (const numericPrecision of [1, 4, 12, 15]) {
      const rounded = (value: number): number => roundSignificant(value, numericPrecision);
      for (const { knownScale, recoveredScale, absoluteError } of errorsOf(
        exampleProfiles(10),
        exampleTest({ numericPrecision }),
      )) {
        expect([knownScale, recoveredScale, absoluteError].map(rounded)).toEqual([
          knownScale,
          recoveredScale,
          absoluteError,
        ]);
        const units = 10n ** 20n;
        const exact = (value: number): bigint => {
          const [whole = '', fraction = ''] = String(value).split('.');
          return BigInt(whole) * units + BigInt(fraction.padEnd(20, '0')) * (value < 0 ? -1n : 1n);
        };
        const difference = exact(recoveredScale) - exact(knownScale);
        const magnitude = Number(difference < 0n ? -difference : difference) / 1e20;
        expect(absoluteError).toBeCloseTo(rounded(magnitude), 9);
      }
    }
    // In doubles 0.3 - 0.1 is 0.19999999999999998.
    const error = { syntheticProfileId: 'synthetic:1', knownScale: 0.1, recoveredScale: 0.3 };
    expect(judgeRecovery([{ ...error, absoluteError: 0.2 }], 0.2).withinTolerance).toBe(true);
  });

  it('takes the whole test: no more items than the policy allows, and errors that fall as it grows', () => {
    const profiles = exampleProfiles(60);
    const meanAt = (maxItems: number): number => {
      const simulated = profiles.map((profile) => simulateProfile(exampleTest({ maxItems }), profile));
      for (const { administeredItems } of simulated) expect(administeredItems).toBeLessThanOrEqual(maxItems);
      return simulated.reduce((sum, { error }) => sum + error.absoluteError, 0) / profiles.length;
    };
    expect(meanAt(40)).toBeLessThan(meanAt(2));
  });
});

describe('the verdict', () => {
  const errors = fc
    .array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 100 })
    .map((values) =>
      values.map((absoluteError, n) => ({
        syntheticProfileId: `synthetic:${n}`,
        knownScale: 0,
        recoveredScale: absoluteError,
        absoluteError,
      })),
    );

  it('counts, finds the largest error, and is within exactly when every error is [MA-129, MA-131, MA-132, MA-133]', () => {
    fc.assert(
      fc.property(errors, fc.double({ min: 0, max: 1e6, noNaN: true }), (recoveryErrors, tolerance) => {
        const verdict = judgeRecovery(recoveryErrors, tolerance);
        expect(verdict.profilesTotal).toBe(recoveryErrors.length);
        expect(verdict.recoveryErrors).toEqual(recoveryErrors);
        expect(verdict.tolerance).toBe(tolerance);
        const values = recoveryErrors.map(({ absoluteError }) => absoluteError);
        expect(verdict.maxAbsoluteError).toBe(Math.max(...values));
        expect(verdict.withinTolerance).toBe(values.every((value) => value <= tolerance));
      }),
    );
  });

  it('an error that equals the tolerance is within it, the next number above is not [MA-133]', () => {
    const error = { syntheticProfileId: 'synthetic:1', knownScale: 500, recoveredScale: 525 };
    const within = (absoluteError: number): boolean =>
      judgeRecovery([{ ...error, absoluteError }], 25).withinTolerance;
    expect([within(25), within(25.000000000001)]).toEqual([true, false]);
  });
});
