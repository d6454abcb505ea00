import { bias, correlation, groupBy, rootMeanSquareError, share, standardErrorOfBias } from './statistics.ts';
import type { Recovered } from './statistics.ts';
import type { Sitting, SittingKc } from './sit.ts';

/** The figures of one row. Abilities in standard deviations (SD) of the prior, shares from 0 to 1. */
export interface Figures {
  readonly learners: number;
  readonly meanLength: number;
  /** Mean of recovered minus known ability, over the population. */
  readonly bias: number;
  /** Standard error of the bias. */
  readonly biasError: number;
  readonly rmse: number;
  readonly correlation: number;
  /** Share of learners whose ability is within 1.96 standard errors of their score. */
  readonly coverage: number;
  /** Share of learners × KCs whose posterior is on the learner's side of 0.5. */
  readonly agreement: number;
  /** Share of learners × KCs that are classified at the stated confidence. */
  readonly classified: number;
  /** The share of those that is right. */
  readonly classifiedAgreement: number;
  /** Share of the pool that was offered at least once. */
  readonly poolUsed: number;
  /** The largest share of learners who got the same item. */
  readonly mostExposed: number;
  /** The same among the learners of each fifth of ability, from the lowest; NaN for a fifth without learners. */
  readonly mostExposedByFifth: readonly number[];
  /** Share of a test that two learners of one world share, on average over all pairs. */
  readonly overlap: number;
  /** Mean number of items after every posterior was confident; NaN if tests require no confidence. */
  readonly idle: number;
  /** Share of learners whose answers contradict each other, by the rule of a learner's run. */
  readonly unusual: number;
}

/** Half the width of a 95 % interval, in standard errors. */
const NORMAL_95 = 1.96;

export const recoveredOf = ({ ability, recovered }: Sitting): Recovered => ({ known: ability, recovered });

/** Whether a client's interval, score ± 1.96 standard errors, contains the known ability. */
export const isCovered = ({ ability, recovered, error }: Sitting): boolean =>
  Math.abs(recovered - ability) <= NORMAL_95 * error;

/** Whether the posterior is on the learner's side of one half, with evidence or without. */
export const agrees = ({ posterior, mastered }: SittingKc): boolean => posterior >= 0.5 === mastered;

/**
 * Returns the figures of one row.
 * @param worlds sittings by world: an item of one world is no item of another
 * @param poolSize items of each world
 */
export function figuresOf(worlds: readonly (readonly Sitting[])[], poolSize: number): Figures {
  const sittings = worlds.flat();
  const pairs = sittings.map(recoveredOf);
  const kcs = sittings.flatMap((sitting) => sitting.kcs);
  const classified = kcs.filter((kc) => kc.classified);
  const exposure = worlds.map((world) => exposures(world, poolSize));
  const meanLength = mean(sittings.map(({ items }) => items.length));
  const given = exposure.flat().filter((rate) => rate > 0).length;
  return {
    learners: sittings.length,
    meanLength,
    bias: bias(pairs),
    biasError: standardErrorOfBias(pairs),
    rmse: rootMeanSquareError(pairs),
    correlation: correlation(pairs),
    coverage: share(sittings, isCovered),
    agreement: share(kcs, agrees),
    classified: classified.length / kcs.length,
    classifiedAgreement: share(classified, agrees),
    poolUsed: given / (poolSize * worlds.length),
    mostExposed: exposure.flat().reduce((a, b) => Math.max(a, b), 0),
    mostExposedByFifth: exposedByFifth(worlds, poolSize),
    overlap: mean(worlds.map((world, n) => commonItems(exposure[n] ?? [], world.length))) / meanLength,
    idle: mean(sittings.map(({ items, confidentAfter }) => items.length - confidentAfter)),
    unusual: share(sittings, ({ isUnusual }) => isUnusual),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the items that two learners share, on average over the pairs: an item that n learners got is shared by n(n - 1)/2 of them. */
function commonItems(rates: readonly number[], learners: number): number {
  const shared = rates.reduce((sum, rate) => sum + rate * learners * (rate * learners - 1), 0);
  return shared / (learners * (learners - 1));
}

const FIFTHS = [1, 2, 3, 4, 5] as const;

/** Returns the largest share of a world's learners in a fifth of ability who got the same item. The bounds of the fifths are those of all worlds. */
function exposedByFifth(worlds: readonly (readonly Sitting[])[], poolSize: number): readonly number[] {
  const abilities = worlds
    .flat()
    .map(({ ability }) => ability)
    .sort((a, b) => a - b);
  const bounds = FIFTHS.slice(0, -1).map(
    (fifth) => abilities[Math.round((fifth * abilities.length) / FIFTHS.length)] ?? Infinity,
  );
  const groups = worlds.map((world) => groupBy(world, bounds, ({ ability }) => ability));
  return FIFTHS.map((_, fifth) => {
    const rates = groups.flatMap((group) => exposures(group[fifth] ?? [], poolSize));
    return rates.reduce((a, b) => (a >= b || Number.isNaN(b) ? a : b), NaN);
  });
}

/** Returns, for each item of a pool, the share of the learners who got it. */
function exposures(sittings: readonly Sitting[], poolSize: number): number[] {
  const counts = Array.from({ length: poolSize }, () => 0);
  for (const { items } of sittings) for (const item of items) counts[item] = (counts[item] ?? 0) + 1;
  return counts.map((count) => count / sittings.length);
}
