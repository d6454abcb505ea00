import { tokensOf, type Tokens } from './tokens.ts';

/*
 * Metric math, as far as alarms of this project may need it. Quotes are of the page "Using metric math" of the CloudWatch user guide.
 */

/** One value per period, the oldest first; undefined: the period has no data point. */
export type Series = readonly (number | undefined)[];
type Scalar = { readonly scalar: number };
type Value = Scalar | { readonly series: Series } | { readonly array: readonly Series[] };

export interface MathInput {
  /** The metrics of the alarm, by id, in the order of the template. */
  readonly metrics: ReadonlyMap<string, Series>;
  /** How many periods each series has. */
  readonly length: number;
}

/**
 * Compiles an expression to a function that returns its time series.
 * @param names the ids of the alarm's metrics
 * @param expressions the expressions of the alarm, by id
 * @throws for a function, an operator or a form that CloudWatch or the evaluator does not know, and for one that CloudWatch advises against in alarms;
 * the function throws for a value of the wrong type
 */
export function compileExpression(
  id: string,
  names: ReadonlySet<string>,
  expressions: ReadonlyMap<string, string>,
  within: readonly string[] = [],
): (input: MathInput) => Series {
  const text = expressions.get(id);
  if (text === undefined || within.includes(id))
    throw new Error(`expression ${id} is missing or refers to itself`);
  const tokens = tokensOf(text, TOKEN);
  const node = either(tokens, { names, expressions, within: [...within, id] });
  if (tokens.peek() !== undefined) tokens.fail('expected an operator or the end');
  return (input) => {
    const value = node(input);
    // "The final result of any math expression must be a single time series or an array of time series"; an alarm can watch only one.
    if (!('series' in value)) throw new Error(`an alarm needs a single time series: ${text}`);
    return value.series;
  };
}

const TOKEN = /[A-Za-z]\w*|\d+(?:\.\d+)?|"[^"]*"|&&|\|\||[=!<>]=|[-+*/<>(),[\]]/;

interface Scope {
  readonly names: ReadonlySet<string>;
  readonly expressions: ReadonlyMap<string, string>;
  readonly within: readonly string[];
}

type Node = (input: MathInput) => Value;
type Rule = (tokens: Tokens, scope: Scope) => Node;

/** A level of operators that are taken from left to right. */
function level(operand: Rule, operators: Readonly<Record<string, (a: number, b: number) => number>>): Rule {
  const signs = Object.keys(operators);
  return (tokens, scope) => {
    let node = operand(tokens, scope);
    for (let sign = tokens.take(...signs); sign !== undefined; sign = tokens.take(...signs)) {
      const operator = operators[sign] ?? tokens.fail(`no operator ${sign}`);
      const [left, right] = [node, operand(tokens, scope)];
      node = (input) => combine(left(input), right(input), operator, input.length);
    }
    return node;
  };
}

const bit = (condition: boolean): number => (condition ? 1 : 0);

const factor = level(unary, { '*': (a, b) => a * b, '/': (a, b) => a / b });
const sum = level(factor, { '+': (a, b) => a + b, '-': (a, b) => a - b });
const comparison = level(sum, {
  '==': (a, b) => bit(a === b),
  '!=': (a, b) => bit(a !== b),
  '<=': (a, b) => bit(a <= b),
  '>=': (a, b) => bit(a >= b),
  '<': (a, b) => bit(a < b),
  '>': (a, b) => bit(a > b),
});
const both = level(comparison, {
  AND: (a, b) => bit(a !== 0 && b !== 0),
  '&&': (a, b) => bit(a !== 0 && b !== 0),
});
const either = level(both, {
  OR: (a, b) => bit(a !== 0 || b !== 0),
  '||': (a, b) => bit(a !== 0 || b !== 0),
});

/**
 * Applies an operator to each period. "Missing values in a time series are treated as 0", and so is the missing value of one of two series that are
 * compared. A period without a value in any of them has none in the result. "If the value of a data point causes a function to attempt to divide by
 * zero, the data point is dropped".
 */
function combine(
  left: Value,
  right: Value,
  operator: (a: number, b: number) => number,
  length: number,
): Value {
  if ('array' in left || 'array' in right)
    throw new Error('the evaluator knows arrays of series only in functions');
  if ('scalar' in left && 'scalar' in right) return { scalar: operator(left.scalar, right.scalar) };
  return {
    series: periods(length, (index) => {
      const [a, b] = [valueIn(left, index), valueIn(right, index)];
      const exists = [left, right].some((side) => 'series' in side && valueIn(side, index) !== undefined);
      const result = operator(a ?? 0, b ?? 0);
      return exists && Number.isFinite(result) ? result : undefined;
    }),
  };
}

function periods(length: number, valueAt: (index: number) => number | undefined): Series {
  return Array.from({ length }, (_, index) => valueAt(index));
}

function valueIn(value: Exclude<Value, { array: unknown }>, index: number): number | undefined {
  return 'scalar' in value ? value.scalar : value.series[index];
}

function unary(tokens: Tokens, scope: Scope): Node {
  if (tokens.take('-') === undefined) return primary(tokens, scope);
  const operand = unary(tokens, scope);
  return (input) => combine({ scalar: 0 }, operand(input), (a, b) => a - b, input.length);
}

function primary(tokens: Tokens, scope: Scope): Node {
  const token = tokens.next();
  if (token === '(') {
    const inner = either(tokens, scope);
    tokens.expect(')');
    return inner;
  }
  if (token === '[') {
    const members = list(tokens, scope, ']');
    return (input) => ({ array: members.flatMap((member) => seriesOf(member(input))) });
  }
  if (/^\d/.test(token)) return () => ({ scalar: Number(token) });
  if (scope.names.has(token)) return ({ metrics }) => ({ series: metrics.get(token) ?? [] });
  if (scope.expressions.has(token)) {
    const other = compileExpression(token, scope.names, scope.expressions, scope.within);
    return (input) => ({ series: other(input) });
  }
  const own = Object.hasOwn(functions, token) ? functions[token] : undefined;
  if (own === undefined || tokens.take('(') === undefined)
    return tokens.fail(`the evaluator does not know ${token}`);
  return own(tokens, scope);
}

/** The operands up to a closing token. */
function list(tokens: Tokens, scope: Scope, end: string): readonly Node[] {
  const nodes: Node[] = [];
  while (tokens.take(end) === undefined) {
    if (nodes.length > 0) tokens.expect(',');
    nodes.push(either(tokens, scope));
  }
  return nodes;
}

function seriesOf(value: Value): readonly Series[] {
  if ('scalar' in value) throw new Error('a scalar is no time series');
  return 'array' in value ? value.array : [value.series];
}

/**
 * A function over an array of time series. Of a single one it returns a scalar: "We recommend that you do not use this function in CloudWatch alarms
 * if you want the function to return a scalar. […] This function acts differently when extra data is requested".
 */
function across(result: (values: readonly number[], count: number) => number): Rule {
  return (tokens, scope) => {
    const [node, ...more] = list(tokens, scope, ')');
    const advice = 'CloudWatch advises alarms against this function of a single time series';
    if (node === undefined || more.length > 0) return tokens.fail(advice);
    return (input) => {
      const value = node(input);
      if (!('array' in value)) throw new Error(advice);
      return {
        series: periods(input.length, (index) => {
          const values = value.array.flatMap((series) => series[index] ?? []);
          return values.length === 0 ? undefined : result(values, value.array.length);
        }),
      };
    };
  };
}

const total = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

const functions: Readonly<Record<string, Rule>> = {
  SUM: across(total),
  // "Missing values are treated as 0."
  AVG: across((values, count) => total(values) / count),
  MAX: across((values) => Math.max(...values)),
  MIN: across((values) => Math.min(...values)),

  /** "The METRICS() function returns all the metrics in the request. Math expressions aren't included"; with a string those with it in their id. */
  METRICS: (tokens) => {
    const part = tokens.peek() === ')' ? '""' : tokens.next();
    if (!part.startsWith('"')) tokens.fail('METRICS takes a string');
    tokens.expect(')');
    return ({ metrics }) => ({
      array: [...metrics].flatMap(([id, series]) => (id.includes(part.slice(1, -1)) ? [series] : [])),
    });
  },

  /**
   * "Fills the missing values of a time series": with a number, with the value before the gap (REPEAT), or along a line through it (LINEAR). "When you
   * use this function in an alarm, you can encounter an issue if your metrics are being published with a slight delay, and the most recent minute never
   * has data. In this case, FILL replaces that missing data point with the requested value. That causes the latest data point for the metric to always
   * be the FILL value, which can result in the alarm being stuck in either OK state or ALARM state." This follows from the order of things: the
   * expression is computed over the whole evaluation range before the alarm looks for missing points.
   */
  FILL: (tokens, scope) => {
    const node = either(tokens, scope);
    tokens.expect(',');
    const mode = tokens.take('REPEAT', 'LINEAR');
    const filler = mode === undefined ? either(tokens, scope) : undefined;
    tokens.expect(')');
    return (input) => {
      const [value, fill] = [node(input), filler?.(input)];
      if (fill !== undefined && !('scalar' in fill))
        throw new Error('the evaluator fills with a number, REPEAT or LINEAR');
      const filled = seriesOf(value).map((series) =>
        fill === undefined ? bridged(series, mode === 'LINEAR') : series.map((one) => one ?? fill.scalar),
      );
      const [single] = filled;
      return 'series' in value && single !== undefined ? { series: single } : { array: filled };
    };
  },

  /**
   * "The condition evaluates to FALSE if the value of the condition data point is 0, and to TRUE if the value of the condition is any other value". The
   * point is dropped if the condition has none, and if it is false and there is no third value; a missing second value is 0.
   */
  IF: (tokens, scope) => {
    const nodes = list(tokens, scope, ')');
    const form = 'IF takes a condition and one or two values, of which one is a time series';
    if (nodes.length < 2 || nodes.length > 3) tokens.fail(form);
    return (input) => {
      const values = nodes.map((node) => node(input));
      if (values.some((value) => 'array' in value) || values.every((value) => 'scalar' in value))
        throw new Error(form);
      const [condition, yes, no] = values;
      const at = (value: Value | undefined, index: number) =>
        value === undefined || 'array' in value ? undefined : valueIn(value, index);
      const isSeries = condition !== undefined && 'series' in condition;
      return {
        series: periods(input.length, (index) => {
          const test = at(condition, index);
          if (test === undefined) return undefined;
          return test === 0 ? at(no, index) : (at(yes, index) ?? (isSeries ? 0 : undefined));
        }),
      };
    };
  },
};

/** Fills a gap from its edges. One without the edge that it needs stays. */
function bridged(series: Series, linear: boolean): Series {
  return series.map((value, index) => {
    if (value !== undefined) return value;
    const before = series.findLastIndex((one, at) => at < index && one !== undefined);
    const after = series.findIndex((one, at) => at > index && one !== undefined);
    const [from, to] = [series[before], series[after]];
    if (!linear || from === undefined || to === undefined) return linear ? undefined : from;
    return from + ((to - from) * (index - before)) / (after - before);
  });
}
