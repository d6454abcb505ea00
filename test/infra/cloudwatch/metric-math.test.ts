import { describe, expect, it } from 'vitest';
import { compileExpression, type Series } from './metric-math.ts';

const _ = undefined;

/** The values of an expression over metrics with these values, and over expressions with these texts. */
function valuesOf(
  expression: string,
  metrics: Readonly<Record<string, Series>>,
  more: Readonly<Record<string, string>> = {},
): Series {
  const expressions = new Map(Object.entries({ result: expression, ...more }));
  return compileExpression(
    'result',
    new Set(Object.keys(metrics)),
    expressions,
  )({ metrics: new Map(Object.entries(metrics)), length: Object.values(metrics)[0]?.length ?? 0 });
}

describe('AWS’s examples', () => {
  const metric1 = [30, 20, 0, 0];
  const metric2 = [20, _, 20, _];
  it.each([
    ['(metric1 < metric2)', [0, 0, 1, 0]],
    ['(metric1 >= 30)', [1, 0, 0, 0]],
    ['(metric1 > 15 AND metric2 > 15)', [1, 0, 0, 0]],
  ])('of comparisons: %s', (expression, expected) => {
    expect(valuesOf(expression, { metric1, metric2 })).toStrictEqual(expected);
  });

  const conditions = [1, 1, 0, 0, _];
  it.each([
    ['IF(metric1, metric2, metric3)', [30, 0, 20, _, _]],
    ['IF(metric1, 5, metric3)', [5, 5, 20, _, _]],
    ['IF(metric1, metric2, 5)', [30, 0, 5, 5, _]],
  ])('of %s', (expression, expected) => {
    const metrics = { metric1: conditions, metric2: [30, _, 0, 0, 30], metric3: [0, 0, 20, _, 20] };
    expect(valuesOf(expression, metrics)).toStrictEqual(expected);
  });
});

it.each([
  ['a + b', [3, 2, 4, _]],
  ['a - b', [1, 2, -4, _]],
  ['-a * 2', [-4, -4, _, _]],
  // Without a divisor, and with 0 as one, the point is dropped.
  ['a / b', [2, _, 0, _]],
  ['a / (b - 1)', [_, _, 0, _]],
  ['1 + 2 * a', [5, 5, _, _]],
  ['(1 + 2) * a', [6, 6, _, _]],
  ['a - 1 - 1', [0, 0, _, _]],
  ['a == 2 OR b == 4', [1, 1, 1, _]],
  ['a == 2 && b != 2', [1, 0, 0, _]],
  ['a <= 1 || b >= 4', [0, 0, 1, _]],
  ['SUM([a, b])', [3, 2, 4, _]],
  ['SUM(METRICS())', [3, 2, 4, _]],
  ['SUM(METRICS("b")) + 0', [1, _, 4, _]],
  ['MAX([a, b])', [2, 2, 4, _]],
  ['MIN(METRICS())', [1, 2, 4, _]],
  ['AVG([a, b])', [1.5, 1, 2, _]],
  ['IF(a > 1, a)', [2, 2, _, _]],
  ['IF(1, a, b)', [2, 2, _, _]],
  ['FILL(a, 0)', [2, 2, 0, 0]],
  ['FILL(b, REPEAT)', [1, 1, 4, 4]],
  ['FILL(b, LINEAR)', [1, 2.5, 4, _]],
  ['SUM(FILL(METRICS(), 1))', [3, 3, 5, 2]],
  ['other * 2', [6, 4, 8, _]],
])('%s', (expression, expected) => {
  expect(valuesOf(expression, { a: [2, 2, _, _], b: [1, _, 4, _] }, { other: 'a + b' })).toStrictEqual(
    expected,
  );
});

it.each([
  ['a ^ 2', 'does not know "^'],
  ['ABS(a)', 'ABS'],
  ['toString', 'toString'],
  ['SUM(a)', 'advises alarms against'],
  ['MAX([a], 1)', 'advises alarms against'],
  ['5', 'a single time series'],
  ['METRICS()', 'a single time series'],
  ['METRICS() + 1', 'arrays of series only in functions'],
  ['SUM([1])', 'a scalar is no time series'],
  ['FILL(a, a)', 'fills with a number'],
  ['IF(1, 2)', 'one is a time series'],
  ['IF(a)', 'one is a time series'],
  ['METRICS(a)', 'takes a string'],
  ['a b', 'expected an operator'],
  ['(a', 'expected )'],
  ['a +', 'ends too early'],
  ['result', 'refers to itself'],
])('rejects %s', (expression, message) => {
  expect(() => valuesOf(expression, { a: [1] })).toThrow(message);
});
