import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exampleModel } from '#test/support/example-simulation.ts';
import { readProfiles } from './known-profile.ts';

const model = exampleModel();
const scope = model.kcGuids
  .slice(0, 4)
  .map((guid, modelKc) => ({ guid, uri: `https://case/${guid}`, modelKc }));
const read = (knownMastery: Record<string, number>, numericPrecision = 12) =>
  readProfiles([{ syntheticProfileId: 'synthetic:1', knownMastery }], model, { scope, numericPrecision });

describe('profiles in the numbering of a model', () => {
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
    expect(read({ 'kc-1': 0.123456789 }, 3)).toMatchObject({
      ok: true,
      value: [{ syntheticProfileId: 'synthetic:1', known: [{ kc: 1, probability: 0.123 }] }],
    });
  });

  it.each([
    ['has no parameters for', { 'kc-1': 1, 'kc-unheard-of': 0.5 }],
    ['has no parameters for', { constructor: 1 }],
    ['does not measure', { 'kc-1': 1, 'kc-5': 1 }],
  ])(
    'naming a component that the calibration %s are 422, without its name [MA-195]',
    (said, knownMastery) => {
      const refused = read(knownMastery);
      expect(refused).toMatchObject({
        ok: false,
        error: { status: 422, code: 'calibration-invalid', retryable: false },
      });
      const { detail } = (refused as { error: { detail: string } }).error;
      expect(detail).toContain(said);
      for (const name of Object.keys(knownMastery)) expect(detail).not.toContain(name);
    },
  );
});
