import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { CalibrationParameters } from '#shared/records/records.ts';

/** What is true of a simulated learner, to hold the result against. */
export interface Truth {
  /** Which knowledge components are mastered, by CASE GUID. */
  readonly mastered: ReadonlySet<string>;
  /** The scale value at the learner's ability. */
  readonly scale: number;
}

/** A learner who can answer items of one bank. */
export interface Learner {
  readonly description: string;
  /** Undefined for a replayed learner: only the answers are known. */
  readonly truth: Truth | undefined;
  /** Whether the answer to an item is correct; undefined for an item of another bank. */
  readonly answer: (artifactVersionId: string) => boolean | undefined;
  /** Whether the answer to an item is missing in the data of a replayed learner, and simulated instead. */
  readonly isFilledIn: (artifactVersionId: string) => boolean;
}

/**
 * A learner drawn from the calibration's own model: an ability from the prior on the grid, each component mastered with its probability at
 * that ability, each answer correct with the item's probability for that pattern. Every draw has its own name, so the same seed gives the
 * same learner and the same answers in any order of the items.
 */
export function simulatedLearner(parameters: CalibrationParameters, randomSeed: number): Learner {
  const draw = (...name: readonly string[]): number => uniform([String(randomSeed), ...name]);
  const { theta, kcs, items, scale } = parameters;
  const abilities = Array.from(
    { length: theta.nodes },
    (_, node) => theta.min + ((theta.max - theta.min) * node) / (theta.nodes - 1),
  );
  const weights = abilities.map(
    (ability, node) =>
      (node === 0 || node === theta.nodes - 1 ? 0.5 : 1) *
      Math.exp(-((ability - theta.mean) ** 2) / (2 * theta.sd ** 2)),
  );
  const node = pick(weights, draw('ability'));
  const ability = abilities[node] ?? theta.mean;
  const mastered = new Set(
    kcs
      .filter(
        ({ guid, slope, location }) =>
          draw('component', guid) < 1 / (1 + Math.exp(-slope * (ability - location))),
      )
      .map(({ guid }) => guid),
  );
  const byVersion = new Map(items.map((item) => [item.artifactVersionId, item]));
  return {
    description: `simulated, random seed ${randomSeed}`,
    truth: { mastered, scale: scale[node] ?? NaN },
    answer(artifactVersionId) {
      const item = byVersion.get(artifactVersionId);
      if (item === undefined) return undefined;
      const pattern = item.kcs.reduce((bits, guid, bit) => bits + (mastered.has(guid) ? 2 ** bit : 0), 0);
      return draw('item', item.qtiIdentifier) < (item.probabilities[pattern] ?? NaN);
    },
    isFilledIn: () => false,
  };
}

/** This many simulated learners are compared with a replayed one who has missing answers. */
const CANDIDATES = 200;

/**
 * A learner whose answers are known. A missing answer is that of the simulated learner who agrees with most of the known ones.
 * @param answers 1 for correct, by the seed's item names
 * @param bank the calibration, and the seed's item names by artifact version
 */
export function replayedLearner(
  name: string,
  answers: Readonly<Record<string, 0 | 1>>,
  bank: {
    readonly itemNames: Readonly<Record<string, string>>;
    readonly parameters: CalibrationParameters;
  },
): Learner {
  const { itemNames, parameters } = bank;
  const known = new Map(
    parameters.items.flatMap(({ artifactVersionId }) => {
      const answer = answers[itemNames[artifactVersionId] ?? ''];
      return answer === undefined ? [] : [[artifactVersionId, answer === 1]];
    }),
  );
  const missing = parameters.items.length - known.size;
  const alike = missing === 0 ? undefined : mostAlike(parameters, known);
  return {
    description:
      missing === 0
        ? `replayed, ${name}`
        : `replayed, ${name}, with ${missing} of ${parameters.items.length} answers simulated because they are missing`,
    truth: undefined,
    answer: (artifactVersionId) => known.get(artifactVersionId) ?? alike?.answer(artifactVersionId),
    isFilledIn: (artifactVersionId) => !known.has(artifactVersionId),
  };
}

/** The first of the simulated learners who agree with most of the answers. */
function mostAlike(parameters: CalibrationParameters, known: ReadonlyMap<string, boolean>): Learner {
  const candidates = Array.from({ length: CANDIDATES }, (_, seed) => {
    const learner = simulatedLearner(parameters, seed);
    const agreement = [...known].filter(([item, correct]) => learner.answer(item) === correct).length;
    return { learner, agreement };
  });
  return candidates.reduce((best, each) => (each.agreement > best.agreement ? each : best)).learner;
}

/** In [0, 1), with 52 bits. */
function uniform(name: readonly string[]): number {
  return (
    parseInt(sha256Hex(name.map((part) => `${part.length}:${part}`).join('|')).slice(0, 13), 16) / 2 ** 52
  );
}

/** The index at which the running sum of the weights passes the drawn share of their sum. */
function pick(weights: readonly number[], drawn: number): number {
  let left = drawn * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return weights.length - 1;
}
