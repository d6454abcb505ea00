/** Models of one study that are compared, and the rule by which one is chosen. */
import { log } from '../numbers.ts';
import type { Fit } from './fit-structure.ts';
import { directEdges, type Prerequisites } from './prerequisites.ts';

/** Kinds of models that are compared. */
export type StructureKind =
  | 'independent'
  | 'hierarchy'
  | 'given_hierarchy'
  | 'two_abilities'
  | 'all_pairs'
  | 'saturated'
  | 'blocks'
  | 'no_components';

/** One model that was fitted. */
export interface Candidate {
  readonly kind: StructureKind;
  /** What is specific to it, in names of KCs: the prerequisites, the parts, or the blocks. */
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

/** BIC of independent KCs less that of another structure: from 10 on the evidence is very strong (Kass and Raftery, 1995, J. of the ASA 90, 773-795). */
export const STRONG = 10;
/** Log-likelihood per learner that a structure with more parameters must gain: with many learners, trifles are strong evidence. */
export const LEAST_GAIN = 0.005;

/** Describes a fitted model in comparison with that of independent KCs. */
export function candidateOf(
  {
    kind,
    detail,
    fit,
    searchCost,
  }: Pick<Candidate, 'kind' | 'detail' | 'searchCost'> & { readonly fit: Fit },
  base: Fit,
  learners: number,
): Candidate {
  return {
    kind,
    detail,
    searchCost,
    logLikelihood: fit.logLikelihood,
    parameters: fit.parameters,
    bic: fit.bic,
    converged: fit.converged,
    gainPerLearner: (fit.logLikelihood - base.logLikelihood) / learners,
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

/** Returns 2 log of the number of sets of as many prerequisites among some KCs. */
export function costOfHierarchy(required: Prerequisites, kcs: number): number {
  const pairs = kcs * (kcs - 1);
  return directEdges(required).reduce((cost, _, n) => cost + 2 * log((pairs - n) / (n + 1)), 0);
}
