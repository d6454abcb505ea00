import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMonotone, isotonicTable, largestFall } from './isotonic.ts';

/** All sets of patterns that hold with a pattern everything above it, as bit masks. */
function upperSets(size: number): number[] {
  const sets: number[] = [];
  for (let set = 0; set < 2 ** size; set += 1) {
    const closed = Array.from({ length: size }, (_, pattern) => pattern).every(
      (pattern) =>
        ((set >>> pattern) & 1) === 0 ||
        [1, 2, 4].filter((bit) => bit < size).every((bit) => (set >>> (pattern | bit)) & 1),
    );
    if (closed) sets.push(set);
  }
  return sets;
}

/** The projection by the min-max formula (Robertson, Wright and Dykstra, 1988, theorem 1.4.4): every upper and every lower set. */
function bruteForce(values: Float64Array, weights: Float64Array): number[] {
  const size = values.length;
  const uppers = upperSets(size);
  return Array.from(values, (_, pattern) =>
    Math.max(
      ...uppers
        .filter((upper) => (upper >>> pattern) & 1)
        .map((upper) =>
          Math.min(
            ...uppers
              .filter((other) => ((other >>> pattern) & 1) === 0)
              .map((other) => {
                const members = Array.from({ length: size }, (_v, n) => n).filter(
                  (n) => (upper >>> n) & 1 && !((other >>> n) & 1),
                );
                const weight = members.reduce((total, n) => total + weights[n]!, 0);
                return members.reduce((total, n) => total + weights[n]! * values[n]!, 0) / weight;
              }),
          ),
        ),
    ),
  );
}

const problem = fc
  .integer({ min: 1, max: 3 })
  .chain((kcs) =>
    fc.tuple(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2 ** kcs, maxLength: 2 ** kcs }),
      fc.array(fc.double({ min: 0.01, max: 10, noNaN: true }), { minLength: 2 ** kcs, maxLength: 2 ** kcs }),
    ),
  );

describe('isotonicTable', () => {
  it('is the projection that the min-max formula gives', () => {
    fc.assert(
      fc.property(problem, ([values, weights]) => {
        const table = isotonicTable(Float64Array.from(values), Float64Array.from(weights));
        const expected = bruteForce(Float64Array.from(values), Float64Array.from(weights));
        table.forEach((value, pattern) => {
          expect(value).toBeCloseTo(expected[pattern]!, 9);
        });
        expect(isMonotone(table)).toBe(true);
      }),
    );
  });

  it('leaves a monotone table alone, and ends on weights of very different size', () => {
    expect([...isotonicTable(Float64Array.of(0.1, 0.2, 0.2, 0.9), Float64Array.of(1, 1, 1, 1))]).toEqual([
      0.1, 0.2, 0.2, 0.9,
    ]);
    fc.assert(
      fc.property(problem, fc.integer({ min: 0, max: 7 }), ([values, weights], light) => {
        const scaled = Float64Array.from(weights, (weight, n) =>
          n % 8 === light ? weight * 1e-200 : weight,
        );
        expect(isMonotone(isotonicTable(Float64Array.from(values), scaled))).toBe(true);
      }),
    );
  });

  it('gives a pattern without weight a value between its neighbours', () => {
    const table = isotonicTable(Float64Array.of(0.3, 0, 0.5, 0.8), Float64Array.of(1, 0, 1, 1));
    expect(table[1]).toBeGreaterThanOrEqual(0.3);
    expect(table[1]).toBeLessThanOrEqual(0.8);
    expect([table[0], table[2], table[3]]).toEqual([0.3, 0.5, 0.8]);
  });
});

describe('largestFall', () => {
  it('looks at neighbours with enough weight only', () => {
    const table = Float64Array.of(0.5, 0.2, 0.6, 0.55);
    expect(largestFall(table, Float64Array.of(9, 9, 9, 9), 5)).toBeCloseTo(0.3, 12);
    expect(largestFall(table, Float64Array.of(9, 1, 9, 9), 5)).toBeCloseTo(0.05, 12);
  });
});
