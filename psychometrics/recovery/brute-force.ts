import { estimate } from '#functions/mastery/engine/index.ts';
import { referencePosterior, type ReferenceModel } from '#psychometrics/reference/higher-order-cdm.ts';
import { answerOf, drawLearner, PRIOR_POPULATION } from './learners.ts';
import { compiled } from './sit.ts';
import { makeWorld, parametersOf, type World } from './world.ts';

/** Worlds small enough for brute force, with two strands, so that the engine has components and KCs outside them. */
const SMALL = { items: 24, kcs: 7 } as const;
const ANSWERS = 12;

/** The differences between the engine and brute force. */
export interface BruteForceFigures {
  readonly posteriors: number;
  /** The largest absolute difference of any KC's posterior or theta node's, after any answer. */
  readonly largestDifference: number;
}

/**
 * Lets learners answer items of a small world at random and compares, after each answer, every posterior of the engine with that of
 * brute force over all theta nodes and KC patterns.
 */
export function compareWithBruteForce(worldName: string, learners: number): BruteForceFigures {
  const world = makeWorld(worldName, SMALL);
  const model = compiled(parametersOf(world));
  const reference = referenceOf(world);
  let posteriors = 0;
  let largestDifference = 0;
  for (let n = 0; n < learners; n += 1) {
    const learner = drawLearner(world, `${worldName} ${n}`, PRIOR_POPULATION);
    // 7 and 24 have no common divisor: each learner gets the items in a different order, none twice.
    const answers = Array.from({ length: ANSWERS }, (_, i) => (n + 7 * i) % SMALL.items).flatMap((item) => {
      const asked = world.items[item];
      return asked === undefined ? [] : [{ item, correct: answerOf(learner, asked, 'by-table') }];
    });
    for (let count = 0; count <= answers.length; count += 1) {
      const given = answers.slice(0, count);
      const engine = estimate(model, given);
      const expected = referencePosterior(reference, given);
      const compare = (a: Float64Array, b: readonly number[]): void => {
        b.forEach((value, i) => {
          // A NaN is kept: it must not pass for agreement.
          largestDifference = Math.max(largestDifference, Math.abs(value - (a[i] ?? NaN)));
        });
        posteriors += b.length;
      };
      compare(engine.kcPosteriors, expected.kcs);
      compare(engine.thetaPosterior, expected.theta);
    }
  }
  return { posteriors, largestDifference };
}

function referenceOf(world: World): ReferenceModel {
  const { theta, scale, items } = parametersOf(world);
  return {
    ...theta,
    kcs: world.kcs,
    items: items.map(({ probabilities }, item) => ({
      kcs: world.items[item]?.kcs ?? [],
      success: probabilities,
    })),
    scale,
  };
}
