import { describe, expect, it } from 'vitest';
import {
  bias,
  calibrationError,
  calibrationOf,
  correlation,
  groupBy,
  rootMeanSquareError,
  share,
  standardErrorOfBias,
  wilson,
} from './statistics.ts';

const pairs = [
  { known: 0, recovered: 1 },
  { known: 1, recovered: 1 },
  { known: 2, recovered: 0 },
  { known: 3, recovered: 4 },
];

describe('statistics against cases worked out by hand', () => {
  it('the interval of Wilson keeps the coverage that its equation states, and stays within 0 and 1', () => {
    // The bounds are where (rate - p)² = z² p (1 - p) / n.
    for (const p of Object.values(wilson(19, 20))) {
      expect((0.95 - p) ** 2).toBeCloseTo((1.959964 ** 2 * p * (1 - p)) / 20, 12);
    }
    expect(wilson(0, 200)).toMatchObject({ low: 0 });
    expect(wilson(0, 200).high).toBeCloseTo(0.0188, 4);
    expect(wilson(20, 20)).toMatchObject({ high: 1 });
  });

  it('bias is the mean of recovered minus known, with its standard error', () => {
    // Errors 1, 0, −2, 1: mean 0, squares 6, variance 6/3, standard error √(2/4).
    expect(bias(pairs)).toBe(0);
    expect(standardErrorOfBias(pairs)).toBeCloseTo(Math.SQRT1_2, 15);
    expect(bias(pairs.map((pair) => ({ ...pair, recovered: pair.recovered + 0.25 })))).toBe(0.25);
  });

  it('RMSE takes squares, not absolute values', () => {
    expect(rootMeanSquareError(pairs)).toBeCloseTo(Math.sqrt(6 / 4), 15);
  });

  it('correlation is 1 on a rising line, −1 on a falling one, and between them otherwise', () => {
    const line = (slope: number) => pairs.map(({ known }) => ({ known, recovered: 5 + slope * known }));
    expect(correlation(line(3))).toBeCloseTo(1, 15);
    expect(correlation(line(-0.5))).toBeCloseTo(-1, 15);
    // Deviations −1.5 −0.5 0.5 1.5 and −0.5 −0.5 −1.5 2.5: products 4, squares 5 and 9.
    expect(correlation(pairs)).toBeCloseTo(4 / Math.sqrt(45), 15);
    expect(correlation(line(0))).toBeNaN();
  });

  it('a bound belongs to the group above it', () => {
    expect(groupBy([-3, -1, 0, 0.5, 1, 7], [-1, 1], (value) => value)).toEqual([[-3], [-1, 0, 0.5], [1, 7]]);
  });

  it('bins claims, probabilities 0 and 1 included, and weighs their errors by count', () => {
    const claims = [
      { probability: 0, happened: false },
      { probability: 0.25, happened: true },
      { probability: 0.5, happened: false },
      { probability: 1, happened: true },
      { probability: 0.75, happened: true },
      { probability: 0.75, happened: true },
    ];
    const bins = calibrationOf(claims, 2);
    expect(bins).toEqual([
      { from: 0, to: 0.5, count: 2, claimed: 0.125, observed: 0.5 },
      { from: 0.5, to: 1, count: 4, claimed: 0.75, observed: 0.75 },
    ]);
    expect(calibrationError(bins)).toBeCloseTo((2 / 6) * 0.375, 15);
    // An empty bin has no weight.
    expect(calibrationError(calibrationOf(claims.slice(3, 4), 4))).toBe(0);
  });

  it('is NaN for a figure without learners', () => {
    expect([bias([]), share([], () => true), standardErrorOfBias(pairs.slice(1, 2))]).toEqual([
      NaN,
      NaN,
      NaN,
    ]);
  });
});
