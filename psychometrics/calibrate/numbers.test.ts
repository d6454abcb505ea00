import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chiSquareUpper,
  invert,
  noncentralityAt,
  normalQuantileTwoSided,
  normalTwoSided,
  quadraticForm,
  uniformFrom,
} from './numbers.ts';

describe('distributions, against tables', () => {
  it.each([
    [3.841458820694124, 1, 0.05],
    [18.307038053275146, 10, 0.05],
    [124.3421134004717, 100, 0.05],
    [0.5, 2, Math.exp(-0.25)],
    [1000, 10, 0],
  ])('P(chi-square > %d), %d degrees of freedom', (x, df, p) => {
    expect(chiSquareUpper(x, df)).toBeCloseTo(p, 10);
  });

  it('the normal distribution and its quantiles', () => {
    expect(normalTwoSided(1.959963984540054)).toBeCloseTo(0.05, 12);
    expect(normalQuantileTwoSided(0.05)).toBeCloseTo(1.959963984540054, 10);
    expect(normalQuantileTwoSided(0.05 / 190)).toBeCloseTo(3.64910269630088, 9);
  });

  it('the noncentrality of a noncentral chi-square distribution', () => {
    // SciPy's ncx2: the limits of an RMSEA2 of 347.1 on 154 degrees of freedom.
    expect(noncentralityAt(347.1, 154, 0.05)).toBeCloseTo(251.073740037, 6);
    expect(noncentralityAt(347.1, 154, 0.95)).toBeCloseTo(142.85925683, 6);
    expect(noncentralityAt(1, 10, 0.95)).toBe(0);
  });
});

describe('invert', () => {
  const columns = fc.integer({ min: 1, max: 6 }).chain((size) =>
    fc.array(fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: size, maxLength: size }), {
      minLength: size + 4,
      maxLength: size + 4,
    }),
  );

  it('inverts what has full rank', () => {
    fc.assert(
      fc.property(columns, (rows) => {
        const size = rows[0]!.length;
        const values = Float64Array.from({ length: size * size }, (_, n) => {
          const [i, j] = [Math.floor(n / size), n % size];
          return rows.reduce((total, row) => total + row[i]! * row[j]!, i === j ? 0.1 : 0);
        });
        const { inverse, rank } = invert({ size, values });
        expect(rank).toBe(size);
        for (let i = 0; i < size; i += 1) {
          for (let j = 0; j < size; j += 1) {
            let product = 0;
            for (let n = 0; n < size; n += 1)
              product += values[i * size + n]! * inverse.values[n * size + j]!;
            expect(product).toBeCloseTo(i === j ? 1 : 0, 6);
          }
        }
      }),
    );
  });

  it('leaves out rows that depend on others, and inverts the rest', () => {
    // The third row is the sum of the first two.
    const values = Float64Array.of(2, 0, 2, 0, 1, 1, 2, 1, 3);
    const { inverse, kept, rank } = invert({ size: 3, values });
    expect(rank).toBe(2);
    expect([...kept].filter((one) => one === 1)).toHaveLength(2);
    const left = [...kept].indexOf(0);
    expect(inverse.values[left * 3 + left]).toBe(0);
    expect(quadraticForm(inverse, Float64Array.from(kept))).toBeGreaterThan(0);
    expect(invert({ size: 1, values: Float64Array.of(0) }).rank).toBe(0);
  });
});

it('the stream of a seed is the same for ever', () => {
  const uniform = uniformFrom(7);
  expect([uniform(), uniform(), uniform()]).toEqual([
    0.011704753153026104, 0.06195825757458806, 0.97690763277933,
  ]);
});
