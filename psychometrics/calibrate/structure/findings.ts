/** What a test of structure has against a calibration. */
import { INDIVIDUAL_RELIABILITY } from '#shared/records/records.ts';
import { condition, quotedNames, type Condition } from '../conditions.ts';
import { SLOPE_RANGE, type Parameters } from '../model.ts';
import { figure } from '../report/figures.ts';
import { LEAST_GAIN, STRONG } from './candidates.ts';
import { blockText, dependenceOf, type CarriedBlock } from './carried.ts';
import { MAXIMUM_TESTED_KCS, type StructureTest } from './structure-test.ts';

/** Decimals of a gain per learner. */
const DECIMALS = 3;

/** Returns the conditions of structure: one of what the answers show, and one if a model without KCs describes them better than any structure. */
export function structureConditions(
  {
    chosen,
    candidates,
    correlation,
    required,
    parts,
    slopesOnBound,
    rows: replaced,
    carried,
    isCarried,
    notShown,
  }: StructureTest,
  kcs: readonly string[],
): Condition[] {
  const [base] = candidates;
  const without = candidates.find(({ kind }) => kind === 'no_components');
  const loss = chosen.gainPerLearner.toFixed(DECIMALS);
  const rows = quotedNames(replaced.map(({ item }) => item));
  const found: Condition[] = [];
  const texts = (forms: readonly CarriedBlock['form'][]): string =>
    carried
      .filter(({ form }) => forms.includes(form))
      .map((block) => blockText(block, kcs))
      .join('; ');
  const ofBlocks = chosen.kind === 'blocks';
  const bound = ofBlocks ? dependenceOf(kcs.length, carried).required : (required ?? []);
  if (bound.some((bits) => bits > 0)) {
    const concerned = kcs.filter((_, k) =>
      bound.some((bits, l) => (l === k && bits > 0) || (bits >>> k) & 1),
    );
    const onBound = quotedNames(slopesOnBound.map((k) => kcs[k] ?? ''));
    const fewer = chosen.gainPerLearner < LEAST_GAIN ? (base?.parameters ?? 0) - chosen.parameters : 0;
    const hierarchy = ofBlocks ? texts(['hierarchy']) : chosen.detail;
    found.push(condition('prerequisites', concerned, { hierarchy, loss, fewer, onBound, rows, isCarried }));
  } else if (!ofBlocks && parts !== undefined) {
    const figures = {
      parts: chosen.detail,
      correlation: (correlation ?? 0).toFixed(2),
      loss,
      rows,
      isCarried,
    };
    found.push(condition('two_abilities', [], figures));
  } else if (!ofBlocks && chosen.kind !== 'independent') {
    const blocks = isCarried ? texts(['strand', 'saturated']) : '';
    found.push(condition('dependent_components', [], { loss, rows, blocks }));
  }
  const others = texts(['strand', 'saturated']);
  if (ofBlocks && others !== '')
    found.push(condition('dependent_components', [], { loss, rows, blocks: others }));
  for (const { hierarchy, bicGain, insisted } of notShown) {
    const gain = `${Math.abs(bicGain).toFixed(1)} ${bicGain > 0 ? 'lower' : 'higher'}`;
    const code = insisted ? 'prerequisites_insisted' : 'prerequisites_not_shown';
    found.push(condition(code, [], { hierarchy, gain, least: STRONG }));
  }
  // One KC is itself one ability in two levels: that a finer one fits better is no evidence against it.
  if (without !== undefined && kcs.length > 1) {
    const lower = chosen.bic - without.bic;
    const gain = without.gainPerLearner - chosen.gainPerLearner;
    if (lower >= STRONG && gain >= LEAST_GAIN) {
      const figures = { lower: lower.toFixed(0), gain: gain.toFixed(DECIMALS), rows };
      found.push(condition('no_components_shown', [], figures));
    }
  }
  return found;
}

/** Returns the condition of curves whose slope is on a bound. */
export function slopeConditions({ slopes }: Parameters, kcs: readonly string[]): Condition[] {
  const onBound = kcs.filter((_, k) => {
    const slope = slopes[k] ?? 1;
    return slope <= SLOPE_RANGE.min || slope >= SLOPE_RANGE.max;
  });
  return onBound.length === 0 ? [] : [condition('slope_on_bound', onBound, SLOPE_RANGE)];
}

/** Returns the condition of a study whose structure cannot be tested. */
export function untestedConditions(kcs: number): Condition[] {
  return kcs > MAXIMUM_TESTED_KCS
    ? [condition('structure_untested', [], { kcs, most: MAXIMUM_TESTED_KCS })]
    : [];
}

/** Returns the condition of scores that are too coarse, or whose largest reliability is undefined. */
export function coarseScores(ceiling: number | undefined): Condition[] {
  return (ceiling ?? 0) < INDIVIDUAL_RELIABILITY
    ? [condition('coarse_scores', [], { ceiling: ceiling === undefined ? undefined : figure(ceiling) })]
    : [];
}
