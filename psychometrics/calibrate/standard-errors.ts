/**
 * Standard errors from the observed information in its cross-product form, the sum over learners of their score vectors' outer products,
 * with all parameters (items and curves) in one matrix, as Philipp, Strobl, de la Torre and Zeileis (2018, J. of Educational and Behavioral
 * Statistics 43, 88-115) find necessary for cognitive diagnosis models. The scores are exact: by Fisher's identity the score of the
 * observed data is the posterior mean of the complete data's (Louis, 1982, J. Royal Statistical Society B 44, 226-233).
 */
import { extraRange, extrasOf, hasNoCurve, priorScores } from './dependence.ts';
import { levelSets, priorPlace, type FreeParameter } from './faces.ts';
import { eachRow } from './expectation.ts';
import { answersOf, latentPrior, SLOPE_RANGE, theta } from './model.ts';
import type { Design, Parameters, Responses } from './model.ts';
import { addTo, at, exp, integerAt, invert, sqrt, type SquareMatrix } from './numbers.ts';
import { curvePenaltyTerms, slopePenaltyTerms } from './penalty.ts';

/** Above this share, a standard error is rather the prior's than the data's. */
const MOSTLY_PRIOR = 0.5;

/** Standard errors; `undefined` if a parameter is on its bound or its information is singular. */
export interface StandardErrors {
  /** For each item and own pattern. */
  readonly tables: readonly (readonly (number | undefined)[])[];
  readonly slopes: readonly (number | undefined)[];
  readonly locations: readonly (number | undefined)[];
  /** Whether more than half of the information on a slope or location is the prior's: the prior's information times the squared standard error. */
  readonly slopesFromPrior: readonly boolean[];
  readonly locationsFromPrior: readonly boolean[];
  /** Parameters inside their bounds; values that monotonicity holds together count once. */
  readonly free: number;
  /** Rank of the information matrix; below `free` it is singular. */
  readonly rank: number;
  readonly parameters: readonly FreeParameter[];
  readonly covariance: SquareMatrix;
  readonly kept: Int8Array;
}

/** Returns the free parameters, in the order items, slopes, locations, extras. A pattern that cannot occur has none. */
export function freeParameters(design: Design, parameters: Parameters): FreeParameter[] {
  const inside = (value: number, low: number, high: number): boolean => value > low && value < high;
  return [
    ...parameters.tables.flatMap((table, item) =>
      levelSets(table)
        .filter(([pattern = 0]) => inside(at(table, pattern), design.bound, 1 - design.bound))
        .filter((patterns) => patterns.some((pattern) => design.items[item]?.possible[pattern] === 1))
        .map((patterns) => ({ kind: 'table' as const, item, patterns })),
    ),
    ...[...parameters.slopes].flatMap((slope, kc) =>
      inside(slope, SLOPE_RANGE.min, SLOPE_RANGE.max) && !hasNoCurve(design.dependence, kc)
        ? [{ kind: 'slope' as const, kc }]
        : [],
    ),
    ...[...parameters.locations].flatMap((location, kc) =>
      inside(location, theta.min, theta.max) && !hasNoCurve(design.dependence, kc)
        ? [{ kind: 'location' as const, kc }]
        : [],
    ),
    ...extrasOf(design.dependence).flatMap((extra, index) => {
      const { min, max } = extraRange(extra);
      const value = at(parameters.extras ?? parameters.locations, index);
      return inside(value, min, max) ? [{ kind: 'extra' as const, index }] : [];
    }),
  ];
}

/** Calls `visit` with each distinct row's score vector (d log P(answers) / d parameter), which the next row overwrites. */
function eachScore(
  design: Design,
  parameters: Parameters,
  free: readonly FreeParameter[],
  responses: Responses,
  visit: (row: number, score: Float64Array) => void,
): void {
  const prior = latentPrior(design, parameters);
  const scores = priorScores(design, parameters, prior);
  const curveTerms = free.map((parameter) =>
    parameter.kind === 'table' ? undefined : scores[priorPlace(design.kcCount, parameter)],
  );
  const members = free.map((parameter) => {
    if (parameter.kind !== 'table') return undefined;
    const own = design.items[parameter.item]?.own ?? new Uint16Array();
    const patterns = new Set(parameter.patterns);
    const success = at(parameters.tables[parameter.item] ?? new Float64Array(), parameter.patterns[0] ?? 0);
    const all = Int32Array.from([...own.keys()].filter((pattern) => patterns.has(integerAt(own, pattern))));
    return { all, success, item: parameter.item };
  });
  const score = new Float64Array(free.length);
  eachRow(design, parameters, prior, responses, (row, posterior) => {
    const answers = answersOf(responses, row);
    for (let n = 0; n < free.length; n += 1) {
      const member = members[n];
      const terms = curveTerms[n];
      let value = 0;
      if (member !== undefined) {
        const answer = integerAt(answers, member.item);
        if (answer >= 0) {
          for (let i = 0; i < member.all.length; i += 1) value += at(posterior, integerAt(member.all, i));
          value *= answer === 1 ? 1 / member.success : -1 / (1 - member.success);
        }
      } else if (terms !== undefined) {
        for (let a = 0; a < terms.length; a += 1) value += at(posterior, a) * at(terms, a);
      }
      score[n] = value;
    }
    visit(row, score);
  });
}

/**
 * Returns the standard errors at fitted parameters. They include the penalty's information, so that with a penalty they are those of a posterior
 * mode.
 */
export function informationOn(
  design: Design,
  parameters: Parameters,
  free: readonly FreeParameter[],
  responses: Responses,
): SquareMatrix {
  const size = free.length;
  const values = new Float64Array(size * size);
  eachScore(design, parameters, free, responses, (row, score) => {
    const count = at(responses.counts, row);
    for (let n = 0; n < size; n += 1) {
      const weighted = count * at(score, n);
      if (weighted === 0) continue;
      for (let m = 0; m <= n; m += 1) addTo(values, n * size + m, weighted * at(score, m));
    }
  });
  for (let n = 0; n < size; n += 1)
    for (let m = 0; m < n; m += 1) values[m * size + n] = at(values, n * size + m);
  addPenalty(design, parameters, free, values);
  return { size, values };
}

export function standardErrors(design: Design, parameters: Parameters, responses: Responses): StandardErrors {
  const free = freeParameters(design, parameters);
  const size = free.length;
  const { inverse, kept, rank } = invert(informationOn(design, parameters, free, responses));
  const errorOf = (wanted: (parameter: FreeParameter) => boolean): number | undefined => {
    const n = free.findIndex(wanted);
    return n >= 0 && kept[n] === 1 ? sqrt(at(inverse.values, n * size + n)) : undefined;
  };
  const slopes = Array.from(parameters.slopes, (_, kc) =>
    errorOf((one) => one.kind === 'slope' && one.kc === kc),
  );
  const locations = Array.from(parameters.locations, (_, kc) =>
    errorOf((one) => one.kind === 'location' && one.kc === kc),
  );
  const priorInformation = (kc: number): { readonly slope: number; readonly location: number } => {
    const slope = at(parameters.slopes, kc);
    const terms = curvePenaltyTerms(design.penalty, slope, at(parameters.locations, kc));
    return { slope: terms.informationLogSlope / (slope * slope), location: terms.informationLocation };
  };
  return {
    tables: parameters.tables.map((table, item) =>
      Array.from(table, (_, pattern) =>
        errorOf((one) => one.kind === 'table' && one.item === item && one.patterns.includes(pattern)),
      ),
    ),
    slopes,
    locations,
    slopesFromPrior: slopes.map((error, kc) => isFromPrior(error, priorInformation(kc).slope)),
    locationsFromPrior: locations.map((error, kc) => isFromPrior(error, priorInformation(kc).location)),
    free: size,
    rank,
    parameters: free,
    covariance: inverse,
    kept,
  };
}

function isFromPrior(error: number | undefined, information: number): boolean {
  return error !== undefined && information * error * error > MOSTLY_PRIOR;
}

/** Adds the penalty's information, converted from log slope and location to slope and location. */
function addPenalty(
  design: Design,
  { slopes, locations, extras }: Parameters,
  free: readonly FreeParameter[],
  values: Float64Array,
): void {
  const size = free.length;
  for (let kc = 0; kc < design.kcCount; kc += 1) {
    if (hasNoCurve(design.dependence, kc)) continue;
    const slope = at(slopes, kc);
    const terms = curvePenaltyTerms(design.penalty, slope, at(locations, kc));
    const s = free.findIndex((one) => one.kind === 'slope' && one.kc === kc);
    const l = free.findIndex((one) => one.kind === 'location' && one.kc === kc);
    if (s >= 0) addTo(values, s * size + s, terms.informationLogSlope / (slope * slope));
    if (l >= 0) addTo(values, l * size + l, terms.informationLocation);
    if (s >= 0 && l >= 0) {
      addTo(values, s * size + l, terms.informationMixed / slope);
      addTo(values, l * size + s, terms.informationMixed / slope);
    }
  }
  extrasOf(design.dependence).forEach(({ kind }, index) => {
    const n = free.findIndex((one) => one.kind === 'extra' && one.index === index);
    if (kind !== 'slope' || n < 0) return;
    const { information } = slopePenaltyTerms(design.penalty, exp(at(extras ?? slopes, index)));
    addTo(values, n * size + n, information);
  });
}
