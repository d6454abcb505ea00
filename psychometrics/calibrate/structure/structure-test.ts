/**
 * The test of structure: is the prior of the calibration, KCs that are independent given one ability, what the answers show? Compared by BIC on
 * unpenalized fits with hierarchies, two abilities, all pairs of KCs, the saturated distribution, and a model without KCs (Templin and Bradshaw,
 * 2014, Psychometrika 79, 317-339, on testing hierarchies; von Davier and Haberman, 2014, ibid. 340-346, on abilities in their place).
 */
import { expectedCounts } from '../expectation.ts';
import { SLOPE_RANGE, collapse, type Design, type Parameters, type Responses } from '../model.ts';
import { at, integerAt, log, uniformFrom } from '../numbers.ts';
import type { Study } from '../read-data.ts';
import { hierarchyOfCurves, independent, twoAbilities } from './curves.ts';
import { fitStructure, fitToCounts, fitTwoParameter, type Fit, type StructureFit } from './fit-structure.ts';
import { createBank, tablesByLevel, type Bank } from './pattern-steps.ts';
import { closedPatterns, directEdges, hierarchyText, type Prerequisites } from './prerequisites.ts';
import { proposeHierarchies, proposeParts } from './proposals.ts';
import { allPairs, saturated, type Structure } from './structures.ts';

/** Kinds of models that are compared. */
export type StructureKind =
  | 'independent'
  | 'hierarchy'
  | 'given_hierarchy'
  | 'two_abilities'
  | 'all_pairs'
  | 'saturated'
  | 'no_components';

/** One model that was fitted. */
export interface Candidate {
  readonly kind: StructureKind;
  /** What is specific to it, in names of KCs: the prerequisites, or the parts. */
  readonly detail: string;
  readonly logLikelihood: number;
  readonly parameters: number;
  readonly bic: number;
  /** Added to BIC where the answers proposed it: 2 log of the number of structures of its kind and size (Chen and Chen, 2008, Biometrika 95, 759-771). */
  readonly searchCost: number;
  /** Log-likelihood per learner above that of the independent structure. */
  readonly gainPerLearner: number;
  /** Whether its fit reached its end: one that was stopped may be better than its figures. */
  readonly converged: boolean;
}

/** The bootstrap of the best alternative against independent KCs. */
export interface Bootstrap {
  readonly draws: number;
  /** BIC of independent KCs less that of the best alternative with the cost of its search. */
  readonly statistic: number;
  /** (1 + draws at least as large) / (draws + 1). */
  readonly p: number;
}

/** A row of the Q-matrix that was replaced before the test, because the answers contradict it. */
export interface ReplacedRow {
  readonly item: string;
  /** Names of the KCs by which the item was tested. */
  readonly kcs: readonly string[];
}

export interface StructureTest {
  /** Rows other than those of the Q-matrix (`q_row_doubtful`); empty if all are its own. */
  readonly rows: readonly ReplacedRow[];
  readonly candidates: readonly Candidate[];
  /** The structure that the answers show, by the rule of `isShown`. */
  readonly chosen: Candidate;
  /** KCs whose curve in the unpenalized independent fit has its slope on a bound: with hierarchies, curves become steps. */
  readonly slopesOnBound: readonly number[];
  /** The hierarchy that was chosen, or the ability of each KC and the correlation if two abilities were. */
  readonly required: Prerequisites | undefined;
  readonly parts: readonly number[] | undefined;
  readonly correlation: number | undefined;
  /** Largest reliability of any test of these KCs under the hierarchy that was chosen; undefined without one. */
  readonly reliabilityCeiling: number | undefined;
  readonly bootstrap: Bootstrap | undefined;
}

export interface StructureOptions {
  readonly hierarchy: Prerequisites | undefined;
  /** Draws of the bootstrap; 0 for none. */
  readonly bootstrap: number;
  readonly seed: number;
  readonly progress?: (stage: string) => void;
}

/** With more KCs the structure is not tested: fits take minutes. */
export const MAXIMUM_TESTED_KCS = 10;
const MAXIMUM_SATURATED_KCS = 5;
/** Learners that each own pattern of an item needs for a saturated table. */
const RICH = 20;
/** BIC of independent KCs less that of another structure: from 10 on the evidence is very strong (Kass and Raftery, 1995, J. of the ASA 90, 773-795). */
export const STRONG = 10;
/** Log-likelihood per learner that a structure with more parameters must gain: with many learners, trifles are strong evidence. */
export const LEAST_GAIN = 0.005;

/** Tests the structure of a study, from the parameters of its calibration. */
export function testStructure(
  design: Design,
  parameters: Parameters,
  study: Study,
  options: StructureOptions,
): StructureTest {
  const { responses, kcs } = study;
  const kcsOf = design.items.map((item) => item.kcs);
  const context = { design, kcsOf, hierarchy: options.hierarchy };
  const counts = expectedCounts(design, parameters, responses);
  const bank = createBank(design, (j) => counts.answered[j]?.every((count) => count >= RICH) ?? false);
  const start = {
    vector: Float64Array.from([...parameters.slopes.map(log), ...parameters.locations]),
    tables: tablesByLevel(bank, parameters),
  };
  options.progress?.('structure');
  const found = search(context, bank, responses, start);
  options.progress?.('structure: model without knowledge components');
  const proportions = study.correct.map((correct, j) => correct / (study.answered[j] ?? 1));
  const none = fitTwoParameter(responses, proportions);
  const base = found.independent.fit;
  const describe = (kind: StructureKind, detail: string, fit: Fit, searchCost = 0): Candidate => ({
    kind,
    detail,
    searchCost,
    logLikelihood: fit.logLikelihood,
    parameters: fit.parameters,
    bic: fit.bic,
    converged: fit.converged,
    gainPerLearner: (fit.logLikelihood - base.logLikelihood) / responses.learners,
  });
  const described = [found.independent, ...found.others].map((tried) => ({
    tried,
    candidate: describe(tried.kind, detailOf(tried, kcs), tried.fit, searchCostOf(tried)),
  }));
  const independentOne = described[0] as (typeof described)[number];
  const shown = chosenOf(described.map(({ candidate }) => candidate));
  const chosen = described.find(({ candidate }) => candidate === shown) ?? independentOne;
  return {
    rows: replacedRows(design, study),
    candidates: [...described.map(({ candidate }) => candidate), describe('no_components', '', none)],
    chosen: chosen.candidate,
    slopesOnBound: kcs.flatMap((_, k) => {
      const logSlope = at(base.vector, k);
      return logSlope <= log(SLOPE_RANGE.min * 1.01) || logSlope >= log(SLOPE_RANGE.max / 1.01) ? [k] : [];
    }),
    required: chosen.tried.required,
    parts: chosen.tried.abilityOf,
    correlation:
      chosen.tried.kind === 'two_abilities' ? at(chosen.tried.fit.vector, 2 * kcs.length) : undefined,
    reliabilityCeiling: ceilingOf(design, chosen.tried),
    bootstrap: options.bootstrap === 0 ? undefined : bootstrap(context, bank, study, found, options),
  };
}

/**
 * Returns whether the answers show a structure rather than independent KCs: its BIC is lower by strong evidence, and, if it has more parameters, its
 * gain is no trifle. One that the answers proposed must outweigh the search, too.
 */
export function isShown(candidate: Candidate, base: Candidate): boolean {
  const isSimpler = candidate.parameters <= base.parameters;
  return base.bic - costed(candidate) >= STRONG && (isSimpler || candidate.gainPerLearner >= LEAST_GAIN);
}

function replacedRows({ items }: Design, study: Study): ReplacedRow[] {
  const inOrder = (kcs: readonly number[] = []): number[] => kcs.toSorted((a, b) => a - b);
  return items.flatMap(({ kcs }, j) =>
    inOrder(kcs).join() === inOrder(study.kcsOf[j]).join()
      ? []
      : [{ item: study.items[j] ?? '', kcs: inOrder(kcs).map((k) => study.kcs[k] ?? '') }],
  );
}

/** Returns the structure shown that has the lowest BIC with the cost of its search; the first candidate, independent KCs, if none is shown. */
export function chosenOf(candidates: readonly Candidate[]): Candidate {
  const base = candidates[0] as Candidate;
  const shown = candidates.filter((one) => isShown(one, base));
  return shown.reduce((a, b) => (costed(b) < costed(a) ? b : a), shown[0] ?? base);
}

/** Returns the BIC of a candidate with the cost of its search. */
export function costed({ bic, searchCost }: Pick<Candidate, 'bic' | 'searchCost'>): number {
  return bic + searchCost;
}

/** Returns 2 log of the number of structures among which the answers chose: sets of as many prerequisites, or partitions into two abilities. */
function searchCostOf({ kind, required, abilityOf }: Tried): number {
  if (kind === 'hierarchy' && required !== undefined) {
    const pairs = required.length * (required.length - 1);
    return directEdges(required).reduce((cost, _, n) => cost + 2 * log((pairs - n) / (n + 1)), 0);
  }
  return abilityOf === undefined ? 0 : 2 * log(2 ** (abilityOf.length - 1) - abilityOf.length - 1);
}

/** What a search needs of the study. */
interface Context {
  readonly design: Design;
  readonly kcsOf: readonly (readonly number[])[];
  readonly hierarchy: Prerequisites | undefined;
}

/** A structure with its fit. */
interface Tried {
  readonly kind: StructureKind;
  readonly structure: Structure;
  readonly fit: StructureFit;
  readonly required?: Prerequisites;
  readonly abilityOf?: readonly number[];
}

interface Found {
  readonly independent: Tried;
  readonly others: readonly Tried[];
}

/** Fits independent KCs and all alternatives, those proposed by the answers included. */
function search(
  { design, kcsOf, hierarchy }: Context,
  bank: Bank,
  responses: Responses,
  start: Pick<StructureFit, 'vector' | 'tables'>,
): Found {
  const { kcCount } = design;
  const one = independent(design);
  const base = {
    kind: 'independent',
    structure: one,
    fit: fitStructure(bank, one, responses, start),
  } as const;
  const attempt = (
    tried: Omit<Tried, 'fit'>,
    everybody: Float64Array,
    tables: readonly Float64Array[],
  ): Tried => {
    const vector = fitToCounts(tried.structure, everybody);
    return { ...tried, fit: fitStructure(bank, tried.structure, responses, { vector, tables }) };
  };
  const pairs = attempt(
    { kind: 'all_pairs', structure: allPairs(kcCount) },
    base.fit.expected,
    base.fit.tables,
  );
  const guide = pairs.fit;
  const full =
    kcCount <= MAXIMUM_SATURATED_KCS
      ? [
          attempt(
            { kind: 'saturated', structure: saturated(pairs.structure.support) },
            guide.expected,
            guide.tables,
          ),
        ]
      : [];
  const shown = full[0]?.fit ?? guide;
  const hierarchies = proposeHierarchies(kcCount, shown.expected, kcsOf)
    .map((required) => ({ kind: 'hierarchy' as const, required }))
    .filter(({ required }) => required.join() !== hierarchy?.join());
  const given = hierarchy === undefined ? [] : [{ kind: 'given_hierarchy' as const, required: hierarchy }];
  const abilityOf = proposeParts(kcCount, shown.expected, base.fit.expected);
  return {
    independent: base,
    others: [
      ...[...given, ...hierarchies].map(({ kind, required }) =>
        attempt({ kind, required, structure: hierarchyOf(design, required) }, shown.expected, shown.tables),
      ),
      ...(abilityOf === undefined
        ? []
        : [
            attempt(
              { kind: 'two_abilities', abilityOf, structure: twoAbilities(abilityOf) },
              shown.expected,
              shown.tables,
            ),
          ]),
      pairs,
      ...full,
    ],
  };
}

/** Returns a hierarchy in the form with fewer parameters: a probability per pattern that it allows, or a curve per KC. */
function hierarchyOf(design: Design, required: Prerequisites): Structure {
  const support = closedPatterns(required);
  return support.length - 1 < 2 * required.length ? saturated(support) : hierarchyOfCurves(design, required);
}

function detailOf({ required, abilityOf }: Tried, kcs: readonly string[]): string {
  if (required !== undefined) return hierarchyText(required, kcs);
  if (abilityOf === undefined) return '';
  return [0, 1].map((part) => kcs.filter((_, k) => abilityOf[k] === part).join(', ')).join(' | ');
}

/**
 * Returns 1 - E[Var(ability | pattern)] / Var(ability) under a hierarchy, the largest reliability of any test of these KCs. Curves are fitted to its
 * patterns, because those of a chain have a probability each and no ability: they do not determine the slopes, which then stay near usual ones, where
 * the fit starts. Undefined for a structure without prerequisites.
 */
function ceilingOf(design: Design, { required, structure, fit }: Tried): number | undefined {
  if (required === undefined) return undefined;
  const curves = hierarchyOfCurves(design, required);
  const everybody = new Float64Array(2 ** design.kcCount);
  structure.support.forEach((pattern, a) => {
    everybody[pattern] = at(fit.expected, a);
  });
  const joint = curves.joint(fitToCounts(curves, everybody));
  const { points } = design;
  const nodes = points.length;
  let [mean, square, between] = [0, 0, 0];
  for (let a = 0; a < curves.support.length; a += 1) {
    let [p, first] = [0, 0];
    for (let g = 0; g < nodes; g += 1) {
      const weight = at(joint, a * nodes + g);
      p += weight;
      first += weight * at(points, g);
      square += weight * at(points, g) * at(points, g);
    }
    mean += first;
    if (p > 0) between += (first * first) / p;
  }
  return (between - mean * mean) / (square - mean * mean);
}

/**
 * Returns the largest reliability that a score on one ability can have: the lower one of the calibration's and that under the hierarchy shown.
 * Undefined if the structure shown has no single ability.
 */
export function ceilingUnder(
  { chosen, reliabilityCeiling }: Pick<StructureTest, 'chosen' | 'reliabilityCeiling'>,
  calibrated: number,
): number | undefined {
  if (chosen.kind === 'independent') return calibrated;
  return reliabilityCeiling === undefined ? undefined : Math.min(calibrated, reliabilityCeiling);
}

/** Returns BIC of independent KCs less that of the best alternative with the cost of its search. */
function statisticOf({ independent: base, others }: Found): number {
  return base.fit.bic - Math.min(...others.map((tried) => tried.fit.bic + searchCostOf(tried)));
}

/** Draws studies from the independent fit, with the same answers missing, and searches each as the study itself was searched. */
function bootstrap(
  context: Context,
  bank: Bank,
  { responses }: Study,
  found: Found,
  { bootstrap: draws, seed, progress }: StructureOptions,
): Bootstrap {
  const { fit, structure } = found.independent;
  const patterns = structure.prior(fit.vector);
  const uniform = uniformFrom(seed);
  const statistic = statisticOf(found);
  let larger = 0;
  for (let draw = 0; draw < draws; draw += 1) {
    progress?.(`structure: bootstrap ${draw + 1} of ${draws}`);
    const drawn = drawResponses(bank, fit, patterns, responses, uniform);
    larger += Number(statisticOf(search(context, bank, drawn, fit)) >= statistic);
  }
  return { draws, statistic, p: (1 + larger) / (draws + 1) };
}

/** Draws answers of as many learners, each with the missing answers of one of them. */
function drawResponses(
  { items }: Bank,
  { tables }: StructureFit,
  patterns: Float64Array,
  responses: Responses,
  uniform: () => number,
): Responses {
  const answers = new Int8Array(responses.learners * responses.items);
  let learner = 0;
  for (let row = 0; row < responses.counts.length; row += 1) {
    for (let n = 0; n < at(responses.counts, row); n += 1) {
      let pattern = 0;
      for (
        let rest = uniform();
        pattern < patterns.length - 1 && rest >= at(patterns, pattern);
        pattern += 1
      ) {
        rest -= at(patterns, pattern);
      }
      items.forEach(({ levelOf }, j) => {
        const p = at(tables[j] as Float64Array, integerAt(levelOf, pattern));
        const place = row * responses.items + j;
        answers[learner * responses.items + j] =
          integerAt(responses.answers, place) < 0 ? -1 : Number(uniform() < p);
      });
      learner += 1;
    }
  }
  return collapse(answers, responses.items);
}
