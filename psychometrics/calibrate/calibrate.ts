/** Fits a study and computes every figure. Deterministic: the same study and options give the same numbers. */
import { describeAbilities, type Abilities } from './abilities.ts';
import { checkItems } from './checks/items.ts';
import { checkLearners } from './checks/learners.ts';
import { nestingConditions } from './checks/nesting.ts';
import { tailConditions } from './checks/tails.ts';
import { condition, verdictOf, type Condition } from './conditions.ts';
import { fit, type EmResult, type EmStep } from './em.ts';
import { expectedCounts, logLikelihoodOf } from './expectation.ts';
import { largestFall } from './isotonic.ts';
import { fitItems, fitPairs, unbiasedSrmsr, type ChiSquare, type ItemFit, type PairFit } from './item-fit.ts';
import { limitedInformationFit, type LimitedInformationFit } from './limited-information.ts';
import { fitTable } from './maximization.ts';
import type { Dependence } from './dependence.ts';
import { createDesign, parameterCount, startingParameters } from './model.ts';
import type { Design, ItemModel, Parameters, Penalty } from './model.ts';
import { at, chiSquareUpper, log } from './numbers.ts';
import { penaltyOf } from './penalty.ts';
import { pricesOf, type Prices } from './prices.ts';
import type { Study } from './read-data.ts';
import { figure } from './report/figures.ts';
import { standardErrors, type StandardErrors } from './standard-errors.ts';
import { bestFit } from './starts.ts';
import {
  coarseScores,
  slopeConditions,
  structureConditions,
  untestedConditions,
} from './structure/findings.ts';
import { dependenceOf } from './structure/carried.ts';
import type { GivenBlock } from './structure/given-blocks.ts';
import type { Prerequisites } from './structure/prerequisites.ts';
import {
  MAXIMUM_TESTED_KCS,
  ceilingUnder,
  testStructure,
  type StructureTest,
} from './structure/structure-test.ts';

export interface CalibrateOptions {
  readonly model: ItemModel;
  readonly penalty: Penalty;
  /** Item probabilities stay inside [bound, 1 - bound]. */
  readonly bound: number;
  readonly maximumIterations: number;
  readonly tolerance: number;
  /** Random starts in addition to the fixed one, each to its end; `undefined` lets the design decide (starts.ts). */
  readonly randomStarts: number | undefined;
  readonly seed: number;
  /** A hierarchy to compare with the answers, besides those that they suggest. */
  readonly hierarchy?: Prerequisites | undefined;
  /** Blocks of KCs to examine one by one. */
  readonly blocks?: readonly GivenBlock[] | undefined;
  /** Whether prerequisites that were given are carried even if the answers do not show them. */
  readonly insist?: boolean | undefined;
  /** Whether KCs stay independent in the calibration even if the answers show otherwise. */
  readonly independent?: boolean | undefined;
  /** Draws of the bootstrap of the test of structure; absent or 0 for none. */
  readonly bootstrap?: number;
  readonly progress?: (stage: string, step?: EmStep) => void;
}

/** Criteria of a fitted model by its number of parameters: AIC (Akaike, 1974) and BIC (Schwarz, 1978), smaller is better. */
export interface Criteria {
  readonly logLikelihood: number;
  readonly parameters: number;
  readonly aic: number;
  readonly bic: number;
}

export interface Calibration {
  readonly study: Study;
  readonly options: Omit<CalibrateOptions, 'progress'>;
  readonly design: Design;
  /** The parameters as written: rounded, inside the bounds, monotone. All figures refer to these. */
  readonly parameters: Parameters;
  readonly em: EmResult;
  /** Objectives of the fits that were run to their end. */
  readonly starts: readonly number[];
  /** Whether each of these fits converged. */
  readonly converged: readonly boolean[];
  /** Objectives of the short runs that chose these fits; empty if there were none. */
  readonly shortRuns: readonly number[];
  readonly prices: Prices;
  readonly penaltyValue: number;
  readonly criteria: Criteria;
  readonly errors: StandardErrors;
  readonly abilities: Abilities;
  readonly items: readonly ItemFit[];
  readonly pairs: readonly PairFit[];
  /** M2, or why it could not be computed. */
  readonly limitedInformation: LimitedInformationFit | string;
  readonly monotonicity: readonly Monotonicity[];
  /** Only for a G-DINA fit. */
  readonly againstDina: AgainstDina | undefined;
  /** The test of structure, or why there is none. */
  readonly structure: StructureTest | string;
  /** The largest reliability of any test of these KCs (`ceilingUnder`); undefined if the answers show a structure without a single ability. */
  readonly reliabilityCeiling: number | undefined;
  readonly conditions: readonly Condition[];
}

/** The effect of monotonicity on one item. */
export interface Monotonicity {
  /** The largest fall of the unconstrained expected proportions when one KC is added, between patterns of at least five expected learners. */
  readonly largestFall: number;
  /** Patterns of the written table that share their value with a neighbour because they would fall otherwise. */
  readonly pooled: number;
  /** Own patterns that fewer than five learners are expected to have. */
  readonly sparse: number;
}

/** The same data under DINA, as a whole and item by item. */
export interface AgainstDina {
  readonly dina: Criteria;
  /** Twice the difference of the log-likelihoods. */
  readonly test: ChiSquare;
  /** For each item with more than one KC the two-step likelihood ratio test. */
  readonly items: readonly (ChiSquare | undefined)[];
}

/** Decimals of written parameters: far below any standard error, and the same text on every runtime. */
const DECIMALS = 10;

/** With fewer expected learners, the probability of a pattern is uncertain. */
const SPARSE = 5;

/** The fit of one design with the figures that need no test of structure. */
type FittedDesign = Omit<Calibration, 'structure' | 'reliabilityCeiling' | 'conditions'>;

/** Fits the model to a study and computes every figure. If the answers show that KCs depend on each other, it fits the model once more, with blocks. */
export function calibrate(study: Study, options: CalibrateOptions): Calibration {
  const { responses } = study;
  const { progress } = options;
  const first = fitDesign(study, options);
  progress?.('checks');
  const upsideDown = nestingConditions(study, options.model);
  const { conditions: ofItems, better } = checkItems(first);
  const found = [
    ...study.conditions,
    // In a reversed sheet, 0 is a correct answer: its tails mean nothing.
    ...(upsideDown.length > 0 ? upsideDown : tailConditions(first.design, first.parameters, study)),
    ...ofItems,
    ...(better === undefined ? [] : checkLearners(better.design, better.parameters, responses)),
  ];
  const structure = structureOf(better, study, found, options);
  const isTested = typeof structure !== 'string';
  const fitted =
    isTested && structure.carried.length > 0
      ? fitDesign(study, options, dependenceOf(study.kcs.length, structure.carried))
      : first;
  const calibrated = fitted.abilities.theta.reliabilityCeiling;
  const reliabilityCeiling =
    isTested && !structure.isCarried ? ceilingUnder(structure, calibrated) : calibrated;
  const whole = { ...fitted, structure, reliabilityCeiling };
  const conditions = [
    ...found,
    ...(isTested ? structureConditions(structure, study.kcs) : untestedConditions(study.kcs.length)),
    ...slopeConditions(fitted.parameters, study.kcs),
    ...conditionsOf(whole),
  ];
  return { ...whole, conditions };
}

/** Fits a design and computes every figure that does not depend on the test of structure. */
function fitDesign(study: Study, options: CalibrateOptions, dependence?: Dependence): FittedDesign {
  const { responses } = study;
  const { progress, ...settings } = options;
  const { bound, penalty } = options;
  const design = createDesign(options.model, study.kcs.length, study.kcsOf, {
    bound,
    penalty,
    ...(dependence === undefined ? {} : { dependence }),
  });
  const { best: em, starts, converged, shortRuns } = bestFit(design, responses, options);
  const parameters = written(em.parameters);
  progress?.('standard errors');
  const errors = standardErrors(design, parameters, responses);
  progress?.('fit');
  const pairs = fitPairs(design, parameters, responses);
  const criteria = criteriaOf(design, logLikelihoodOf(design, parameters, responses), responses.learners);
  const monotonicity = monotonicityOf(design, parameters, study);
  progress?.('prices of the restrictions');
  const prices = pricesOf(design, parameters, responses, criteria.logLikelihood);
  return {
    study,
    options: settings,
    design,
    parameters,
    em,
    starts,
    converged,
    shortRuns,
    prices,
    penaltyValue: penaltyOf(design, parameters),
    criteria,
    errors,
    abilities: describeAbilities(design, parameters, responses),
    items: fitItems(design, parameters, responses),
    pairs,
    limitedInformation: limitedInformationFit(design, parameters, responses, errors),
    monotonicity,
    againstDina: options.model === 'gdina' ? compareWithDina(design, parameters, study, options) : undefined,
  };
}

/** Tests the structure by the model with better rows: misfit of items poses as structure. Returns why if answers are damaged or KCs too many. */
function structureOf(
  better: Pick<Calibration, 'design' | 'parameters'> | undefined,
  study: Study,
  found: readonly Condition[],
  options: CalibrateOptions,
): StructureTest | string {
  if (study.kcs.length > MAXIMUM_TESTED_KCS)
    return `not tested above ${MAXIMUM_TESTED_KCS} knowledge components`;
  if (better === undefined || verdictOf(found).level === 'not_releasable')
    return 'not tested before the causes in the verdict are removed';
  if (found.some(({ code }) => code === 'unlinked_parts'))
    return 'not tested, because nothing links the parts of the test';
  return testStructure(better.design, better.parameters, study, {
    hierarchy: options.hierarchy,
    blocks: options.blocks,
    insist: options.insist,
    independent: options.independent,
    bootstrap: options.bootstrap ?? 0,
    seed: options.seed,
    ...(options.progress === undefined ? {} : { progress: options.progress }),
  });
}

/** Rounds parameters for writing, which keeps order and bounds: both are monotone. */
function written({ tables, slopes, locations, extras }: Parameters): Parameters {
  const rounded = (value: number): number => Number(value.toFixed(DECIMALS));
  return {
    tables: tables.map((table) => table.map(rounded)),
    slopes: slopes.map(rounded),
    locations: locations.map(rounded),
    extras: extras?.map(rounded),
  };
}

/** Returns AIC and BIC by the number of named parameters; bounds and pooling reduce none. */
function criteriaOf(design: Design, logLikelihood: number, learners: number): Criteria {
  const parameters = parameterCount(design);
  return {
    logLikelihood,
    parameters,
    aic: -2 * logLikelihood + 2 * parameters,
    bic: -2 * logLikelihood + parameters * log(learners),
  };
}

function monotonicityOf(
  design: Design,
  parameters: Parameters,
  { responses }: Study,
): readonly Monotonicity[] {
  const counts = expectedCounts(design, parameters, responses);
  return design.items.map(({ size }, j) => {
    const answered = counts.answered[j] ?? new Float64Array(size);
    const correct = counts.correct[j] ?? new Float64Array(size);
    const table = parameters.tables[j] ?? new Float64Array(size);
    const raw = answered.map((n, s) => (n > 0 ? at(correct, s) / n : 0));
    const shared = new Set<number>();
    for (let pattern = 0; pattern < size; pattern += 1) {
      for (let bit = 1; bit < size; bit *= 2) {
        const larger = pattern | bit;
        if (larger === pattern || at(table, larger) !== at(table, pattern)) continue;
        if (design.model === 'dina' && larger !== size - 1) continue;
        shared.add(pattern).add(larger);
      }
    }
    return {
      largestFall: design.model === 'dina' ? 0 : largestFall(raw, answered, SPARSE),
      pooled: shared.size,
      sparse: answered.reduce((count, n) => count + Number(n < SPARSE), 0),
    };
  });
}

function compareWithDina(
  design: Design,
  parameters: Parameters,
  study: Study,
  options: CalibrateOptions,
): AgainstDina {
  options.progress?.('comparison with DINA');
  const { responses } = study;
  const dina = createDesign('dina', design.kcCount, study.kcsOf, design);
  const { maximumIterations, tolerance } = options;
  const simple = fit(dina, responses, startingParameters(dina), { maximumIterations, tolerance });
  const dinaCriteria = criteriaOf(dina, simple.logLikelihood, responses.learners);
  const logLikelihood = logLikelihoodOf(design, parameters, responses);
  const df = criteriaOf(design, 0, responses.learners).parameters - dinaCriteria.parameters;
  return {
    dina: dinaCriteria,
    test: likelihoodRatio(logLikelihood - simple.logLikelihood, df),
    items: design.items.map(({ size }, j) => {
      if (size === 2) return undefined;
      return likelihoodRatio(logLikelihood - reducedLogLikelihood(dina, parameters, study, j), size - 2);
    }),
  };
}

function likelihoodRatio(difference: number, df: number): ChiSquare {
  const statistic = Math.max(0, 2 * difference);
  return { statistic, df, p: df > 0 ? chiSquareUpper(statistic, df) : 1 };
}

const REDUCED_STEPS = 50;
const REDUCED_GAIN = 1e-4;

/**
 * Returns the largest log-likelihood with one item's table restricted to DINA and all else held: the two-step likelihood ratio test of Sorrel, de la
 * Torre, Abad and Olea (2017, Methodology 13, 39-47).
 */
function reducedLogLikelihood(
  dina: Design,
  parameters: Parameters,
  { responses }: Study,
  item: number,
): number {
  const design = dina.items[item];
  if (design === undefined) throw new RangeError(`there is no item ${item}`);
  let current = parameters;
  let reached = -Infinity;
  for (let step = 0; step < REDUCED_STEPS; step += 1) {
    const counts = expectedCounts(dina, current, responses);
    if (step > 1 && counts.logLikelihood - reached < REDUCED_GAIN) return counts.logLikelihood;
    if (step > 0) reached = counts.logLikelihood;
    const table = fitTable(
      dina,
      design,
      counts.answered[item] ?? new Float64Array(),
      counts.correct[item] ?? new Float64Array(),
    );
    current = { ...parameters, tables: parameters.tables.map((other, j) => (j === item ? table : other)) };
  }
  return reached;
}

/** A start that ends this far below the best one has found another maximum. */
export const OTHER_MAXIMUM = 0.01;

/** Above it a fit is poor: RMSEA2 (Liu, Tian and Xin, 2016) and SRMSR (Maydeu-Olivares and Joe, 2014), without what chance adds to SRMSR in small studies. */
export const POOR = 0.08;

/** Returns the conditions that follow from the fit. */
function conditionsOf(calibration: Omit<Calibration, 'conditions'>): Condition[] {
  const { em, errors, starts, study, design, options, parameters, criteria, pairs } = calibration;
  const { learners } = study.responses;
  const { bound } = design;
  const count = parameters.tables.reduce(
    (total, table) => total + table.filter((p) => p <= bound || p >= 1 - bound).length,
    0,
  );
  // A fit that was stopped is at no maximum.
  const maxima = starts.filter((_, n) => calibration.converged[n] === true);
  const lower = maxima.filter((objective) => objective < em.objective - OTHER_MAXIMUM).length;
  const rows = study.responses.counts.length;
  const m2 = calibration.limitedInformation;
  const rmsea = typeof m2 === 'string' ? undefined : m2.rmsea;
  const residual = unbiasedSrmsr(pairs);
  const isPoor = Math.max(rmsea ?? 0, residual ?? 0) > POOR;
  return [
    ...(em.converged
      ? []
      : [
          condition('not_converged', [], {
            iterations: em.iterations,
            isAtRest: em.iterations < options.maximumIterations,
            penalty: options.penalty,
          }),
        ]),
    ...(isPoor ? [condition('poor_fit', [], { rmsea: figure(rmsea), srmsr: figure(residual) })] : []),
    ...(criteria.parameters > learners / 2
      ? [condition('many_parameters', [], { parameters: criteria.parameters, learners })]
      : []),
    ...(errors.rank < errors.free
      ? [
          condition('singular_information', [], {
            missing: errors.free - errors.rank,
            free: errors.free,
            rows,
          }),
        ]
      : []),
    ...(count === 0 ? [] : [condition('probabilities_on_bound', [], { count, bound })]),
    ...(options.model === 'gdina' && starts.length === 1 ? [condition('one_start', [])] : []),
    ...(lower === 0
      ? []
      : [
          condition('several_maxima', [], {
            lower,
            starts: maxima.length,
            dropped: Math.max(0, calibration.shortRuns.length - starts.length),
            seed: options.seed,
          }),
        ]),
    ...coarseScores(calibration.reliabilityCeiling),
  ];
}
