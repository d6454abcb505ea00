/**
 * The test of structure: is the prior of the calibration, KCs that are independent given one ability, what the answers show? Compared by BIC on
 * unpenalized fits with hierarchies, two abilities, all pairs of KCs, the saturated distribution, and a model without KCs (Templin and Bradshaw,
 * 2014, Psychometrika 79, 317-339, on testing hierarchies; von Davier and Haberman, 2014, ibid. 340-346, on abilities in their place).
 */
import { expectedCounts } from '../expectation.ts';
import { SLOPE_RANGE, collapse, type Design, type Parameters, type Responses } from '../model.ts';
import { at, integerAt, log, uniformFrom } from '../numbers.ts';
import type { Study } from '../read-data.ts';
import { LEAST_STRAND, MAXIMUM_SATURATED_KCS, searchBlocks, separateBlocks } from './block-search.ts';
import type { BlockContext } from './block-search.ts';
import { candidateOf, chosenOf, costOfHierarchy, costed, isShown, STRONG } from './candidates.ts';
import type { Candidate, StructureKind } from './candidates.ts';
import { dependenceOf, type CarriedBlock, type NotShown } from './carried.ts';
import { hierarchyOfCurves, independent, twoAbilities } from './curves.ts';
import { fitStructure, fitToCounts, fitTwoParameter, type Fit, type StructureFit } from './fit-structure.ts';
import type { GivenBlock } from './given-blocks.ts';
import { createBank, tablesByLevel, type Bank } from './pattern-steps.ts';
import { closedPatterns, hierarchyText, type Prerequisites } from './prerequisites.ts';
import { proposeHierarchies, proposeParts } from './proposals.ts';
import { allPairs, saturated, type Structure } from './structures.ts';

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
  /** The blocks that the calibration carries; none if the answers show independent KCs, or a structure that no block expresses. */
  readonly carried: readonly CarriedBlock[];
  /** Whether these blocks are the structure that was chosen. */
  readonly isCarried: boolean;
  /** Given prerequisites that the answers do not show. */
  readonly notShown: readonly NotShown[];
}

export interface StructureOptions {
  readonly hierarchy: Prerequisites | undefined;
  /** Blocks of KCs to examine one by one, in place of the structure of all KCs. */
  readonly blocks?: readonly GivenBlock[] | undefined;
  /** Whether the calibration carries given prerequisites that the answers do not show. */
  readonly insist?: boolean | undefined;
  /** Whether the calibration carries no blocks at all. */
  readonly independent?: boolean | undefined;
  /** Draws of the bootstrap; 0 for none. */
  readonly bootstrap: number;
  readonly seed: number;
  readonly progress?: (stage: string) => void;
}

/** With more KCs the structure is not tested: fits take minutes. */
export const MAXIMUM_TESTED_KCS = 10;
/** Learners that each own pattern of an item needs for a saturated table. */
const RICH = 20;
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
  const describe = (kind: StructureKind, detail: string, fit: Fit, searchCost = 0): Candidate =>
    candidateOf({ kind, detail, fit, searchCost }, base, responses.learners);
  const described = [found.independent, ...found.others].map((tried) => ({
    tried,
    candidate: describe(tried.kind, detailOf(tried, kcs), tried.fit, searchCostOf(tried)),
  }));
  const independentOne = described[0] as (typeof described)[number];
  const shown = chosenOf(described.map(({ candidate }) => candidate));
  const chosen = described.find(({ candidate }) => candidate === shown) ?? independentOne;
  const blocks = blocksOf({ ...context, bank, responses, names: kcs }, described, chosen, options);
  const own = blocks.chosen;
  // Blocks that were given are what the calibration is to consist of, unless something else is clearly better.
  const isBetter = own !== undefined && costed(own) < costed(chosen.candidate) + STRONG;
  return {
    rows: replacedRows(design, study),
    candidates: [
      ...described.map(({ candidate }) => candidate),
      ...blocks.candidates,
      describe('no_components', '', none),
    ],
    chosen: isBetter ? own : chosen.candidate,
    carried: blocks.carried,
    isCarried: options.blocks === undefined ? blocks.isChosen : isBetter,
    notShown: blocks.notShown,
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

function replacedRows({ items }: Design, study: Study): ReplacedRow[] {
  const inOrder = (kcs: readonly number[] = []): number[] => kcs.toSorted((a, b) => a - b);
  return items.flatMap(({ kcs }, j) =>
    inOrder(kcs).join() === inOrder(study.kcsOf[j]).join()
      ? []
      : [{ item: study.items[j] ?? '', kcs: inOrder(kcs).map((k) => study.kcs[k] ?? '') }],
  );
}

/** Returns 2 log of the number of structures among which the answers chose: sets of as many prerequisites, or partitions into two abilities. */
function searchCostOf({ kind, required, abilityOf }: Tried): number {
  if (kind === 'hierarchy' && required !== undefined) return costOfHierarchy(required, required.length);
  return abilityOf === undefined ? 0 : 2 * log(2 ** (abilityOf.length - 1) - abilityOf.length - 1);
}

/** A structure with its fit and its place in the comparison. */
interface Described {
  readonly tried: Tried;
  readonly candidate: Candidate;
}

/** The blocks that a calibration carries, and what was compared to find them. */
interface Blocks {
  readonly carried: readonly CarriedBlock[];
  readonly candidates: readonly Candidate[];
  readonly notShown: readonly NotShown[];
  /** Whether the blocks express the chosen structure of all KCs. */
  readonly isChosen: boolean;
  /** What given blocks amount to. */
  readonly chosen?: Candidate | undefined;
}

/** Returns the blocks that express the chosen structure, or, where blocks were given, those that the answers show one by one. */
function blocksOf(
  context: BlockContext,
  described: readonly Described[],
  chosen: Described,
  { blocks, insist = false, independent: isPlain = false }: StructureOptions,
): Blocks {
  if (isPlain) return { carried: [], candidates: [], notShown: [], isChosen: false };
  const { kcCount } = context.design;
  const [base] = described as readonly [Described];
  const full = described.find(({ tried }) => tried.kind === 'saturated');
  const guide = full ?? described.find(({ tried }) => tried.kind === 'all_pairs') ?? base;
  if (blocks !== undefined) {
    return { ...searchBlocks(context, base.tried.fit, guide.tried.fit, blocks, insist), isChosen: false };
  }
  const given = described.find(({ tried }) => tried.kind === 'given_hierarchy');
  const isDoubtful = given !== undefined && !isShown(given.candidate, base.candidate);
  const notShown = isDoubtful
    ? [
        {
          hierarchy: given.candidate.detail,
          bicGain: base.candidate.bic - given.candidate.bic,
          insisted: insist,
        },
      ]
    : [];
  const only = (block: Omit<CarriedBlock, 'bicGain' | 'required'>, candidate: Candidate): CarriedBlock => ({
    ...block,
    required: dependenceOf(kcCount, []).required,
    bicGain: base.candidate.bic - costed(candidate),
  });
  const all = Array.from({ length: kcCount }, (_, k) => k);
  const expressed = ({ tried, candidate }: Described): readonly CarriedBlock[] => {
    const { required, abilityOf, fit } = tried;
    if (required !== undefined)
      return separateBlocks(
        context,
        { required, fit, isProposed: tried.kind === 'hierarchy' },
        base.tried.fit,
        guide.tried.fit,
      );
    if (abilityOf !== undefined) {
      const parts = [0, 1].map((part) => all.filter((k) => abilityOf[k] === part));
      const isStrand = parts.every(({ length }) => length >= LEAST_STRAND) && at(fit.vector, 2 * kcCount) > 0;
      return isStrand ? parts.map((kcs) => only({ form: 'strand', kcs }, candidate)) : [];
    }
    const isFull = tried.kind === 'saturated' || tried.kind === 'all_pairs';
    return isFull && full !== undefined && kcCount > 1 && isShown(full.candidate, base.candidate)
      ? [only({ form: 'saturated', kcs: all }, full.candidate)]
      : [];
  };
  const isForced = isDoubtful && insist;
  // A block that gains nothing is carried only if the caller insists.
  const carried = expressed(isForced ? given : chosen).filter(({ bicGain }) => isForced || bicGain > 0);
  if (isForced) return { carried, candidates: [], notShown, isChosen: false };
  return { carried, candidates: [], notShown, isChosen: carried.length > 0 };
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
