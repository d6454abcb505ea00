import { compileModel, type CompiledModel } from '#functions/mastery/engine/index.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { CalibrationParameters } from '#shared/records/records.ts';

/** The true state of a simulated learner, to compare the test's result with. */
export interface TrueState {
  /** Which knowledge components are mastered, by CASE GUID. */
  readonly mastered: ReadonlySet<string>;
  /** The scale value at the learner's ability. */
  readonly scale: number;
}

/** A learner who can answer items of one bank. */
export interface Respondent {
  readonly description: string;
  /** Undefined for a replayed learner: only the answers are known. */
  readonly trueState: TrueState | undefined;
  /** Returns whether the learner answers the item correctly; undefined for an item of another bank. */
  readonly answer: (artifactVersionId: string) => boolean | undefined;
  /** Returns whether the replayed data lacks an answer to the item, which is then simulated. */
  readonly isImputed: (artifactVersionId: string) => boolean;
}

/**
 * Draws a learner from the calibration's model: an ability from the prior on the theta grid; mastery of each KC with its probability at that
 * ability, in a block given the KCs drawn before; each answer with the item's success probability for the learner's mastery pattern. Each draw is a hash of the seed and its own name, so a
 * seed gives the same learner and the same answers in any item order.
 */
export function simulatedLearner(parameters: CalibrationParameters, randomSeed: number): Respondent {
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
  const ofBlocks = drawFromBlocks(parameters, node, (guid) => draw('component', guid));
  const mastered = new Set(
    kcs
      .filter(
        ({ guid, slope = NaN, location = NaN }, kc) =>
          ofBlocks?.[kc] === 1 ||
          (ofBlocks === undefined &&
            draw('component', guid) < 1 / (1 + Math.exp(-slope * (ability - location)))),
      )
      .map(({ guid }) => guid),
  );
  const byVersion = new Map(items.map((item) => [item.artifactVersionId, item]));
  return {
    description: `simulated, random seed ${randomSeed}`,
    trueState: { mastered, scale: scale[node] ?? NaN },
    answer(artifactVersionId) {
      const item = byVersion.get(artifactVersionId);
      if (item === undefined) return undefined;
      const pattern = item.kcs.reduce((bits, guid, bit) => bits + (mastered.has(guid) ? 2 ** bit : 0), 0);
      return draw('item', item.qtiIdentifier) < (item.probabilities[pattern] ?? NaN);
    },
    isImputed: () => false,
  };
}

/** Compiled models of calibrations with blocks: a replayed learner is compared with many simulated ones. */
const models = new WeakMap<CalibrationParameters, CompiledModel>();

/** Draws the pattern of all components at a theta node, 1 or 0 each; undefined if the calibration has no blocks. */
function drawFromBlocks(
  parameters: CalibrationParameters,
  node: number,
  draw: (guid: string) => number,
): Uint8Array | undefined {
  if (parameters.blocks === undefined) return undefined;
  let model = models.get(parameters);
  if (model === undefined) {
    const compiled = compileModel(parameters);
    if (!compiled.ok) throw new Error('a released calibration compiles');
    model = compiled.value;
    models.set(parameters, model);
  }
  const { core, kcGuids } = model;
  return core.drawPattern?.([], node, (kc) => draw(kcGuids[kc] ?? ''));
}

/** The number of simulated learners compared with a replayed learner whose data has missing answers. */
const CANDIDATES = 200;

/**
 * Returns a learner whose answers are known. A missing answer is taken from the simulated learner who agrees with most of the known answers.
 * @param answers 1 if correct, 0 if not; by the seed's item names
 * @param bank the calibration's parameters, and the seed's item names by artifact version id
 */
export function replayedLearner(
  name: string,
  answers: Readonly<Record<string, 0 | 1>>,
  bank: {
    readonly itemNames: Readonly<Record<string, string>>;
    readonly parameters: CalibrationParameters;
  },
): Respondent {
  const { itemNames, parameters } = bank;
  const known = new Map(
    parameters.items.flatMap(({ artifactVersionId }) => {
      const answer = answers[itemNames[artifactVersionId] ?? ''];
      return answer === undefined ? [] : [[artifactVersionId, answer === 1]];
    }),
  );
  const missing = parameters.items.length - known.size;
  const closest = missing === 0 ? undefined : closestSimulatedLearner(parameters, known);
  return {
    description:
      missing === 0
        ? `replayed, ${name}`
        : `replayed, ${name}, with ${missing} of ${parameters.items.length} answers simulated because they are missing`,
    trueState: undefined,
    answer: (artifactVersionId) => known.get(artifactVersionId) ?? closest?.answer(artifactVersionId),
    isImputed: (artifactVersionId) => !known.has(artifactVersionId),
  };
}

/** Returns the simulated learner who agrees with the most known answers; on a tie, the one with the lowest seed. */
function closestSimulatedLearner(
  parameters: CalibrationParameters,
  known: ReadonlyMap<string, boolean>,
): Respondent {
  const candidates = Array.from({ length: CANDIDATES }, (_, seed) => {
    const learner = simulatedLearner(parameters, seed);
    const agreement = [...known].filter(([item, correct]) => learner.answer(item) === correct).length;
    return { learner, agreement };
  });
  return candidates.reduce((best, each) => (each.agreement > best.agreement ? each : best)).learner;
}

/** Returns a number in [0, 1) from 52 bits of the name's SHA-256. */
function uniform(name: readonly string[]): number {
  return (
    parseInt(sha256Hex(name.map((part) => `${part.length}:${part}`).join('|')).slice(0, 13), 16) / 2 ** 52
  );
}

/** Returns an index with probability `weight / sum of the weights`, given a uniform `drawn` in [0, 1). */
function pick(weights: readonly number[], drawn: number): number {
  let left = drawn * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return weights.length - 1;
}
