import type { Problem } from '#shared/problems/problem.ts';

/**
 * A stage's expected refusal. Thrown, though it is no defect: Middy skips every later stage and all `after` hooks when a stage returns an
 * answer, and with them the headers and the log line that each answer must have; an error passes them all.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.status} ${problem.code}`);
    this.problem = problem;
  }
}

/** A defect that no repetition gets past: what is stored is damaged. The mastery engine says so in its 500. */
export class PermanentDefect extends Error {
  override readonly name = 'PermanentDefect';
}
