import type { Paint } from '#tools/terminal/paint.ts';
import type { Judged } from './aims.ts';
import { chains } from './conditions.ts';
import { STATED_CONFIDENCE } from './sit.ts';
import type { Row, Study } from './study.ts';

/** The characters of a bar at its full length. */
const BAR = 40;

/** Everything that the study found, for a terminal. */
export function textReport(study: Study, paint: Paint): string {
  const { settings } = study;
  return [
    `${settings.worlds} worlds of seed ${settings.seed}, ${settings.learners} learners in each; the rows below the first take a third of them.`,
    '',
    ...study.assumptions.map((line) => `- ${line}`),
    '',
    table(
      rowHead,
      study.rows.map((row) => rowCells(row)),
    ),
    '',
    ...rowLegend,
    '',
    coverageNote(study),
    '',
    'Ability by known ability (SD of the prior); WLE: weighted likelihood estimate, without the prior of ability',
    table(
      ['known', 'learners', 'bias', 'RMSE', 'covered', 'WLE bias', 'WLE RMSE', '', 'RMSE'],
      study.byAbility.map((group) => [
        interval(group.from, group.to),
        String(group.learners),
        signed(group.bias),
        decimals(group.rmse, 3),
        percent(group.coverage),
        signed(group.weightedBias),
        decimals(group.weightedRmse, 3),
        '',
        bar(group.rmse / highest(study.byAbility.map(({ rmse }) => rmse))),
      ]),
      [8],
    ),
    '',
    'KC agreement by how many items measured the KC',
    table(
      ['items', 'learners × KCs', 'agree', 'disagree'],
      study.byEvidence.map(({ items, count, agreement }) => [
        String(items),
        String(count),
        decimals(agreement, 4),
        bar((1 - agreement) / highest(study.byEvidence.map((group) => 1 - group.agreement))),
      ]),
      [3],
    ),
    '',
    `Posteriors kept their word to ${percent(study.calibrationError)} on average (expected calibration error)`,
    table(
      ['posterior', 'learners × KCs', 'claimed', 'observed', ''],
      study.calibration.map(({ from, to, count, claimed, observed }) => [
        `${decimals(from, 1)} to ${decimals(to, 1)}`,
        String(count),
        decimals(claimed, 3),
        decimals(observed, 3),
        bar(observed),
      ]),
      [4],
    ),
    '',
    `Items until all KCs were classified (${lengthRow(study)})`,
    table(
      ['items', 'learners', ''],
      study.lengths.map(({ from, to, learners }) => [
        wholeInterval(from, to),
        String(learners),
        bar(learners / highest(study.lengths.map((count) => count.learners))),
      ]),
      [2],
    ),
    '',
    ...study.reservations.map((line) => paint('yellow', line)),
    ...study.aims.map((aim) => aimLine(aim, paint)),
  ].join('\n');
}

export const rowHead = [
  'row',
  'learners',
  'length',
  'bias',
  'chance',
  'RMSE',
  'covered',
  'agree',
  'classified',
  'of these',
  'pool',
  'exposed',
  'overlap',
  'idle',
] as const;

/** What the columns of the rows mean. */
export const rowLegend = [
  'bias, RMSE: scale score less known ability, in SD of the prior; chance: one standard error of the bias.',
  'covered: ability within 1.96 standard errors of the score. agree: posterior of a KC on the learner’s side of 0.5, all KCs counted.',
  `classified: KCs mastered or gap at ${STATED_CONFIDENCE}; of these: the share that is right. pool: items that anybody was given; exposed: the largest`,
  'share of learners that was given one item; overlap: the share of a test that two learners have in common.',
  'idle: items after the posterior of every KC in scope was confident. unsettled first: selectionTarget unsettled_components.',
] as const;

/** What a reader of intervals must know: their coverage counts on an assumption that prerequisites break. */
export function coverageNote({ rows, settings }: Study): string {
  const figures = rows.flatMap((row) => (row.group === 'chains' ? [row.figures] : []));
  const covered = chains(settings.kcs).map(
    ({ name }, n) => `${percent(figures[n]?.coverage ?? NaN)} in ${name}`,
  );
  return `95 % intervals count on KCs that are independent given ability. Where a KC can only be mastered after the one before it, they cover too few: ${covered.join(', ')}.`;
}

export function rowCells({ name, figures }: Row): readonly string[] {
  return [
    name,
    String(figures.learners),
    decimals(figures.meanLength, 1),
    signed(figures.bias),
    decimals(figures.biasError, 3),
    decimals(figures.rmse, 3),
    percent(figures.coverage),
    decimals(figures.agreement, 4),
    percent(figures.classified),
    decimals(figures.classifiedAgreement, 4),
    percent(figures.poolUsed),
    percent(figures.mostExposed),
    percent(figures.overlap),
    decimals(figures.idle, 1),
  ];
}

/** One aim in one line. */
function aimLine(aim: Judged, paint: Paint): string {
  const word = aim.met ? paint('green', 'met   ') : paint('red', 'missed');
  return `${word}  ${aim.name.padEnd(30)}  ${aimValue(aim).padStart(9)}  aim: ${aimBounds(aim)}`;
}

export function aimValue({ unit, value, least }: Judged): string {
  switch (unit) {
    case 'share':
      return decimals(value, 4);
    case 'SD':
      return `${least === null ? decimals(value, 3) : signed(value)} SD`;
    case 'difference':
      return exponent(value);
  }
}

export function aimBounds({ unit, least, most }: Judged): string {
  const show = (bound: number): string =>
    unit === 'difference' ? exponent(bound) : String(Number(bound.toPrecision(6)));
  if (least === null) return most === null ? '' : `at most ${show(most)}`;
  return most === null ? `at least ${show(least)}` : `${show(least)} to ${show(most)}`;
}

/** The row that the test lengths are of. */
export function lengthRow({ rows }: Study): string {
  return rows.find(({ group }) => group === 'stop')?.name ?? '';
}

export function interval(from: number | null, to: number | null): string {
  if (from === null) return `below ${to ?? ''}`;
  return to === null ? `from ${from}` : `${from} to ${to}`;
}

/** Whole numbers from one to another, both included. */
export function wholeInterval(from: number, to: number): string {
  return from === to ? String(from) : `${from} to ${to}`;
}

export function percent(share: number): string {
  return Number.isNaN(share) ? '–' : `${(100 * share).toFixed(1)} %`;
}

/** With its sign, so that a column of biases can be read at a glance. */
export function signed(value: number): string {
  return value >= 0 ? `+${value.toFixed(3)}` : decimals(value, 3);
}

export function decimals(value: number, digits: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(digits);
}

function exponent(value: number): string {
  return value.toExponential(1);
}

function highest(values: readonly number[]): number {
  return values.reduce((a, b) => (b > a ? b : a), 0);
}

/** A bar for a share; nothing where there is none. */
function bar(share: number): string {
  return share > 0 ? '█'.repeat(Math.max(1, Math.round(BAR * share))) : '';
}

/** Rows under a head: the first column and those named to the left, the others to the right. */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  left: readonly number[] = [],
): string {
  const widths = head.map((cell, n) =>
    rows.reduce((width, row) => Math.max(width, (row[n] ?? '').length), cell.length),
  );
  return [head, ...rows]
    .map((row) =>
      widths
        .map((width, n) =>
          n === 0 || left.includes(n) ? (row[n] ?? '').padEnd(width) : (row[n] ?? '').padStart(width),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
