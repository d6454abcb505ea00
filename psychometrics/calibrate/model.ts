/**
 * The model that is fitted: `ho-cdm-grid/1` of docs/engine.md, a higher-order cognitive diagnosis model (de la Torre and Douglas, 2004, Psychometrika
 * 69, 333-353) with DINA items (Junker and Sijtsma, 2001, Applied Psychological Measurement 25, 258-272) or monotone saturated G-DINA items (de la
 * Torre, 2011, Psychometrika 76, 179-199). Grid, prior and floor are the engine's, so that the engine later computes with the fitted model.
 */
import {
  curveOver,
  dependentPrior,
  extrasOf,
  hasNoCurve,
  isIndependent,
  isPossible,
  noDependence,
  startingExtras,
  type LatentPrior,
  type PriorDesign,
  type PriorParameters,
} from './dependence.ts';
import { addTo, at, exp, integerAt, sum } from './numbers.ts';

export type ItemModel = 'dina' | 'gdina';

/** Whether the curves of the KCs have a weakly informative prior (penalty.ts), or the likelihood has no penalty. */
export type Penalty = 'weak' | 'none';

/** The grid of ability and its normal prior. */
export const theta = { nodes: 61, min: -6, max: 6, mean: 0, sd: 1 } as const;

/** The most KCs whose 2^K patterns are enumerated: the engine's limit for the KCs of one component. */
export const MAXIMUM_KCS = 12;

/** Bounds of the slopes: at 0.05 mastery hardly depends on ability, 25 is a step between two nodes of the grid. */
export const SLOPE_RANGE = { min: 0.05, max: 25 } as const;

/** One item: its KCs, and its own pattern for each pattern of all KCs. */
export interface ItemDesign {
  /** Ascending indices into the KCs. */
  readonly kcs: readonly number[];
  /** 2^kcs.length. */
  readonly size: number;
  /** Pattern of all KCs -> pattern of the item's own; bit i of the latter is `kcs[i]`. */
  readonly own: Uint16Array;
  /** Whether a learner can have each own pattern: 0 where prerequisites rule it out. */
  readonly possible: Uint8Array;
}

/** The part of the model that stays the same while parameters are fitted. */
export interface Design extends PriorDesign {
  readonly model: ItemModel;
  readonly items: readonly ItemDesign[];
  /** Item probabilities stay inside [bound, 1 - bound]. */
  readonly bound: number;
  readonly penalty: Penalty;
  /** Whether an additional KC never lowers P(correct). False only to compute what that costs. */
  readonly monotone: boolean;
}

/** The fitted parameters. */
export interface Parameters extends PriorParameters {
  /** P(correct | own pattern) per item. */
  readonly tables: readonly Float64Array[];
}

/** Creates the design of a Q-matrix. `kcsOf` contains for each item the ascending indices of its KCs, at least one. */
export function createDesign(
  model: ItemModel,
  kcCount: number,
  kcsOf: readonly (readonly number[])[],
  {
    bound,
    penalty,
    dependence = noDependence(kcCount),
  }: Pick<Design, 'bound' | 'penalty'> & Partial<Pick<Design, 'dependence'>>,
): Design {
  const patterns = 2 ** kcCount;
  const points = Float64Array.from(
    { length: theta.nodes },
    (_, g) => theta.min + ((theta.max - theta.min) * g) / (theta.nodes - 1),
  );
  const raw = points.map((point, g) => {
    const z = (point - theta.mean) / theta.sd;
    return exp(-0.5 * z * z) * (g === 0 || g === theta.nodes - 1 ? 0.5 : 1);
  });
  const total = sum(raw);
  return {
    model,
    kcCount,
    patterns,
    items: kcsOf.map((kcs) => {
      const own = Uint16Array.from({ length: patterns }, (_, pattern) =>
        kcs.reduce((bits, kc, bit) => bits | (((pattern >>> kc) & 1) << bit), 0),
      );
      const possible = new Uint8Array(2 ** kcs.length);
      own.forEach((s, pattern) => {
        if (isPossible(dependence, pattern)) possible[s] = 1;
      });
      return { kcs, size: 2 ** kcs.length, own, possible };
    }),
    points,
    weights: raw.map((weight) => weight / total),
    bound,
    penalty,
    monotone: true,
    dependence,
  };
}

/** Returns the number of named parameters: two per DINA item, one per possible G-DINA pattern, two per curve of a KC, and those of dependence. */
export function parameterCount({ model, items, kcCount, dependence }: Design): number {
  const curves = Array.from({ length: kcCount }, (_, k) => k).filter((k) => !hasNoCurve(dependence, k));
  return items.reduce(
    (total, { possible }) => total + (model === 'dina' ? 2 : sum(possible)),
    2 * curves.length + extrasOf(dependence).length,
  );
}

/** Returns the start of the search: every item is informative, every KC is mastered with probability 1/2 at the mean of theta. */
export function startingParameters({ model, kcCount, items, dependence }: Design): Parameters {
  const guess = 0.2;
  const slip = 0.2;
  return {
    tables: items.map(({ kcs, size }) =>
      Float64Array.from({ length: size }, (_, own) =>
        model === 'dina'
          ? own === size - 1
            ? 1 - slip
            : guess
          : guess + ((1 - slip - guess) * bitCount(own)) / kcs.length,
      ),
    ),
    slopes: new Float64Array(kcCount).fill(2),
    locations: new Float64Array(kcCount),
    extras: startingExtras(dependence),
  };
}

/** Returns another start: guesses and slips from 0.05 to 0.4, slopes from 1 to 4, locations from -1.5 to 1.5. */
export function randomParameters(design: Design, uniform: () => number): Parameters {
  const between = (low: number, high: number): number => low + (high - low) * uniform();
  return {
    tables: design.items.map(({ kcs, size }) => {
      const guess = between(0.05, 0.4);
      const success = 1 - between(0.05, 0.4);
      return Float64Array.from({ length: size }, (_, own) => {
        const share = design.model === 'dina' ? Number(own === size - 1) : bitCount(own) / kcs.length;
        return guess + (success - guess) * share;
      });
    }),
    slopes: Float64Array.from({ length: design.kcCount }, () => between(1, 4)),
    locations: Float64Array.from({ length: design.kcCount }, () => between(-1.5, 1.5)),
    extras: startingExtras(design.dependence).map((value) => value + between(-1, 1)),
  };
}

/** Returns how many KCs a pattern contains. */
function bitCount(pattern: number): number {
  let count = 0;
  for (let rest = pattern; rest > 0; rest >>>= 1) count += rest & 1;
  return count;
}

/** Computes P(pattern, node): for KCs that are independent given theta w_g * product of pi^a (1 - pi)^(1 - a), for all patterns by doubling. */
export function latentPrior(design: Design, parameters: PriorParameters): LatentPrior {
  const { kcCount, patterns, points, weights } = design;
  if (!isIndependent(design.dependence)) return dependentPrior(design, parameters);
  const { slopes, locations } = parameters;
  const nodes = weights.length;
  const curves = new Float64Array(kcCount * nodes);
  const joint = new Float64Array(patterns * nodes);
  joint.set(weights);
  for (let k = 0; k < kcCount; k += 1) {
    const curve = curveOver(points, at(slopes, k), at(locations, k));
    curves.set(curve, k * nodes);
    const bit = 2 ** k;
    for (let pattern = 0; pattern < bit; pattern += 1) {
      for (let g = 0; g < nodes; g += 1) {
        const before = at(joint, pattern * nodes + g);
        joint[(pattern + bit) * nodes + g] = before * at(curve, g);
        joint[pattern * nodes + g] = before * (1 - at(curve, g));
      }
    }
  }
  const marginal = new Float64Array(patterns);
  for (let pattern = 0; pattern < patterns; pattern += 1) {
    for (let g = 0; g < nodes; g += 1) addTo(marginal, pattern, at(joint, pattern * nodes + g));
  }
  return { curves, joint, patterns: marginal };
}

/** Answers of learners; those with the same answers share a row. */
export interface Responses {
  readonly learners: number;
  readonly items: number;
  /** Distinct rows of answers, by rows: 1 correct, 0 wrong, -1 missing. */
  readonly answers: Int8Array;
  /** How many learners gave each row. */
  readonly counts: Float64Array;
}

/** Returns the answers of one row. */
export function answersOf(responses: Responses, row: number): Int8Array {
  return responses.answers.subarray(row * responses.items, (row + 1) * responses.items);
}

/** Groups learners with equal answers, in the order of their first. `answers` is learners x items. */
export function collapse(answers: Int8Array, items: number): Responses {
  const learners = answers.length / items;
  const rows = new Map<string, number>();
  const first: number[] = [];
  const counts: number[] = [];
  for (let learner = 0; learner < learners; learner += 1) {
    const key = answers.subarray(learner * items, (learner + 1) * items).join('');
    const row = rows.get(key);
    if (row === undefined) {
      rows.set(key, first.length);
      first.push(learner);
      counts.push(1);
    } else {
      counts[row] = (counts[row] ?? 0) + 1;
    }
  }
  const distinct = new Int8Array(first.length * items);
  first.forEach((learner, row) => {
    distinct.set(answers.subarray(learner * items, (learner + 1) * items), row * items);
  });
  return { learners, items, answers: distinct, counts: Float64Array.from(counts) };
}

/** Returns P(correct) of an item for a pattern of all KCs. */
export function successOf(design: Design, parameters: Parameters, item: number, pattern: number): number {
  const table = parameters.tables[item];
  const own = design.items[item]?.own;
  if (table === undefined || own === undefined) throw new RangeError(`there is no item ${item}`);
  return at(table, integerAt(own, pattern));
}
