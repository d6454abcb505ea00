/** Which blocks of KCs a calibration carries, by the same rule as the structure of all KCs is chosen (candidates.ts). */
import type { Design, Responses } from '../model.ts';
import { candidateOf, costOfHierarchy, costed, isShown, STRONG, type Candidate } from './candidates.ts';
import { blockText, dependenceOf, joinedBy, type CarriedBlock, type NotShown } from './carried.ts';
import { dependentStructure } from './dependent.ts';
import { fitStructure, fitToCounts, type StructureFit } from './fit-structure.ts';
import type { GivenBlock } from './given-blocks.ts';
import type { Bank } from './pattern-steps.ts';
import type { Prerequisites } from './prerequisites.ts';
import { proposeHierarchies } from './proposals.ts';

/** The most KCs of a saturated block, and the fewest of one with an ability of its own. */
export const MAXIMUM_SATURATED_KCS = 5;
export const LEAST_STRAND = 3;
/** Two fits whose BIC differs by less are the same model: of two strands, one depends on ability as the other does. */
const EQUAL_BIC = 0.1;

/** What the search needs of the study. */
export interface BlockContext {
  readonly design: Design;
  readonly kcsOf: readonly (readonly number[])[];
  readonly bank: Bank;
  readonly responses: Responses;
  /** Names of the KCs. */
  readonly names: readonly string[];
}

/** A fit with the expected numbers of learners with each of all patterns. */
type Guide = Pick<StructureFit, 'expected' | 'tables'>;

type Form = Omit<CarriedBlock, 'bicGain'>;

function fitForms(
  { design, bank, responses }: BlockContext,
  forms: readonly Form[],
  guide: Guide,
): StructureFit {
  const structure = dependentStructure(design, dependenceOf(design.kcCount, forms));
  const vector = fitToCounts(structure, guide.expected);
  return fitStructure(bank, structure, responses, { vector, tables: guide.tables });
}

/**
 * Returns the blocks that a hierarchy of all KCs falls into. The support of each is what its own prerequisites gain, next to the others or without them: of two
 * chains, one can often be replaced by steep curves, because ability then is the place in this chain.
 */
export function separateBlocks(
  context: BlockContext,
  whole: { readonly required: Prerequisites; readonly fit: StructureFit; readonly isProposed: boolean },
  independent: StructureFit,
  guide: Guide,
): readonly CarriedBlock[] {
  const { kcCount } = context.design;
  const blocks = joinedBy(whole.required).map((block): Form => ({ ...block, form: 'hierarchy' }));
  const costOf = (forms: readonly Form[]): number =>
    whole.isProposed ? costOfHierarchy(dependenceOf(kcCount, forms).required, kcCount) : 0;
  const all = whole.fit.bic + costOf(blocks);
  if (blocks.length === 1) return blocks.map((block) => ({ ...block, bicGain: independent.bic - all }));
  const bicOf = (forms: readonly Form[]): number => fitForms(context, forms, guide).bic + costOf(forms);
  return blocks.map((block) => {
    const alone = independent.bic - bicOf([block]);
    const withOthers = bicOf(blocks.filter((one) => one !== block)) - all;
    return { ...block, bicGain: Math.max(alone, withOthers) };
  });
}

/** Returns the forms that are compared for one block, with the cost of the search for each. */
function formsOf(
  { design, kcsOf }: BlockContext,
  { kcs, required }: GivenBlock,
  expected: Float64Array,
): readonly { readonly form: Form; readonly searchCost: number }[] {
  const { kcCount } = design;
  const none = dependenceOf(kcCount, []).required;
  const within = kcs.reduce((bits, k) => bits | (1 << k), 0);
  const proposed = proposeHierarchies(kcCount, expected, kcsOf).map((of) =>
    of.map((bits, k) => (kcs.includes(k) ? bits & within : 0)),
  );
  const distinct = [...new Map(proposed.map((one) => [one.join(), one])).values()].filter(
    (one) => one.some((bits) => bits > 0) && one.join() !== required?.join(),
  );
  const hierarchy = (of: Prerequisites): Form => ({ form: 'hierarchy', kcs, required: of });
  return [
    ...(required === undefined ? [] : [{ form: hierarchy(required), searchCost: 0 }]),
    ...distinct.map((one) => ({
      form: hierarchy(one),
      searchCost: costOfHierarchy(one, kcs.length),
    })),
    ...(kcs.length <= MAXIMUM_SATURATED_KCS
      ? [{ form: { form: 'saturated' as const, kcs, required: none }, searchCost: 0 }]
      : []),
    // The only ability of a study is the common one.
    ...(kcs.length >= LEAST_STRAND && kcs.length < kcCount
      ? [{ form: { form: 'strand' as const, kcs, required: none }, searchCost: 0 }]
      : []),
  ];
}

/**
 * Returns the form that a block takes among those that are shown, best first. Steep curves over an ability of its own imitate a chain, but the fit that is
 * written draws such slopes to usual ones. So prerequisites, above all those given, stay unless the evidence against them is strong.
 */
export function bestOf<T extends { readonly form: Form; readonly after: number }>(
  shown: readonly T[],
  given: T | undefined,
): T | undefined {
  const [best] = shown;
  const hierarchy = shown.find((one) => one === given) ?? shown.find(({ form }) => form.form === 'hierarchy');
  return hierarchy !== undefined && best !== undefined && best.after - hierarchy.after < STRONG
    ? hierarchy
    : best;
}

/**
 * Examines given blocks in their order, each with those before it in the form that was chosen and the others independent. Given prerequisites that the
 * answers do not show are carried only if the caller insists.
 * @param guide a fit of a distribution of all patterns, which proposes prerequisites
 */
export function searchBlocks(
  context: BlockContext,
  independent: StructureFit,
  guide: Guide,
  blocks: readonly GivenBlock[],
  insist: boolean,
): {
  readonly carried: readonly CarriedBlock[];
  readonly candidates: readonly Candidate[];
  readonly notShown: readonly NotShown[];
  /** What the blocks amount to; undefined if none is carried. */
  readonly chosen: Candidate | undefined;
} {
  const { responses, names } = context;
  const { learners } = responses;
  const textOf = (forms: readonly Form[]): string => forms.map((form) => blockText(form, names)).join('; ');
  const base = candidateOf(
    { kind: 'blocks', detail: '', fit: independent, searchCost: 0 },
    independent,
    learners,
  );
  let current = base;
  let carried: readonly CarriedBlock[] = [];
  const candidates: Candidate[] = [];
  const notShown: NotShown[] = [];
  for (const block of blocks) {
    const tried = formsOf(context, block, guide.expected).map(({ form, searchCost }) => {
      const forms = [...carried, form];
      const candidate = candidateOf(
        {
          kind: 'blocks',
          detail: textOf(forms),
          fit: fitForms(context, forms, guide),
          searchCost: current.searchCost + searchCost,
        },
        independent,
        learners,
      );
      // What the block gains next to those before it, and without them.
      const after = costed(current) - costed(candidate);
      const alone =
        carried.length === 0
          ? candidate
          : candidateOf(
              { kind: 'blocks', detail: textOf([form]), fit: fitForms(context, [form], guide), searchCost },
              independent,
              learners,
            );
      const gainPerLearner = (candidate.logLikelihood - current.logLikelihood) / learners;
      const isNext = isShown({ ...candidate, gainPerLearner }, { ...current, bic: costed(current) });
      const isOwn = isNext || (isShown(alone, base) && after > -EQUAL_BIC);
      return { form, candidate, bicGain: Math.max(after, base.bic - costed(alone)), after, isOwn };
    });
    candidates.push(...tried.map(({ candidate }) => candidate));
    const [given] = block.required === undefined ? [] : tried;
    const isDoubtful = given?.isOwn === false;
    if (isDoubtful)
      notShown.push({ hierarchy: textOf([given.form]), bicGain: given.bicGain, insisted: insist });
    const shown = tried.filter(({ isOwn }) => isOwn).toSorted((a, b) => b.after - a.after);
    const best = isDoubtful && insist ? given : bestOf(shown, given);
    if (best === undefined) continue;
    carried = [...carried, { ...best.form, bicGain: best.bicGain }];
    current = best.candidate;
  }
  return { carried, candidates, notShown, chosen: carried.length === 0 ? undefined : current };
}
