import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { exampleModel, exampleProfiles, exampleTest } from '#test/support/example-simulation.ts';
import {
  isReplicated,
  evaluateRecovery,
  readProfiles,
  recoveryError,
  simulateSitting,
  sitAll,
} from './recovery.ts';
import type { KnownProfile } from './recovery.ts';

const test = exampleTest();
/** The scores of the first replications of a profile. */
const scoresOf = (profile: KnownProfile, replications: number, of = test): number[] =>
  Array.from(
    { length: replications },
    (_, n) => simulateSitting(of, profile, n).evidence.estimate.scaleScore,
  );
const errorsOf = (profiles: readonly KnownProfile[], of = test) =>
  profiles.map((profile) => recoveryError(of, profile, scoresOf(profile, 3, of)));

describe('a simulated profile', () => {
  it('gives these bytes on every runtime, today and tomorrow: whoever changes them changes every published matrix', () => {
    expect(sha256Hex(canonicalJson(errorsOf(exampleProfiles(40))))).toBe(
      '5a10d8b9a9daedae88d77db150c2fd33091ae13a208547fcf4e86ddd81630731',
    );
  });

  it('does not depend on the profiles beside it, nor on their order [MA-130]', () => {
    const profiles = exampleProfiles(12);
    const together = errorsOf(profiles);
    expect(errorsOf(profiles.toReversed()).toReversed()).toEqual(together);
    for (const [at, profile] of profiles.entries())
      expect(errorsOf([profile], exampleTest())).toEqual([together[at]]);
  });

  it('is drawn by what is known of it and by the pins, never by its name [MA-130]', () => {
    const [profile, unlike] = exampleProfiles(2);
    const scores = scoresOf(profile!, 8);
    expect(scoresOf({ ...profile!, syntheticProfileId: 'synthetic:other' }, 8)).toEqual(scores);
    expect(scoresOf(profile!, 8, { ...test, pinsHash: 'another' })).not.toEqual(scores);
    expect(scoresOf(unlike!, 8)).not.toEqual(scores);
    expect(new Set(scores).size).toBeGreaterThan(4);
  });

  it('has the mean of its replications, and the standard error of that mean, which one alone does not have', () => {
    const [profile] = exampleProfiles(1);
    const { recoveredScale, standardError } = recoveryError(test, profile!, [400, 410, 430, 440]);
    // The sample variance is 1000 / 3, that of the mean of four a quarter of it.
    expect(recoveredScale).toBe(420);
    expect(standardError).toBe(roundSignificant(Math.sqrt(1000 / 12), 12));
    expect(recoveryError(test, profile!, [400])).not.toHaveProperty('standardError');
    expect(recoveryError(test, profile!, [400, 400]).standardError).toBe(0);
  });

  it('shows numbers of the pinned precision, the error being the difference of the two shown [MA-117, MA-130]', () => {
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
        expect(absoluteError).toBeCloseTo(Math.abs(recoveredScale - knownScale), 9);
      }
    }
    // In doubles 0.3 - 0.1 is 0.19999999999999998.
    const error = { syntheticProfileId: 'synthetic:1', knownScale: 0.1, recoveredScale: 0.3 };
    expect(evaluateRecovery([{ ...error, absoluteError: 0.2 }], 0.2).withinTolerance).toBe(true);
  });
});

describe('the tests of all profiles', () => {
  it('are taken by every profile, as often as can be afforded, as by itself', async () => {
    const profiles = exampleProfiles(2);
    const { scores, replications } = await sitAll(test, profiles, { now: () => 0, until: Infinity });
    expect(replications).toBe(32);
    expect(scores).toEqual(profiles.map((profile) => scoresOf(profile, 32)));
  });

  it.each([
    ['before the first item when the time is over already', -1, 0],
    ['in the middle of the first one', 5, 0],
    ['not before its last item was answered', 0, 1],
    ['in the middle of the second one', 5, 1],
  ])('are broken off %s', async (_, looks, simulated) => {
    const [first] = exampleProfiles(2);
    // Time is looked at before each item, and once more at the stop.
    const ofFirst = simulateSitting(test, first!, 0).evidence.outcomes.length + 1;
    let time = 0;
    const until = looks < 0 ? 0 : simulated * ofFirst + looks;
    const sittings = await sitAll(test, exampleProfiles(2), { now: () => time++, until });
    expect(sittings).toMatchObject({ simulated, replications: 1 });
    expect(sittings.scores.map((scores) => scores.length)).toEqual([simulated, 0]);
  });

  it('let others have their turn', async () => {
    let isOthersTurn = false;
    setImmediate(() => (isOthersTurn = true));
    const turns: boolean[] = [];
    const now = () => turns.push(isOthersTurn);
    await sitAll(test, exampleProfiles(2), { now, until: Infinity });
    expect([turns[0], turns.at(-1)]).toEqual([false, true]);
  });
});

describe('the number of replications', () => {
  type Size = Parameters<typeof isReplicated>[0];
  const SMALL = { profiles: 2, kcs: 8, maxItems: 20 };
  /** Where each replication costs as much. */
  const replicationsOf = (size: Size, cost: number): number => {
    const costs: number[] = [];
    while (isReplicated(size, costs)) costs.push(cost);
    return costs.length;
  };

  it.each([
    ['32 for a small matrix', SMALL, 1, 32],
    [
      'as many as keep profiles × KCs × items within 2,000,000',
      { profiles: 100, kcs: 24, maxItems: 60 },
      1,
      13,
    ],
    ['1 for a matrix beyond that', { profiles: 100, kcs: 500, maxItems: 60 }, 1, 1],
    ['fewer when one costs much', SMALL, 2_000_000_000, 3],
    ['1 when that alone is all that can be afforded', SMALL, 3_500_000_001, 1],
    ['1 when not even that can be', SMALL, 1e12, 1],
  ])('is %s', (_, size, cost, expected) => {
    expect(replicationsOf(size, cost)).toBe(expected);
  });

  it('leaves room for one as costly as the costliest so far, whichever that was', () => {
    expect(isReplicated(SMALL, [1_000_000_000, 3_000_000_000])).toBe(true);
    expect(isReplicated(SMALL, [3_000_000_000, 1_000_000_001])).toBe(false);
  });
});

it('an error that equals the tolerance is within it, a single one of the next number above is not [MA-133]', () => {
  const error = { syntheticProfileId: 'synthetic:1', knownScale: 500, recoveredScale: 525 };
  const within = (absoluteError: number): boolean =>
    evaluateRecovery(
      [0, absoluteError, 0].map((each) => ({ ...error, absoluteError: each })),
      25,
    ).withinTolerance;
  expect([within(25), within(25.000000000001)]).toEqual([true, false]);
});

it('refuses a profile that masters a component without its prerequisite [MA-195]', () => {
  const model = exampleModel({
    blocks: [{ form: 'hierarchy', kcs: ['kc-2', 'kc-0', 'kc-1'], prerequisites: [[], ['kc-2'], ['kc-0']] }],
  });
  const scope = model.kcGuids.map((guid, modelKc) => ({ guid, uri: `https://case/${guid}`, modelKc }));
  const read = (knownMastery: Record<string, number>) =>
    readProfiles([{ syntheticProfileId: 'synthetic:1', knownMastery }], model, {
      scope,
      numericPrecision: 12,
    });
  expect(read({ 'kc-1': 1, 'kc-2': 0 })).toMatchObject(err({ status: 422, code: 'calibration-invalid' }));
  for (const possible of [
    { 'kc-1': 0.9, 'kc-2': 0.1 },
    { 'kc-1': 0, 'kc-2': 1 },
    { 'kc-1': 1, 'kc-5': 0 },
  ])
    expect(read(possible)).toMatchObject({ ok: true });
});

describe('profiles in the numbering of a model', () => {
  const model = exampleModel();
  const scope = model.kcGuids
    .slice(0, 4)
    .map((guid, modelKc) => ({ guid, uri: `https://case/${guid}`, modelKc }));
  const read = (knownMastery: Record<string, number>, numericPrecision = 12) =>
    readProfiles([{ syntheticProfileId: 'synthetic:1', knownMastery }], model, { scope, numericPrecision });

  it('are the same whatever the order of their members: sums of doubles are not', () => {
    const guids = scope.map(({ guid }) => guid);
    fc.assert(
      fc.property(fc.shuffledSubarray(guids), (shuffled) => {
        const known = (names: readonly string[]) =>
          read(Object.fromEntries(names.map((guid) => [guid, (guids.indexOf(guid) + 1) / 10])));
        expect(known(shuffled)).toEqual(known(shuffled.toSorted()));
      }),
    );
  });

  it('are read at the calibration’s precision [MA-041]', () => {
    expect(read({ 'kc-1': 0.123456789 }, 3)).toMatchObject(
      ok([{ syntheticProfileId: 'synthetic:1', known: [{ kc: 1, probability: 0.123 }] }]),
    );
  });

  it.each([
    ['has no parameters for', { 'kc-1': 1, 'kc-unheard-of': 0.5 }],
    ['has no parameters for', { constructor: 1 }],
    ['does not measure', { 'kc-1': 1, 'kc-5': 1 }],
  ])(
    'naming a component that the calibration %s are 422, without its name [MA-195]',
    (said, knownMastery) => {
      const refused = read(knownMastery);
      expect(refused).toMatchObject(err({ status: 422, code: 'calibration-invalid', retryable: false }));
      const { detail } = (refused as { error: { detail: string } }).error;
      expect(detail).toContain(said);
      for (const name of Object.keys(knownMastery)) expect(detail).not.toContain(name);
    },
  );
});
