/** Structures in which P(KC mastered | its prerequisites are, ability) is a logistic curve, and KCs are independent given these. */
import { SLOPE_RANGE, theta, type Design } from '../model.ts';
import { addTo, at, clamp, dot, exp, integerAt, log, logistic, sum } from '../numbers.ts';
import { closedPatterns, type Prerequisites } from './prerequisites.ts';
import { normalized, type Structure } from './structures.ts';

/** Curves of KCs over one or two abilities. A vector: log slopes, locations, and the correlation of two abilities. */
export interface CurveStructure extends Structure {
  /** Returns P(pattern, node) at a * nodes + g for the a-th pattern of the support; the next call overwrites it. */
  readonly joint: (vector: Float64Array) => Float64Array;
}

/** The nodes of one ability or of two. */
interface Space {
  /** Points of each ability. */
  readonly axis: Float64Array;
  /** For each ability the place of each node on the axis. */
  readonly places: readonly Int32Array[];
  /** Weights of the nodes by the correlation of two abilities; they add to 1. */
  readonly weightsAt: (correlation: number) => Float64Array;
}

/** Probabilities of a curve stay inside [FLOOR, 1 - FLOOR], as in the engine. */
const FLOOR = 1e-6;
const LOG_SLOPE = { min: log(SLOPE_RANGE.min), max: log(SLOPE_RANGE.max) } as const;
/** Two abilities that correlate more than this are one. */
const LARGEST_CORRELATION = 0.95;
const FIRST = { logSlope: log(1.7), correlation: 0.5 } as const;
/** Steps of the inner EM, in which only ability is unknown. */
const INNER_STEPS = 2;

/** How the probability of a pattern follows from that of one with a KC less. */
interface Growth {
  /** Place of the smaller pattern in the support. */
  readonly from: number;
  readonly added: number;
  /** KCs that the added one makes possible; they are not mastered yet. */
  readonly opened: readonly number[];
}

function growthOf(support: Int32Array, required: Prerequisites): readonly Growth[] {
  const isOpen = (pattern: number, k: number): boolean =>
    (pattern & (required[k] ?? 0)) === (required[k] ?? 0);
  return Array.from(support.subarray(1), (pattern) => {
    const added = required.findIndex(
      (_, k) => (pattern >>> k) & 1 && !required.some((bits, m) => (pattern >>> m) & 1 && (bits >>> k) & 1),
    );
    const smaller = pattern - 2 ** added;
    const opened = required.flatMap((_, k) => (isOpen(pattern, k) && !isOpen(smaller, k) ? [k] : []));
    return { from: support.indexOf(smaller), added, opened };
  });
}

function curveStructure(required: Prerequisites, abilityOf: readonly number[], space: Space): CurveStructure {
  const { axis, places, weightsAt } = space;
  const support = closedPatterns(required);
  const growth = growthOf(support, required);
  const kcCount = required.length;
  const nodes = places[0]?.length ?? 0;
  const isTwo = places.length > 1;
  const cells = new Float64Array(support.length * nodes);
  const placesOf = (k: number): Int32Array => places[abilityOf[k] ?? 0] as Int32Array;
  const openTo = required.map((bits) => support.map((pattern) => Number((pattern & bits) === bits)));
  const hasIt = required.map((_, k) => support.map((pattern) => (pattern >>> k) & 1));

  const joint = (vector: Float64Array): Float64Array => {
    const lacking = required.map((_, k) => {
      const curve = curveAt(axis, [at(vector, k), at(vector, kcCount + k)]);
      return Float64Array.from(placesOf(k), (place) => 1 - at(curve, place));
    });
    const odds = lacking.map((values) => values.map((q) => (1 - q) / q));
    cells.set(weightsAt(at(vector, 2 * kcCount)));
    required.forEach((bits, k) => {
      if (bits === 0) multiply(cells, 0, lacking[k] as Float64Array);
    });
    growth.forEach(({ from, added, opened }, n) => {
      const place = (n + 1) * nodes;
      cells.copyWithin(place, from * nodes, (from + 1) * nodes);
      multiply(cells, place, odds[added] as Float64Array);
      for (const k of opened) multiply(cells, place, lacking[k] as Float64Array);
    });
    return cells;
  };

  const maximize = (counts: Float64Array, from: Float64Array): Float64Array => {
    const vector = from.slice();
    const [everybody, ...ofKcs] = Array.from({ length: 1 + 2 * kcCount }, () => new Float64Array(nodes));
    for (let step = 0; step < INNER_STEPS; step += 1) {
      joint(vector);
      for (const values of [everybody, ...ofKcs]) values?.fill(0);
      for (let a = 0; a < support.length; a += 1) {
        const ratio = at(counts, a) / rowSum(cells, a, nodes);
        if (ratio === 0) continue;
        addScaled(everybody as Float64Array, cells, a * nodes, ratio);
        for (let k = 0; k < kcCount; k += 1) {
          // A KC without prerequisites is open to all learners.
          if (required[k] !== 0 && integerAt(openTo[k] as Int32Array, a) === 1)
            addScaled(ofKcs[k] as Float64Array, cells, a * nodes, ratio);
          if (integerAt(hasIt[k] as Int32Array, a) === 1)
            addScaled(ofKcs[kcCount + k] as Float64Array, cells, a * nodes, ratio);
        }
      }
      for (let k = 0; k < kcCount; k += 1) {
        const open = required[k] === 0 ? everybody : ofKcs[k];
        const counted = {
          open: onAxis(open as Float64Array, placesOf(k), axis.length),
          mastered: onAxis(ofKcs[kcCount + k] as Float64Array, placesOf(k), axis.length),
        };
        const curve = curveStep(axis, counted, [at(vector, k), at(vector, kcCount + k)]);
        vector[k] = curve[0];
        vector[kcCount + k] = curve[1];
      }
      if (isTwo)
        vector[2 * kcCount] = correlationStep(space, everybody as Float64Array, at(vector, 2 * kcCount));
    }
    return vector;
  };

  return {
    parameters: 2 * kcCount + Number(isTwo),
    support,
    start: Float64Array.from([
      ...required.map(() => FIRST.logSlope),
      ...required.map(() => 0),
      ...(isTwo ? [FIRST.correlation] : []),
    ]),
    joint,
    maximize,
    prior: (vector) => {
      joint(vector);
      return Float64Array.from(support, (_, a) => rowSum(cells, a, nodes));
    },
    project: (vector) => {
      const bounded = boundedCurves(vector, kcCount);
      if (isTwo)
        bounded[2 * kcCount] = clamp(at(vector, 2 * kcCount), -LARGEST_CORRELATION, LARGEST_CORRELATION);
      return bounded;
    },
  };
}

function rowSum(values: Float64Array, row: number, columns: number): number {
  let total = 0;
  for (let n = row * columns; n < (row + 1) * columns; n += 1) total += at(values, n);
  return total;
}

function multiply(values: Float64Array, place: number, factors: Float64Array): void {
  for (let g = 0; g < factors.length; g += 1) values[place + g] = at(values, place + g) * at(factors, g);
}

function addScaled(sums: Float64Array, values: Float64Array, place: number, scale: number): void {
  for (let g = 0; g < sums.length; g += 1) addTo(sums, g, scale * at(values, place + g));
}

/** Sums numbers at nodes by their place on an axis. */
function onAxis(values: Float64Array, places: Int32Array, size: number): Float64Array {
  if (size === values.length) return values;
  const sums = new Float64Array(size);
  for (let g = 0; g < values.length; g += 1) addTo(sums, integerAt(places, g), at(values, g));
  return sums;
}

/** Puts log slopes, then as many locations, into their bounds; what follows stays. */
export function boundedCurves(vector: Float64Array, count: number): Float64Array {
  const result = vector.slice();
  for (let k = 0; k < count; k += 1) {
    result[k] = clamp(at(vector, k), LOG_SLOPE.min, LOG_SLOPE.max);
    result[count + k] = clamp(at(vector, count + k), theta.min, theta.max);
  }
  return result;
}

/** A logistic curve over ability. */
type Curve = readonly [logSlope: number, location: number];

/** Returns a curve at some points, clamped as the engine clamps it. */
export function curveAt(points: Float64Array, [logSlope, location]: Curve): Float64Array {
  const slope = exp(logSlope);
  return points.map((point) => clamp(logistic(slope * (point - location)), FLOOR, 1 - FLOOR));
}

/** Learners at each point: those who can master a KC or solve an item, and those who do. */
interface Counted {
  readonly open: Float64Array;
  readonly mastered: Float64Array;
}

const SCORING_STEPS = 2;
const HALVINGS = 12;
/** Keeps the information invertible where the data contain none; it changes the path to the maximum, not the maximum. */
const RIDGE = 1e-6;

/** Returns a curve with a likelihood that is not below: at most two steps of Fisher scoring in log slope and location. */
export function curveStep(points: Float64Array, counted: Counted, from: Curve): Curve {
  let best = from;
  let terms = curveTerms(points, counted, from);
  for (let step = 0; step < SCORING_STEPS; step += 1) {
    const { score, information } = terms;
    const determinant = information[0] * information[2] - information[1] * information[1];
    const byLogSlope = (information[2] * score[0] - information[1] * score[1]) / determinant;
    const byLocation = (information[0] * score[1] - information[1] * score[0]) / determinant;
    const before = terms.value;
    for (let halving = 0, share = 1; halving < HALVINGS; halving += 1, share /= 2) {
      const candidate = [
        clamp(best[0] + share * clamp(byLogSlope, -1, 1), LOG_SLOPE.min, LOG_SLOPE.max),
        clamp(best[1] + share * clamp(byLocation, -1, 1), theta.min, theta.max),
      ] as const;
      const ahead = curveTerms(points, counted, candidate);
      if (ahead.value <= before) continue;
      best = candidate;
      terms = ahead;
      break;
    }
    if (terms.value === before) break;
  }
  return best;
}

/** Returns the log-likelihood of a curve with score and information in log slope and location. */
function curveTerms(points: Float64Array, { open, mastered }: Counted, curve: Curve) {
  const values = curveAt(points, curve);
  const slope = exp(curve[0]);
  let [value, s0, s1, i00, i01, i11] = [0, 0, 0, RIDGE, 0, RIDGE];
  for (let g = 0; g < points.length; g += 1) {
    const n = at(open, g);
    if (n <= 0) continue;
    const p = at(values, g);
    value += at(mastered, g) * log(p) + Math.max(0, n - at(mastered, g)) * log(1 - p);
    if (p <= FLOOR || p >= 1 - FLOOR) continue;
    const bySlope = slope * (at(points, g) - curve[1]);
    const residual = at(mastered, g) - n * p;
    const weight = n * p * (1 - p);
    s0 += residual * bySlope;
    s1 -= residual * slope;
    i00 += weight * bySlope * bySlope;
    i01 -= weight * bySlope * slope;
    i11 += weight * slope * slope;
  }
  return { value, score: [s0, s1], information: [i00, i01, i11] } as const;
}

const SECTIONS = 30;
const GOLDEN = 0.6180339887498949;

/** Returns a correlation with a likelihood of the learners at each node that is not below: the maximum of the normal density, if the grid confirms it. */
function correlationStep(
  { axis, places: [x, y], weightsAt }: Space,
  everybody: Float64Array,
  from: number,
): number {
  if (x === undefined || y === undefined) return from;
  const first = Float64Array.from(x, (place) => at(axis, place));
  const second = Float64Array.from(y, (place) => at(axis, place));
  const total = sum(everybody);
  const products = dot(
    everybody,
    first.map((value, g) => value * at(second, g)),
  );
  const squares = dot(
    everybody,
    first.map((value, g) => value * value + at(second, g) * at(second, g)),
  );
  const density = (r: number): number =>
    -0.5 * total * log(1 - r * r) - (squares - 2 * r * products) / (2 * (1 - r * r));
  let [low, high] = [-LARGEST_CORRELATION, LARGEST_CORRELATION];
  for (let section = 0; section < SECTIONS; section += 1) {
    const [a, b] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
    if (density(a) > density(b)) high = b;
    else low = a;
  }
  const best = (low + high) / 2;
  const onGrid = (r: number): number =>
    dot(
      everybody,
      weightsAt(r).map((weight) => log(Math.max(weight, 1e-300))),
    );
  return onGrid(best) > onGrid(from) ? best : from;
}

/** Creates the structure of the calibration: KCs are independent given one normal ability. */
export function independent(design: Design): CurveStructure {
  return hierarchyOfCurves(
    design,
    Array.from({ length: design.kcCount }, () => 0),
  );
}

/** Creates a hierarchy in which each KC has a curve among the learners who have its prerequisites. */
export function hierarchyOfCurves({ points, weights }: Design, required: Prerequisites): CurveStructure {
  const places = [Int32Array.from(points, (_, g) => g)];
  return curveStructure(
    required,
    required.map(() => 0),
    { axis: points, places, weightsAt: () => weights },
  );
}

/** Nodes per ability where there are two, from -LIMIT to LIMIT. */
const SIDE = 17;
const LIMIT = 4.8;

/** Creates two correlated normal abilities: each KC has a curve over that of its part. */
export function twoAbilities(abilityOf: readonly number[]): CurveStructure {
  const axis = Float64Array.from({ length: SIDE }, (_, n) => (2 * LIMIT * n) / (SIDE - 1) - LIMIT);
  const x = Int32Array.from({ length: SIDE * SIDE }, (_, g) => g % SIDE);
  const y = x.map((_, g) => Math.floor(g / SIDE));
  return curveStructure(
    abilityOf.map(() => 0),
    abilityOf,
    {
      axis,
      places: [x, y],
      weightsAt: (r) =>
        normalized(
          Float64Array.from(x, (place, g) => {
            const [first, second] = [at(axis, place), at(axis, integerAt(y, g))];
            return -(first * first - 2 * r * first * second + second * second) / (2 * (1 - r * r));
          }),
        ),
    },
  );
}
