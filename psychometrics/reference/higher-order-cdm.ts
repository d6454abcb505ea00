/**
 * The model of docs/engine.md by brute force: every theta node with every pattern of all KCs, in the simplest form. It shares no code with the
 * engine, so that the two agree only if both are right. Feasible up to about 10 KCs. Tests, recovery study and replay compare the engine with it.
 */
import type { PriorBlock } from '#functions/mastery/engine/index.ts';

/** A whole model as written in a calibration; `success` contains P(correct) by pattern, where bit i represents the item's i-th KC. */
export interface ReferenceModel {
  readonly nodes: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly sd: number;
  readonly kcs: readonly { readonly slope: number; readonly location: number }[];
  readonly items: readonly { readonly kcs: readonly number[]; readonly success: readonly number[] }[];
  readonly scale: readonly number[];
  /** KCs that depend on each other given theta; all others are independent. A block's KCs are indices. */
  readonly blocks?: readonly ReferenceBlock[];
}

/** A block of docs/engine.md; pattern S has bit i set if its i-th KC is mastered. */
export type ReferenceBlock = { readonly kcs: readonly number[] } & (
  | { readonly form: 'hierarchy'; readonly prerequisites: readonly (readonly number[])[] }
  | { readonly form: 'strand'; readonly correlation: number }
  | { readonly form: 'saturated'; readonly slope: number; readonly weights: readonly number[] }
  | { readonly form: 'table'; readonly probabilities: readonly (readonly number[])[] }
);

/** Returns the blocks of a calibration, whose KCs have names, with the indices of these. */
export function referenceBlocks(
  blocks: readonly PriorBlock[],
  names: readonly string[],
): readonly ReferenceBlock[] {
  const indexOf = (name: string): number => names.indexOf(name);
  return blocks.map((block) =>
    block.form === 'hierarchy'
      ? {
          ...block,
          kcs: block.kcs.map(indexOf),
          prerequisites: block.prerequisites.map((before) => before.map(indexOf)),
        }
      : { ...block, kcs: block.kcs.map(indexOf) },
  );
}

export interface ReferenceAnswer {
  readonly item: number;
  readonly correct: boolean;
}

/** One point of the latent space with its posterior probability. */
interface State {
  readonly node: number;
  readonly mastered: readonly boolean[];
  readonly probability: number;
}

export interface ReferencePosterior {
  readonly kcs: readonly number[];
  readonly theta: readonly number[];
  readonly scaleScore: number;
  readonly standardError: number;
  /** log P(answers). */
  readonly logLikelihood: number;
  /** I(outcome; state) in bits, per item. */
  readonly information: readonly number[];
  /** I(outcome; which of these KCs are mastered) in bits, for one item. */
  readonly informationOn: (item: number, kcs: readonly number[]) => number;
  /** P(all of these KCs mastered). */
  readonly allMastered: (kcs: readonly number[]) => number;
}

/** Computes every figure of the engine from its definition. */
export function referencePosterior(
  model: ReferenceModel,
  answers: readonly ReferenceAnswer[],
): ReferencePosterior {
  const points = Array.from({ length: model.nodes }, (_, g) => {
    return model.min + (g * (model.max - model.min)) / (model.nodes - 1);
  });
  const density = points.map((t, g) => {
    const edge = g === 0 || g === model.nodes - 1 ? 0.5 : 1;
    return edge * Math.exp(-((t - model.mean) ** 2) / (2 * model.sd ** 2));
  });
  const mass = sum(density);
  const patterns = Array.from({ length: 2 ** model.kcs.length }, (_, code) => {
    const mastered = model.kcs.map((__, k) => Math.floor(code / 2 ** k) % 2 === 1);
    const answered = answers.map(({ item, correct }) => {
      const success = successProbability(model, item, mastered);
      return Math.log(correct ? success : 1 - success);
    });
    return { mastered, answered };
  });
  const unnormalized = points.flatMap((t, node) => {
    const prior = Math.log(at(density, node) / mass);
    const chances = model.kcs.map((_, k) => {
      const probability = curve(model, k, t);
      return { has: Math.log(probability), lacks: Math.log(1 - probability) };
    });
    const blocks = (model.blocks ?? []).map((block) => ({
      kcs: block.kcs,
      logs: blockPrior(model, block, t, node).map((probability) => Math.log(probability)),
    }));
    const bound = new Set(blocks.flatMap(({ kcs }) => kcs));
    return patterns.map(({ mastered, answered }) => {
      const own = chances.flatMap(({ has, lacks }, k) =>
        bound.has(k) ? [] : mastered[k] === true ? has : lacks,
      );
      const joint = blocks.map(({ kcs, logs }) =>
        at(logs, sum(kcs.map((k, i) => (mastered[k] === true ? 2 ** i : 0)))),
      );
      return { node, mastered, log: [...own, ...joint, ...answered].reduce((a, b) => a + b, prior) };
    });
  });
  const highest = unnormalized.reduce((a, { log }) => Math.max(a, log), -Infinity);
  const total = sum(unnormalized.map(({ log }) => Math.exp(log - highest)));
  const states: State[] = unnormalized
    .map(({ node, mastered, log }) => ({ node, mastered, probability: Math.exp(log - highest) / total }))
    .filter(({ probability }) => probability > 0);

  const theta = points.map((_, g) =>
    sum(states.filter(({ node }) => node === g).map((state) => state.probability)),
  );
  const scaleScore = sum(theta.map((p, g) => p * at(model.scale, g)));
  return {
    kcs: model.kcs.map((_, k) =>
      sum(states.filter(({ mastered }) => mastered[k] === true).map((state) => state.probability)),
    ),
    theta,
    scaleScore,
    standardError: Math.sqrt(sum(theta.map((p, g) => p * (at(model.scale, g) - scaleScore) ** 2))),
    logLikelihood: highest + Math.log(total),
    // Computed on demand: it costs more than all the rest.
    get information() {
      return model.items.map((_, item) => information(model, item, states));
    },
    informationOn: (item, kcs) => informationOn(model, item, kcs, states),
    allMastered: (kcs) =>
      sum(
        states
          .filter(({ mastered }) => kcs.every((k) => mastered[k] === true))
          .map(({ probability }) => probability),
      ),
  };
}

/** Returns P(KC mastered | ability), or with the ability of a strand. */
function curve({ kcs }: Pick<ReferenceModel, 'kcs'>, kc: number, ability: number): number {
  const { slope, location } = at(kcs, kc);
  return Math.min(1 - 1e-6, Math.max(1e-6, 1 / (1 + Math.exp(-slope * (ability - location)))));
}

/** The trapezoid rule by which a strand's own part of ability is integrated out, with weights that sum to 1. */
const strandGrid = Array.from({ length: 31 }, (_, z) => {
  const zeta = -5 + z / 3;
  return { zeta, density: (z % 30 === 0 ? 0.5 : 1) * Math.exp(-(zeta ** 2) / 2) };
});

/** Returns P(pattern | theta) for each pattern of the block. */
function blockPrior(
  model: Pick<ReferenceModel, 'kcs' | 'mean' | 'sd'>,
  block: ReferenceBlock,
  t: number,
  node: number,
): readonly number[] {
  const patterns = Array.from({ length: 2 ** block.kcs.length }, (_, code) =>
    block.kcs.map((__, i) => Math.floor(code / 2 ** i) % 2 === 1),
  );
  const product = (factors: readonly number[]): number => factors.reduce((a, b) => a * b, 1);
  const independent = (mastered: readonly boolean[], ability: number): number =>
    product(
      block.kcs.map((k, i) =>
        mastered[i] === true ? curve(model, k, ability) : 1 - curve(model, k, ability),
      ),
    );
  switch (block.form) {
    case 'table': {
      const row = at(block.probabilities, node);
      return row.map((value) => value / sum(row));
    }
    case 'saturated': {
      const exponents = patterns.map((mastered) => block.slope * mastered.filter(Boolean).length * t);
      const highest = exponents.reduce((a, b) => Math.max(a, b));
      const weights = exponents.map(
        (exponent, code) => at(block.weights, code) * Math.exp(exponent - highest),
      );
      return weights.map((weight) => weight / sum(weights));
    }
    case 'strand': {
      const total = sum(strandGrid.map(({ density }) => density));
      const { mean, sd } = model;
      return patterns.map((mastered) =>
        sum(
          strandGrid.map(({ zeta, density }) => {
            const own = sd * Math.sqrt(1 - block.correlation ** 2) * zeta;
            return (density / total) * independent(mastered, mean + block.correlation * (t - mean) + own);
          }),
        ),
      );
    }
    case 'hierarchy':
      return patterns.map((mastered) =>
        product(
          block.kcs.map((k, i) => {
            const isOpen = at(block.prerequisites, i).every(
              (needed) => mastered[block.kcs.indexOf(needed)] === true,
            );
            const probability = isOpen ? curve(model, k, t) : 0;
            return mastered[i] === true ? probability : 1 - probability;
          }),
        ),
      );
  }
}

function successProbability(model: ReferenceModel, item: number, mastered: readonly boolean[]): number {
  const { kcs, success } = at(model.items, item);
  return at(success, sum(kcs.map((k, i) => (mastered[k] === true ? 2 ** i : 0))));
}

/** Returns the sum over states and outcomes of P(state, outcome) log2(P(outcome | state) / P(outcome)). */
function information(model: ReferenceModel, item: number, states: readonly State[]): number {
  const marginal = sum(
    states.map((state) => state.probability * successProbability(model, item, state.mastered)),
  );
  return sum(
    states.map(({ probability, mastered }) => {
      const success = successProbability(model, item, mastered);
      const gain =
        success * Math.log2(success / marginal) + (1 - success) * Math.log2((1 - success) / (1 - marginal));
      return probability * gain;
    }),
  );
}

/** Returns the same over the patterns of some KCs: states with the same pattern are added up. */
function informationOn(
  model: ReferenceModel,
  item: number,
  kcs: readonly number[],
  states: readonly State[],
): number {
  const merged = new Map<string, State[]>();
  for (const state of states) {
    const pattern = kcs.map((k) => (state.mastered[k] === true ? '1' : '0')).join('');
    merged.set(pattern, [...(merged.get(pattern) ?? []), state]);
  }
  const parts = [...merged.values()].map((alike) => {
    const weight = sum(alike.map(({ probability }) => probability));
    const correct = sum(
      alike.map(({ probability, mastered }) => probability * successProbability(model, item, mastered)),
    );
    return { weight, correct };
  });
  const marginal = sum(parts.map(({ correct }) => correct));
  return sum(
    parts.map(({ weight, correct }) => {
      const success = correct / weight;
      const gain =
        success * Math.log2(success / marginal) + (1 - success) * Math.log2((1 - success) / (1 - marginal));
      return weight * gain;
    }),
  );
}

/** Returns Kahan's sum: the reference must not be the side that loses digits. */
function sum(values: readonly number[]): number {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const corrected = value - lost;
    const next = total + corrected;
    lost = next - total - corrected;
    total = next;
  }
  return total;
}

/** Returns the value at an index that must exist. */
function at<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new RangeError(`the model has no index ${index}`);
  return value;
}
