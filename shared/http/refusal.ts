import type { Problem } from '#shared/problems/problem.ts';

/**
 * A stage's expected refusal. It is thrown although it is no defect: if a stage returns a response, Middy skips every later stage and all `after`
 * hooks, and with them the headers and the log line that each response must have; an error passes through all of them.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.status} ${problem.code}`);
    this.problem = problem;
  }
}

/** A defect that persists on every retry: stored data is damaged. The mastery engine's 500 states this. */
export class PermanentDefect extends Error {
  override readonly name = 'PermanentDefect';
}
