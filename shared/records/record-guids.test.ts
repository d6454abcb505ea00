import { describe, expect, it } from 'vitest';
import { inGuidOrder, parameterGuidDefects } from './record-guids.ts';
import { calibrationParameters } from './records.ts';
import { KC_A, KC_B, KC_C, sampleParameters } from '#test/support/sample-files.ts';

/** The probability of a right answer while exactly these components of an item are mastered. */
function success(item: { kcs: string[]; probabilities: number[] }, mastered: readonly string[]): number {
  const pattern = item.kcs.reduce((bits, kc, bit) => bits | (Number(mastered.includes(kc)) << bit), 0);
  return item.probabilities[pattern]!;
}

describe('inGuidOrder', () => {
  it('sorts components and those of each item, and means the same model [MA-026]', () => {
    const sample = calibrationParameters.parse(sampleParameters());
    const probabilities = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
    const parameters = {
      ...sample,
      kcs: sample.kcs.toReversed(),
      items: [{ ...sample.items[0]!, kcs: [KC_C, KC_A, KC_B], probabilities }],
    };
    const ordered = inGuidOrder(parameters);
    expect(parameterGuidDefects(parameters)).not.toEqual([]);
    expect(parameterGuidDefects(ordered)).toEqual([]);
    expect(ordered.kcs).toEqual(sample.kcs);
    for (const mastered of [[], [KC_A], [KC_B], [KC_C], [KC_A, KC_B], [KC_A, KC_C], [KC_B, KC_C]])
      expect(success(ordered.items[0]!, mastered)).toBe(success(parameters.items[0]!, mastered));
    expect(inGuidOrder(ordered)).toEqual(ordered);
  });
});
