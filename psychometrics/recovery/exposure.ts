import type { Constraints, Exposure } from '#functions/mastery/engine/index.ts';
import { bindTable, type FittedTable } from '#shared/records/fitted-table.ts';
import { policies, RANDOMESQUE, type Condition, type ExposureMethod } from './conditions.ts';
import { CUT, sitAll } from './sit.ts';
import { itemId, kcGuid, makeWorld } from './world.ts';

/** The probability of passing per item, for items that do not always pass. */
export type Probabilities = ReadonlyMap<string, number>;

/** The largest share of learners that any item should go to: below the aim, to leave room for chance in a row of few learners. */
const TARGET = 0.17;
/** Learners of one round, who are not those of the study. */
const COHORT = 300;
/** How often each round takes the square root of the change that its learners suggest: not at first, more as chance becomes the larger part of it. */
const ROOTS = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];
const LARGEST_RISE = 2;
const DIGITS = 6;

/** How many simulated tests a method's `find` takes. */
export const SEARCH_TESTS = ROOTS.length * COHORT;

/**
 * Finds the parameters of Sympson-Hetter control in one world by simulation. After each round an item passes less often if more than the target share
 * of learners got it: k = min(1, target / P(selected)), where P(selected) = P(given) / k (Sympson and Hetter 1985).
 */
function findProbabilities(condition: Condition, worldName: string): Probabilities {
  const probabilities = Array.from({ length: condition.size.items }, () => 1);
  const table = (): Probabilities =>
    new Map(
      probabilities.flatMap((k, item): [string, number][] =>
        k < 1 ? [[itemId(item), Number(k.toFixed(DIGITS))]] : [],
      ),
    );
  for (const [round, roots] of ROOTS.entries()) {
    const given = probabilities.map(() => 0);
    const exposure = exposureMethods.sympson_hetter.rule(table());
    for (const { items } of sitAll(condition, worldName, COHORT, exposure, `exposure ${round} `))
      for (const item of items) given[item] = (given[item] ?? 0) + 1 / COHORT;
    given.forEach((share, item) => {
      let change = TARGET / share;
      for (let n = 0; n < roots; n += 1) change = Math.sqrt(change);
      probabilities[item] = Math.min(1, (probabilities[item] ?? 1) * Math.min(LARGEST_RISE, change));
    });
  }
  return table();
}

/** Returns probabilities in the form of a release, bound to the tests that they were found with. */
export function tableOf(
  { size, quality, length, confidence, policy, scope, population }: Condition,
  worldName: string,
  probabilities: Probabilities,
): FittedTable {
  const world = makeWorld(worldName, size, quality);
  const { minima, maxima, enemySets = [], ...limits } = policies[policy].limits(world, length);
  const { selectionTarget, unmeasuredCredit, settlingCredit }: Partial<Constraints> = limits;
  const bounds = new Map<string, { minItems?: number; maxItems?: number }>();
  for (const { guid, items } of minima) bounds.set(guid, { minItems: items });
  for (const { guid, items } of maxima) bounds.set(guid, { ...bounds.get(guid), maxItems: items });
  return bindTable(
    Object.fromEntries(probabilities),
    {
      maxItems: length,
      coverageFloors: [],
      kcCutScore: CUT,
      confidenceThreshold: confidence,
      eligibilityRules: {
        ...(scope < size.kcs ? { kcScope: Array.from({ length: scope }, (_, kc) => kcGuid(kc)) } : {}),
        ...(bounds.size === 0 ? {} : { contentConstraints: Object.fromEntries(bounds) }),
        enemySets: enemySets.map((set) => [...set]),
        selectionTarget,
        unmeasuredCredit,
        settlingCredit,
      },
    },
    population,
  );
}

/** How the study controls exposure by a method. */
interface StudiedMethod<Method extends ExposureMethod> {
  /** The constraint of a row. */
  readonly rule: (probabilities?: Probabilities) => Extract<Exposure, { readonly method: Method }>;
  /** Finds the parameters with which the method meets the aims, in one world; the aims of a method without parameters do not decide. */
  readonly find?: (condition: Condition, worldName: string) => Probabilities;
}

export const exposureMethods: { readonly [Method in ExposureMethod]: StudiedMethod<Method> } = {
  randomesque: { rule: () => ({ method: 'randomesque', size: RANDOMESQUE }) },
  progressive: { rule: () => ({ method: 'progressive' }) },
  sympson_hetter: {
    rule: (probabilities = new Map()) => ({ method: 'sympson_hetter', probabilities }),
    find: findProbabilities,
  },
};

// SAFETY: the keys of the table are the methods.
export const exposureMethodNames = Object.keys(exposureMethods) as readonly ExposureMethod[];

/** The methods whose parameters the study finds. */
export const fittedMethods = exposureMethodNames.filter((name) => exposureMethods[name].find !== undefined);
