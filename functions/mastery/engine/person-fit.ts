import { roundSignificant } from '#shared/kernel/numbers.ts';
import { decisionModel, successProbability } from './decision-gains.ts';
import { log, sqrt } from './kernels/ho-cdm-grid-1/arithmetic.ts';
import { estimate, type CompiledModel } from './model.ts';
import type { Estimate, Outcome } from './types.ts';

/** The fewest answers that are judged: fewer show no pattern, although the reference distribution holds for them too. */
export const FEWEST_JUDGED_ANSWERS = 10;

/** The upper 1 % point of the normal distribution. */
const UPPER_PERCENT = 2.3263478740408408;

/** Statistics are compared after rounding to this many significant digits, as gains are. */
const DIGITS = 12;

/** Below this variance every answer was a toss-up, and rounding errors would decide. */
const LEAST_VARIANCE = 1e-9;

/** Predictions are kept this far from 0 and 1, where a rounding error would decide. */
const CERTAIN = 1e-12;

/**
 * How many numbers the posteriors of one run may take in all: some two seconds at most. A test that exceeds it (hundreds of answers, a fine grid, or many
 * KCs that its items tie together) is judged by its first answers, so that no request about a run that has ended runs out of time.
 */
const MAXIMUM_NUMBERS = 20_000_000;

/** How much the answers of a run surprise the model, in nats, beyond what it expects: a martingale, with the sums of its conditional moments. */
export interface Surprise {
  /** How many answers are measured: the first ones, if all would take too long. */
  readonly answers: number;
  /** Sum of -log P(answer | answers before) minus its expectation. */
  readonly excess: number;
  /** Sum of the second central moments. */
  readonly variance: number;
  /** Sum of the third central moments. */
  readonly third: number;
}

/**
 * Measures the surprise of a run. Each answer is predicted from those before it, p = P(correct | answers before). Given them, its surprise has the
 * expectation H(p) and the variance p q log(p/q)^2, however the item was selected: nothing has to be corrected because the learner's state is
 * estimated (Dawid, 1984, J. of the Royal Statistical Society A 147, 278-292; Seillier-Moiseiwitsch and Dawid, 1993, J. of the American
 * Statistical Association 88, 355-359).
 * @param outcomes in the order in which the items were answered
 */
export function surpriseOf(model: CompiledModel, outcomes: readonly Outcome[]): Surprise {
  const decision = decisionModel(
    model,
    outcomes.map(({ item }) => item),
  );
  let [answers, numbers, excess, variance, third] = [0, 0, 0, 0, 0];
  for (const [place, item] of decision.items.entries()) {
    const posterior = estimate(model, outcomes.slice(0, place));
    // Which answers are measured depends only on those before them, so the sums remain martingales.
    numbers += numbersOf(model, posterior, place);
    if (numbers > MAXIMUM_NUMBERS) break;
    answers += 1;
    const correct = Math.min(1 - CERTAIN, Math.max(CERTAIN, successProbability(decision, posterior, item)));
    const wrong = 1 - correct;
    const logit = log(correct) - log(wrong);
    excess += outcomes[place]?.correct === true ? -wrong * logit : correct * logit;
    const square = correct * wrong * logit * logit;
    variance += square;
    third += square * (correct - wrong) * logit;
  }
  return { answers, excess, variance, third };
}

/** Returns how many numbers a posterior takes: one per KC and theta node, and per pattern of a component one for each node and each answer. */
function numbersOf(
  { kcGuids }: CompiledModel,
  { components, joint, thetaPosterior }: Estimate,
  answers: number,
): number {
  const nodes = thetaPosterior.length;
  const patterns = components.reduce(
    (sum, { kcs }) => sum + (1 << kcs.length),
    (joint?.numbers ?? 0) / nodes,
  );
  return nodes * kcGuids.length + patterns * (nodes + answers);
}

/**
 * Returns the surprise in standard deviations, with a correction after which its upper 1 % point is that of the normal distribution: since rare answers
 * surprise most, it is skewed to the right, and (z^2 - 1) / 6 of its skewness is subtracted (Cornish and Fisher, 1938, Revue de l'Institut
 * International de Statistique 5, 307-320). 0 for answers that cannot surprise.
 */
export function standardizedSurprise({ excess, variance, third }: Omit<Surprise, 'answers'>): number {
  if (!(variance > LEAST_VARIANCE)) return 0;
  const deviation = sqrt(variance);
  return excess / deviation - ((UPPER_PERCENT * UPPER_PERCENT - 1) / 6) * (third / (variance * deviation));
}

/**
 * Returns whether the answers of a run contradict each other more than the model predicts for about 99 % of the learners whom it describes; undefined
 * for too few answers.
 */
export function areAnswersUnusual(model: CompiledModel, outcomes: readonly Outcome[]): boolean | undefined {
  if (outcomes.length < FEWEST_JUDGED_ANSWERS) return undefined;
  const surprise = surpriseOf(model, outcomes);
  if (surprise.answers < FEWEST_JUDGED_ANSWERS) return undefined;
  return roundSignificant(standardizedSurprise(surprise), DIGITS) > UPPER_PERCENT;
}
