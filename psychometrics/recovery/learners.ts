import { stream } from '#shared/kernel/random-stream.ts';
import { masteryAt, successOf, type World, type WorldItem } from './world.ts';

/** A simulated learner, whose ability and KCs are known. */
export interface Learner {
  /** Its draws depend only on this name, so that it is the same learner under every policy. */
  readonly name: string;
  /** In standard deviations of the population that is the engine's prior. */
  readonly ability: number;
  /** For each KC of the world. */
  readonly mastered: readonly boolean[];
}

/** The population that takes a test: abilities are normal. */
export interface Population {
  readonly mean: number;
  readonly sd: number;
}

export const PRIOR_POPULATION: Population = { mean: 0, sd: 1 };

/**
 * How learners answer: as the world's tables predict; `compensatory`, where mastered KCs make up for missing ones; `rapid guessing`, as the tables
 * predict, but some learners guess some of the items; or as the tables predict except for a share of the items (`ABERRANT`), every learner.
 */
export type AnswerModel = 'by-table' | 'compensatory' | 'rapid guessing' | keyof typeof ABERRANT;

/**
 * The structure of mastery: KCs are independent given one ability; each KC of a chain of this length requires the one before it; or the first half of
 * the KCs depends on one ability and the second half on another.
 */
export type Structure = 'independent' | 'two abilities' | { readonly chainsOf: number };

/** Correlation of two abilities. */
export const CORRELATION = 0.6;

/** Rapid guessers: their share of the learners, the share of items that they guess, and their chance of success there. */
export const RAPID = { learners: 0.1, items: 0.5, success: 0.25 } as const;

/** A share of the items is answered with this chance of success, which does not depend on mastery. */
export const ABERRANT = {
  guessing: { items: RAPID.items, success: RAPID.success },
  careless: { items: 0.3, success: 0 },
  helped: { items: 0.4, success: 0.95 },
} as const;

/** Draws a learner: its ability, then each KC by that ability. With two abilities the known one is their sum, at an SD of 1. */
export function drawLearner(
  world: World,
  name: string,
  { mean, sd }: Population,
  structure: Structure = 'independent',
): Learner {
  const draw = stream(`recovery learner ${name}`);
  const ability = mean + sd * normal(draw);
  if (structure === 'two abilities') {
    const common = Math.sqrt((1 + CORRELATION) / 2) * ability;
    const half = Math.sqrt((1 - CORRELATION) / 2) * normal(draw);
    return {
      name,
      ability,
      mastered: world.kcs.map(
        (_, kc) => draw() < masteryAt(world, kc, 2 * kc < world.kcs.length ? common + half : common - half),
      ),
    };
  }
  const mastered =
    structure === 'independent'
      ? world.kcs.map((_, kc) => draw() < masteryAt(world, kc, ability))
      : chained(world, structure.chainsOf, ability, draw);
  return { name, ability, mastered };
}

/**
 * Draws the KCs of chains. Each KC of a chain, from the easiest to the hardest, is mastered only if the one before it is, and then so often that the
 * share of its masters at an ability stays that of its curve (of the lowest curve so far, where curves cross).
 */
function chained(world: World, length: number, ability: number, draw: () => number): boolean[] {
  const mastered = world.kcs.map(() => false);
  for (const chain of chainsIn(world, length)) {
    let reached = 1;
    for (const kc of chain) {
      const next = Math.min(reached, masteryAt(world, kc, ability));
      if (draw() >= next / reached) break;
      mastered[kc] = true;
      reached = next;
    }
  }
  return mastered;
}

/** Returns the KCs of each chain of a world, from the easiest to the hardest. */
export function chainsIn({ kcs }: World, length: number): readonly (readonly number[])[] {
  return Array.from({ length: Math.ceil(kcs.length / length) }, (_, n) =>
    [...kcs.entries()]
      .slice(n * length, (n + 1) * length)
      .sort(([, a], [, b]) => a.location - b.location)
      .map(([kc]) => kc),
  );
}

/** Returns the learner's answer to an item, which is the same at every request. */
export function answerOf(learner: Learner, item: WorldItem, model: AnswerModel): boolean {
  const has = item.kcs.filter((kc) => learner.mastered[kc] === true).length;
  return stream(`recovery answer ${learner.name} ${item.id}`)() < successUnder(model, learner, item, has);
}

function successUnder(model: AnswerModel, learner: Learner, item: WorldItem, has: number): number {
  switch (model) {
    case 'by-table':
      return successOf(item, has);
    case 'compensatory':
      return compensatory(item, has);
    case 'rapid guessing':
      return isGuessed(learner, item) ? RAPID.success : successOf(item, has);
    case 'guessing':
    case 'careless':
    case 'helped': {
      const { items, success } = ABERRANT[model];
      const isAberrant = stream(`recovery ${model} ${learner.name} ${item.id}`)() < items;
      return isAberrant ? success : successOf(item, has);
    }
  }
}

function isGuessed({ name }: Learner, { id }: WorldItem): boolean {
  return (
    stream(`recovery guesser ${name}`)() < RAPID.learners &&
    stream(`recovery guessed ${name} ${id}`)() < RAPID.items
  );
}

/** Returns P(correct) where each KC of the item adds the same to the log-odds of success. */
function compensatory({ kcs, guess, slip }: WorldItem, has: number): number {
  const low = Math.log(guess / (1 - guess));
  const high = Math.log((1 - slip) / slip);
  return 1 / (1 + Math.exp(-(low + ((high - low) * has) / kcs.length)));
}

/** Returns a standard normal draw (Box and Muller, 1958). */
export function normal(draw: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}
