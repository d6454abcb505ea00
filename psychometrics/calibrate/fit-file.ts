import type { Calibration } from './calibrate.ts';
import { itemRest } from './checks/columns.ts';
import { nestingOf } from './checks/nesting.ts';
import { verdictOf } from './conditions.ts';
import { srmsr, unbiasedSrmsr, worstPair } from './item-fit.ts';
import { SLOPE_RANGE, theta } from './model.ts';
import { hasNoCurve } from './dependence.ts';
import { at } from './numbers.ts';
import { INTERCEPT_PRIOR, SLOPE_PRIOR } from './penalty.ts';
import { recordedPrior } from './structure/carried.ts';

/** Figures are written with this many significant digits: more than any of them means. */
const DIGITS = 10;

/** Returns `fit.json`: every figure of a fit, none of them about one learner. An absent figure is `null`. */
export function fitFile(calibration: Calibration): Record<string, unknown> {
  const { study, options, design, em, criteria, errors, abilities, pairs, parameters, againstDina } =
    calibration;
  const nameOf = (item: number): string => study.items[item] ?? '';
  const rest = itemRest(study);
  const worstCorrelation = worstPair(pairs, (pair) => pair.zCorrelation);
  const worstLogOdds = worstPair(pairs, (pair) => pair.zLogOdds);
  return rounded({
    generator: FIT_MARK,
    model: options.model,
    logLikelihood: criteria.logLikelihood,
    iterations: em.iterations,
    converged: em.converged,
    scoreLength: em.scoreLength,
    tolerance: options.tolerance,
    objective: criteria.logLikelihood + calibration.penaltyValue,
    penalty:
      options.penalty === 'none'
        ? { kind: 'none', value: 0 }
        : { kind: 'weak', slope: SLOPE_PRIOR, intercept: INTERCEPT_PRIOR, value: calibration.penaltyValue },
    bounds: { probability: [options.bound, 1 - options.bound], slope: [SLOPE_RANGE.min, SLOPE_RANGE.max] },
    theta,
    starts: {
      objectives: calibration.starts,
      shortRuns: calibration.shortRuns,
      seed: calibration.starts.length === 1 ? null : options.seed,
    },
    prices: {
      penalty: calibration.prices.penalty ?? null,
      monotonicity: calibration.prices.monotonicity ?? null,
    },
    parameters: criteria.parameters,
    aic: criteria.aic,
    bic: criteria.bic,
    data: {
      learners: study.responses.learners,
      distinctRows: study.responses.counts.length,
      items: study.items.length,
      kcs: study.kcs.length,
      missing: study.missing,
      leftOut: study.silent,
    },
    verdict: verdictOf(calibration.conditions),
    design: {
      answeredSets: study.linkage.sets,
      parts: study.linkage.parts.map((part) => part.map(nameOf)),
      missing: study.lacking.share,
      tails: study.lacking.tails,
      nested: nestingOf(study),
    },
    standardErrors: {
      method: 'cross-product of individual scores, all parameters together, with the penalty’s information',
      free: errors.free,
      rank: errors.rank,
      singular: errors.rank < errors.free,
    },
    items: study.items.map((item, j) => {
      const table = [...(parameters.tables[j] ?? [])];
      const own = errors.tables[j] ?? [];
      const figures = calibration.items[j];
      const last = table.length - 1;
      const monotonicity = calibration.monotonicity[j];
      return {
        item,
        kcs: (study.kcsOf[j] ?? []).map((k) => study.kcs[k]),
        guess: table[0],
        guessSe: own[0] ?? null,
        slip: 1 - (table[last] ?? 0),
        slipSe: own[last] ?? null,
        discrimination: (table[last] ?? 0) - (table[0] ?? 0),
        ...(options.model === 'gdina'
          ? { probabilities: table, probabilitiesSe: own.map((se) => se ?? null) }
          : {}),
        answered: figures?.answered,
        proportion: figures?.proportion,
        itemRest: rest[j]?.correlation ?? null,
        expectedProportion: figures?.expectedProportion,
        sx2: figures?.sx2 ?? null,
        monotonicity,
        ...(againstDina === undefined ? {} : { againstDina: againstDina.items[j] ?? null }),
      };
    }),
    kcs: study.kcs.map((kc, k) => ({
      kc,
      slope: hasNoCurve(design.dependence, k) ? null : at(parameters.slopes, k),
      slopeSe: errors.slopes[k] ?? null,
      slopeSeFromPrior: errors.slopesFromPrior[k] ?? false,
      location: hasNoCurve(design.dependence, k) ? null : at(parameters.locations, k),
      locationSe: errors.locations[k] ?? null,
      locationSeFromPrior: errors.locationsFromPrior[k] ?? false,
      items: study.kcsOf.filter((own) => own.includes(k)).length,
      itemsAlone: study.kcsOf.filter((own) => own.length === 1 && own[0] === k).length,
      ...abilities.kcs[k],
    })),
    patterns: {
      all: design.patterns,
      accuracy: abilities.patternAccuracy,
      consistency: abilities.patternConsistency,
    },
    ability: abilities.theta,
    absoluteFit: {
      m2: typeof calibration.limitedInformation === 'string' ? null : calibration.limitedInformation,
      ...(typeof calibration.limitedInformation === 'string'
        ? { m2Absent: calibration.limitedInformation }
        : {}),
      srmsr: srmsr(pairs) ?? null,
      unbiasedSrmsr: unbiasedSrmsr(pairs) ?? null,
      pairs: pairs.length,
      largestCorrelationResidual: chosen(worstCorrelation, ({ pair, z, p }) => ({
        items: [nameOf(pair.first), nameOf(pair.second)],
        z,
        p,
      })),
      largestLogOddsResidual: chosen(worstLogOdds, ({ pair, z, p }) => ({
        items: [nameOf(pair.first), nameOf(pair.second)],
        z,
        p,
      })),
    },
    comparison: chosen(againstDina, ({ dina, test }) => ({ dina, likelihoodRatio: test })),
    reliabilityCeiling: calibration.reliabilityCeiling ?? null,
    structure: structureMember(calibration),
    pairs: pairs.map((pair) => ({
      items: [nameOf(pair.first), nameOf(pair.second)],
      learners: pair.learners,
      correlation: pair.correlation,
      expectedCorrelation: pair.expectedCorrelation,
      zCorrelation: pair.zCorrelation,
      zLogOdds: pair.zLogOdds,
    })),
    history: em.history.map(({ iteration, objective, logLikelihood, extrapolated }) => ({
      iteration,
      objective,
      logLikelihood,
      extrapolated,
    })),
  });
}

/** Returns the test of structure, with KCs by name. */
function structureMember({ structure, study, design, parameters }: Calibration): Record<string, unknown> {
  if (typeof structure === 'string') return { chosen: null, absent: structure };
  const { rows, candidates, chosen, correlation, slopesOnBound, reliabilityCeiling, bootstrap, carried } =
    structure;
  return {
    rows,
    candidates,
    chosen,
    correlation: correlation ?? null,
    slopesOnBound: slopesOnBound.map((k) => study.kcs[k]),
    reliabilityCeiling: reliabilityCeiling ?? null,
    bootstrap: bootstrap ?? null,
    // Only where there are any: other files stay as they were.
    ...(carried.length === 0
      ? {}
      : { blocks: recordedPrior(design, parameters, study.kcs, carried, study.responses.learners).blocks }),
  };
}

/** Returns a figure derived from another, or null if that one is absent. */
function chosen<T, U>(value: T | undefined, of: (value: T) => U): U | null {
  return value === undefined ? null : of(value);
}

/** The mark by which a later run recognizes the files of this command. */
export const FIT_MARK = 'mastery-reports calibrate';

/** Rounds all numbers in a JSON value to the digits of the file. */
function rounded(value: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(value, (_key, member: unknown) =>
      typeof member === 'number' ? Number(member.toPrecision(DIGITS)) : member,
    ),
  ) as Record<string, unknown>;
}
