import { stream } from '#shared/kernel/random-stream.ts';
import { masteryAt, successOf } from './world.ts';
import type { World, WorldItem } from './world.ts';

/** A simulated learner, who is known entirely. */
export interface Learner {
  /** Its draws depend on this name alone, so that it is the same learner under every policy. */
  readonly name: string;
  /** In standard deviations of the population that the engine has for its prior. */
  readonly ability: number;
  /** For each KC of the world. */
  readonly mastered: readonly boolean[];
}

/** Whom a test is given to: abilities are normal. */
export interface Population {
  readonly mean: number;
  readonly sd: number;
}

export const PRIOR_POPULATION: Population = { mean: 0, sd: 1 };

/** How learners answer: as the world's tables say, or `compensatory`, what they have making up for what they lack. */
export type AnswerModel = 'by-table' | 'compensatory';

/** Draws a learner: its ability, then each KC by that ability. */
export function drawLearner(world: World, name: string, { mean, sd }: Population): Learner {
  const draw = stream(`recovery learner ${name}`);
  const ability = mean + sd * normal(draw);
  return {
    name,
    ability,
    mastered: world.kcs.map((_, kc) => draw() < masteryAt(world, kc, ability)),
  };
}

/** The learner's answer to an item, which is the same whenever it is asked. */
export function answerOf(learner: Learner, item: WorldItem, model: AnswerModel): boolean {
  const has = item.kcs.filter((kc) => learner.mastered[kc] === true).length;
  const success = model === 'compensatory' ? compensatory(item, has) : successOf(item, has);
  return stream(`recovery answer ${learner.name} ${item.id}`)() < success;
}

/** Each KC of the item adds the same to the log-odds of success. */
function compensatory({ kcs, guess, slip }: WorldItem, has: number): number {
  const low = Math.log(guess / (1 - guess));
  const high = Math.log((1 - slip) / slip);
  return 1 / (1 + Math.exp(-(low + ((high - low) * has) / kcs.length)));
}

/** A standard normal draw (Box and Muller, 1958). */
function normal(draw: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}
