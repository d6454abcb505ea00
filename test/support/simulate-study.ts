import { collapse, latentPrior, successOf } from '#psychometrics/calibrate/model.ts';
import type { Design, Parameters, Responses } from '#psychometrics/calibrate/model.ts';

/** Answers of simulated learners, learners x items; -1 with the given probability. */
export function simulateAnswers(
  design: Design,
  parameters: Parameters,
  learners: number,
  uniform: () => number,
  missing = 0,
): Int8Array {
  const { patterns } = latentPrior(design, parameters);
  const answers = new Int8Array(learners * design.items.length);
  for (let learner = 0; learner < learners; learner += 1) {
    let rest = uniform();
    let pattern = 0;
    while (pattern < patterns.length - 1 && rest > patterns[pattern]!) {
      rest -= patterns[pattern]!;
      pattern += 1;
    }
    design.items.forEach((_, j) => {
      const correct = uniform() < successOf(design, parameters, j, pattern) ? 1 : 0;
      answers[learner * design.items.length + j] = uniform() < missing ? -1 : correct;
    });
  }
  return answers;
}

/** The same, with equal rows put together. */
export function simulateResponses(
  design: Design,
  parameters: Parameters,
  learners: number,
  uniform: () => number,
  missing = 0,
): Responses {
  return collapse(simulateAnswers(design, parameters, learners, uniform, missing), design.items.length);
}

/** Every single KC twice and every pair of KCs once. */
export function pairedQ(kcs: number): number[][] {
  const singles = Array.from({ length: kcs }, (_, k) => [k]);
  return [
    ...singles,
    ...singles,
    ...singles.flatMap(([k = 0]) => Array.from({ length: k }, (_, l) => [l, k])),
  ];
}
