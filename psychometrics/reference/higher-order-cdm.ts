/**
 * The model of docs/engine.md by brute force: every theta node with every pattern of all KCs, in the simplest form. It shares no code with the
 * engine, so that the two agree only if both are right. Feasible up to about 10 KCs. Tests, recovery study and replay compare the engine with it.
 */

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
    const chances = model.kcs.map(({ slope, location }) => {
      const raw = 1 / (1 + Math.exp(-slope * (t - location)));
      const probability = Math.min(1 - 1e-6, Math.max(1e-6, raw));
      return { has: Math.log(probability), lacks: Math.log(1 - probability) };
    });
    return patterns.map(({ mastered, answered }) => {
      const own = chances.map(({ has, lacks }, k) => (mastered[k] === true ? has : lacks));
      return { node, mastered, log: [...own, ...answered].reduce((a, b) => a + b, prior) };
    });
  });
  const highest = unnormalized.reduce((a, { log }) => Math.max(a, log), -Infinity);
  const total = sum(unnormalized.map(({ log }) => Math.exp(log - highest)));
  const states: State[] = unnormalized.map(({ node, mastered, log }) => {
    return { node, mastered, probability: Math.exp(log - highest) / total };
  });

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
  };
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
