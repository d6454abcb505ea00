import { markup, table, type Markup } from '#tools/page/markup.ts';
import { INDIVIDUAL_RELIABILITY } from '#shared/records/records.ts';
import type { Calibration } from '../calibrate.ts';
import type { StructureTest } from '../structure/structure-test.ts';
import { blockText } from '../structure/carried.ts';
import { LEAST_GAIN, STRONG, costed, type Candidate, type StructureKind } from '../structure/candidates.ts';
import { figure, pValue } from './figures.ts';

const names: Readonly<Record<StructureKind, string>> = {
  independent: 'independent given ability',
  hierarchy: 'prerequisites',
  given_hierarchy: 'given prerequisites',
  two_abilities: 'two abilities',
  all_pairs: 'all pairs of components',
  saturated: 'one probability per pattern',
  blocks: 'blocks',
  no_components: 'no components (2PL)',
};

function nameOf({ kind, detail }: Candidate): string {
  return detail === '' ? names[kind] : `${names[kind]}: ${detail}`;
}

/** Returns the blocks that a calibration carries, each with its support. */
function carriedText({ carried }: StructureTest, { kcs }: Calibration['study']): string {
  return carried
    .map((block) => {
      const side = block.bicGain < 0 ? 'higher' : 'lower';
      return `${blockText(block, kcs)} (BIC ${figure(Math.abs(block.bicGain), 1)} ${side} than independent)`;
    })
    .join('; ');
}

/** Returns the result of the test of structure in one line. */
export function structureLine({ structure, study }: Calibration): string {
  if (typeof structure === 'string') return `structure ${structure}`;
  const { chosen, candidates, bootstrap, carried } = structure;
  const byBic = candidates.filter((one) => one !== chosen).toSorted((a, b) => costed(a) - costed(b));
  // The nearest one, and those that the reader asks for.
  const nearest = byBic.find(({ kind }) => kind !== 'no_components');
  const named = byBic.filter(
    (one) => one === nearest || one.kind === 'no_components' || one.kind === 'given_hierarchy',
  );
  const others = named.map((one) => `${figure(costed(one), 1)} (${nameOf(one)})`).join(', ');
  const p = bootstrap === undefined ? '' : `; bootstrap p ${pValue(bootstrap.p)}`;
  return `structure: ${nameOf(chosen)}, BIC ${figure(costed(chosen), 1)} against ${others}; at least ${STRONG} lower is evidence${p}${
    carried.length === 0 ? '' : `; the calibration carries ${carriedText(structure, study)}`
  }`;
}

/** Returns the reliability of ability with its largest value in one line. */
export function reliabilityLine({
  abilities,
  structure,
  reliabilityCeiling: ceiling,
}: Pick<Calibration, 'reliabilityCeiling'> & {
  readonly structure:
    | string
    | (Pick<StructureTest, 'isCarried'> & { readonly chosen: Pick<Candidate, 'kind'> });
  readonly abilities: { readonly theta: Pick<Calibration['abilities']['theta'], 'reliability'> };
}): string {
  const reliability = `reliability of theta ${abilities.theta.reliability.toFixed(3)}`;
  const marked = 'scores are marked as too coarse for an individual';
  if (ceiling === undefined)
    return `${reliability} as calibrated; the structure shown has no single ability, so the reliability of one score cannot be stated: ${marked}`;
  // Reliability is that of the calibration: under another structure its ceiling may be below it.
  const isOther =
    typeof structure !== 'string' && structure.chosen.kind !== 'independent' && !structure.isCarried;
  const [by, under] = isOther
    ? [' as calibrated', ', by the lower one of calibration and structure shown']
    : ['', ''];
  return `${reliability}${by}, at most ${ceiling.toFixed(3)} on any test of these knowledge components${under}${
    ceiling < INDIVIDUAL_RELIABILITY ? `: below ${INDIVIDUAL_RELIABILITY.toFixed(2)}, ${marked}` : ''
  }`;
}

/** Renders the comparison of structures. */
export function structureSection({ structure, abilities, study }: Calibration): (Markup | undefined)[] {
  if (typeof structure === 'string') return [markup`<p>The structure is ${structure}.</p>`];
  const { rows, candidates, chosen, slopesOnBound, reliabilityCeiling, bootstrap, isCarried } = structure;
  return [
    markup`<p>${structure.carried.length === 0 ? 'The calibration assumes that KCs are independent given one ability.' : 'KCs that are independent given one ability are compared with other structures.'} These models of the same answers have the same item parameters, except the last, which has a slope and a location per item and no KCs. All are fitted without priors. The answers show <b>${nameOf(chosen)}</b>. Another structure is shown if its BIC, with the cost of a search where the answers proposed it, is at least ${STRONG} lower than that of independent KCs, and if each learner gains at least ${LEAST_GAIN} of log-likelihood where it has more parameters.</p>`,
    rows.length === 0
      ? undefined
      : markup`<p>The answers contradict some rows of the Q-matrix. The structure is tested with other rows in their place: ${rows.map(({ item, kcs }) => `${item} needs ${kcs.join(', ')}`).join('; ')}.</p>`,
    table(
      'Structures, the lowest BIC with the cost of the search first',
      [
        { text: 'structure' },
        'log-likelihood',
        'parameters',
        'BIC',
        'cost of the search',
        'gain per learner',
      ],
      candidates
        .toSorted((a, b) => costed(a) - costed(b))
        .map((one) => [
          one.converged ? nameOf(one) : `${nameOf(one)} (stopped before its end)`,
          figure(one.logLikelihood, 2),
          String(one.parameters),
          figure(one.bic, 1),
          figure(one.searchCost, 1),
          figure(one.gainPerLearner, 4),
        ]),
    ),
    structure.carried.length === 0
      ? undefined
      : markup`<p>The calibration carries ${carriedText(structure, study)}. A curve of a KC with prerequisites is that of the learners who have them; KCs with a weight per pattern have none.</p>`,
    slopesOnBound.length === 0
      ? undefined
      : markup`<p>Without priors, the curves of ${slopesOnBound.map((k) => study.kcs[k] ?? '').join(', ')} have their slope on a bound, as prerequisites may cause it.</p>`,
    markup`<p>Largest reliability of θ on any test of these KCs: ${figure(abilities.theta.reliabilityCeiling)} as calibrated${
      chosen.kind === 'independent' || isCarried
        ? ''
        : reliabilityCeiling === undefined
          ? '; under the structure shown, which has no single ability, the reliability of one score cannot be stated'
          : `; ${figure(reliabilityCeiling)} under the structure shown, without priors`
    }.</p>`,
    bootstrap === undefined
      ? markup`<p>A p value needs <code>--bootstrap 99</code>: likelihood ratios of these models do not follow χ².</p>`
      : markup`<p>In ${bootstrap.draws} studies drawn from independent KCs and searched in the same way, the best alternative did as well with p ${pValue(bootstrap.p)}.</p>`,
  ];
}
