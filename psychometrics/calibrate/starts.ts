/** From where a fit starts, and which of several fits is taken. */
import { climb, fit, type EmOptions, type EmResult, type EmStep } from './em.ts';
import { parameterCount, randomParameters, startingParameters } from './model.ts';
import type { Design, Responses } from './model.ts';
import { uniformFrom } from './numbers.ts';

/** Choices of the search. */
export interface StartOptions extends Pick<EmOptions, 'maximumIterations' | 'tolerance'> {
  /** Random starts in addition to the fixed one, each to its end; `undefined` lets the design decide. */
  readonly randomStarts: number | undefined;
  readonly seed: number;
  readonly progress?: (stage: string, step?: EmStep) => void;
}

/** The best fit, and how the others ended. */
export interface BestFit {
  readonly best: EmResult;
  /** Objectives of the fits that were run to their end, in the order of their starts. */
  readonly starts: readonly number[];
  /** Whether each of these fits converged. */
  readonly converged: readonly boolean[];
  /** Objectives of the short runs that chose these fits, the fixed start first; empty if there were none. */
  readonly shortRuns: readonly number[];
}

/** Short runs where local maxima are likely: the fixed start and five random ones, the best two of which go on. */
const SHORT_RUNS = { randomStarts: 5, iterations: 20, finalists: 2 } as const;

/** With fewer learners per parameter, local maxima are likely. */
const LEARNERS_PER_PARAMETER = 10;

/** Returns the fit with the highest objective. */
export function bestFit(design: Design, responses: Responses, options: StartOptions): BestFit {
  const uniform = uniformFrom(options.seed);
  const isChosen = options.randomStarts === undefined && hasLocalMaxima(design, responses.learners);
  const count = options.randomStarts ?? (isChosen ? SHORT_RUNS.randomStarts : 0);
  const starts = [
    startingParameters(design),
    ...Array.from({ length: count }, () => randomParameters(design, uniform)),
  ];
  const shown = (stage: string): Pick<EmOptions, 'progress'> => ({
    progress: (step) => options.progress?.(stage, step),
  });
  const { tolerance, maximumIterations } = options;
  const short = { tolerance, maximumIterations: Math.min(SHORT_RUNS.iterations, maximumIterations) };
  const shortRuns = isChosen
    ? starts.map((start, n) => {
        const stage = `EM, short run ${n + 1} of ${starts.length}`;
        return climb(design, responses, start, { ...short, ...shown(stage) }).objective;
      })
    : [];
  const finalists = isChosen
    ? starts
        .map((start, n) => ({ start, reached: shortRuns[n] ?? -Infinity }))
        .sort((a, b) => b.reached - a.reached)
        .slice(0, SHORT_RUNS.finalists)
        .map(({ start }) => start)
    : starts;
  const results = finalists.map((start, n) => {
    const stage = finalists.length === 1 ? 'EM' : `EM, start ${n + 1} of ${finalists.length}`;
    return fit(design, responses, start, { tolerance, maximumIterations, ...shown(stage) });
  });
  const best = results.reduce((a, b) => (b.objective > a.objective ? b : a));
  return {
    best,
    starts: results.map(({ objective }) => objective),
    converged: results.map(({ converged }) => converged),
    shortRuns,
  };
}

/** Returns whether a likelihood probably has several maxima: a G-DINA model, an incomplete Q-matrix, or few learners per parameter. */
export function hasLocalMaxima(design: Design, learners: number): boolean {
  const alone = new Set(design.items.flatMap(({ kcs }) => (kcs.length === 1 ? kcs : [])));
  return (
    design.model === 'gdina' ||
    alone.size < design.kcCount ||
    learners < LEARNERS_PER_PARAMETER * parameterCount(design)
  );
}
