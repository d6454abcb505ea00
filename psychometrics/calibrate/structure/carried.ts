/** What a calibration carries of the structure that its answers show: the blocks of its record, each with the support that it has in the answers. */
import type { CalibratedParameters, PriorBlock } from '#functions/mastery/engine/index.ts';
import {
  correlationOf,
  hasNoCurve,
  isIndependent,
  noDependence,
  saturatedOf,
  type Dependence,
  type PriorParameters,
} from '../dependence.ts';
import type { Design } from '../model.ts';
import { at } from '../numbers.ts';
import { directEdges, hierarchyText, type Prerequisites } from './prerequisites.ts';

/** Decimals of a written support. */
const DECIMALS = 6;

/** One block of KCs, by their indices, in the form that a calibration carries. */
export interface CarriedBlock {
  readonly form: 'hierarchy' | 'strand' | 'saturated';
  /** Ascending. */
  readonly kcs: readonly number[];
  /** The prerequisites of all KCs of the study: those of other blocks are 0. */
  readonly required: Prerequisites;
  /** BIC with independent curves for these KCs minus BIC with this form, the cost of its search included. */
  readonly bicGain: number;
}

/** Given prerequisites without support by the answers. */
export interface NotShown {
  /** In names of KCs. */
  readonly hierarchy: string;
  /** BIC with independent curves minus BIC with the prerequisites. */
  readonly bicGain: number;
  /** Whether the calibration carries them nevertheless. */
  readonly insisted: boolean;
}

/** Returns the dependence that blocks amount to. */
export function dependenceOf(kcCount: number, blocks: readonly Omit<CarriedBlock, 'bicGain'>[]): Dependence {
  const setsOf = (form: CarriedBlock['form']): readonly (readonly number[])[] =>
    blocks.filter((block) => block.form === form).map(({ kcs }) => kcs);
  return {
    required: noDependence(kcCount).required.map((_, k) =>
      blocks.reduce((bits, { required }) => bits | (required[k] ?? 0), 0),
    ),
    strands: setsOf('strand'),
    saturated: setsOf('saturated'),
  };
}

/** Returns the sets of KCs that prerequisites join, directly or through others, with the prerequisites of each; KCs without any are in none. */
export function joinedBy(required: Prerequisites): Pick<CarriedBlock, 'kcs' | 'required'>[] {
  const setOf = required.map((_, k) => k);
  for (const [from, to] of directEdges(required)) {
    const [kept = 0, joined = 0] = [setOf[from], setOf[to]];
    setOf.forEach((set, k) => {
      if (set === joined) setOf[k] = kept;
    });
  }
  return [...Map.groupBy(setOf.keys(), (k) => setOf[k]).values()]
    .filter((kcs) => kcs.length > 1)
    .map((kcs) => ({ kcs, required: required.map((bits, k) => (kcs.includes(k) ? bits : 0)) }));
}

/** Returns what a block states, by the names of its KCs. */
export function blockText(
  { form, kcs, required }: Omit<CarriedBlock, 'bicGain'>,
  names: readonly string[],
): string {
  const own = kcs.map((k) => names[k] ?? '').join(', ');
  if (form === 'hierarchy') return hierarchyText(required, names);
  return form === 'strand' ? `an ability of ${own}` : `one weight per pattern of ${own}`;
}

/**
 * Returns the curves and blocks of a fitted prior in the form of a calibration's parameters. Without dependence there are no blocks, and the parameters
 * are those of a model of independent curves.
 * @param guids of the KCs in the order of the design
 * @param carried the blocks with their support; a block that is not among them states none
 */
export function recordedPrior(
  { dependence, kcCount }: Pick<Design, 'dependence' | 'kcCount'>,
  { slopes, locations, extras = new Float64Array() }: PriorParameters,
  guids: readonly string[],
  carried: readonly Pick<CarriedBlock, 'kcs' | 'bicGain'>[],
  learners: number,
): Pick<CalibratedParameters, 'kcs' | 'blocks'> {
  const guidOf = (k: number): string => guids[k] ?? '';
  const kcs = Array.from({ length: kcCount }, (_, k) => ({
    guid: guidOf(k),
    ...(hasNoCurve(dependence, k) ? {} : { slope: at(slopes, k), location: at(locations, k) }),
  }));
  if (isIndependent(dependence)) return { kcs };
  const withSupport = (
    own: readonly number[],
  ): { readonly support?: { readonly learners: number; readonly bicGain: number } } => {
    const block = carried.find(({ kcs: others }) => others.join() === own.join());
    return block === undefined
      ? {}
      : { support: { learners, bicGain: Number(block.bicGain.toFixed(DECIMALS)) } };
  };
  const blocks: PriorBlock[] = [
    ...joinedBy(dependence.required).map(({ kcs: own, required }): PriorBlock => {
      const edges = directEdges(required);
      const depth = (k: number): number => (required[k] ?? 0).toString(2).replaceAll('0', '').length;
      // A KC requires fewer than those that require it.
      const ordered = own.toSorted((a, b) => depth(a) - depth(b) || a - b);
      return {
        form: 'hierarchy',
        kcs: ordered.map(guidOf),
        prerequisites: ordered.map((k) => edges.filter(([, by]) => by === k).map(([from]) => guidOf(from))),
        ...withSupport(own),
      };
    }),
    ...dependence.strands.map((own): PriorBlock => ({
      form: 'strand',
      kcs: own.map(guidOf),
      correlation: correlationOf(extras),
    })),
    ...dependence.saturated.map((own, set): PriorBlock => {
      const { slope, weights } = saturatedOf(dependence, extras, set);
      return { form: 'saturated', kcs: own.map(guidOf), slope, weights: [...weights], ...withSupport(own) };
    }),
  ];
  return { kcs, blocks };
}
