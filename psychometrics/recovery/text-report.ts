import type { Paint } from '#tools/terminal/paint.ts';
import type { AimResult } from './aims.ts';
import { chains, CLASSIFICATION_CONFIDENCE } from './conditions.ts';
import type { Ratio } from './equal-correctness.ts';
import { STATED_CONFIDENCE } from './sit.ts';
import type { Row, Study } from './study.ts';

/** The characters of a bar at its full length. */
const BAR = 40;

/** Renders the whole study for a terminal. */
export function textReport(study: Study, paint: Paint): string {
  return [
    sizeOf(study),
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
    curvesTitle,
    table(curveHead, curveCells(study), [1]),
    '',
    ratiosTitle,
    table(ratioHead, ratioCells(study), [1, 2]),
    '',
    ...ratioLegend,
    '',
    exposureTitle,
    table(exposureHead, exposureCells(study)),
    '',
    'Error of ability by known ability (SD of the prior). WLE: weighted likelihood estimate, which does not use the prior of ability',
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
    'KC agreement by the number of items that measured the KC',
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
    `Posterior probabilities were calibrated to within ${percent(study.calibrationError)} on average (expected calibration error)`,
    table(
      ['posterior', 'learners × KCs', 'predicted', 'observed', ''],
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
  'bias SE',
  'RMSE',
  'covered',
  'agree',
  'classified',
  'correct',
  'pool',
  'exposed',
  'overlap',
  'idle',
  'unusual',
] as const;

/** Returns how many simulated learners there are. */
export function sizeOf({ settings }: Study): string {
  return `${settings.worlds} ${settings.worlds === 1 ? 'world' : 'worlds'} (seed ${settings.seed}) with ${settings.learners} simulated learners each. Rows that only compare use a third of them.`;
}

/** The meaning of the rows' columns. */
export const rowLegend = [
  'bias, RMSE: of the scale score minus the known ability, in SD of the prior; bias SE: the standard error of the bias.',
  'covered: learners whose ability is within 1.96 standard errors of the score. agree: learners × KCs whose posterior is on the true side of 0.5.',
  `classified: learners × KCs classified as mastered or gap at ${STATED_CONFIDENCE}; correct: the share of those that is right. pool: items given at least once;`,
  'exposed: the largest share of learners given the same item; overlap: the share of a test that two learners have in common.',
  'idle: items given after every KC in scope had reached the confidence. unsettled first: selectionTarget unsettled_components;',
  'unsettled and unmeasured first: selectionTarget unsettled_and_unmeasured; look-ahead: settling_look_ahead.',
  'unusual: learners whose answers contradict each other, which a limitation of the score states; about 1 % where the engine knows how learners answer.',
] as const;

/** Returns the note that the coverage of intervals depends on an assumption that prerequisites violate. */
export function coverageNote({ rows, settings }: Study): string {
  const figures = rows.flatMap((row) => (row.group === 'chains' ? [row.figures] : []));
  const covered = chains(settings.kcs).map(
    ({ name }, n) => `${percent(figures[n]?.coverage ?? NaN)} in ${name}`,
  );
  return `Without blocks, 95 % intervals assume that KCs are independent given ability. Where a KC can only be mastered after the one before it, they cover too few abilities: ${covered.join(', ')}.`;
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
    percent(figures.unusual),
  ];
}

export const curvesTitle = 'Tests that stop when all KCs are classified, by what their items are chosen for';

export const curveHead = ['bank', 'chosen for', 'confidence', 'items', 'mean posterior', 'right'] as const;

export function curveCells({ curves }: Study): readonly (readonly string[])[] {
  return curves.flatMap(({ bank, target, points }) =>
    points.map(({ threshold, items, quality, right }) => [
      bank,
      target,
      String(threshold),
      decimals(items, 2),
      decimals(quality, 4),
      decimals(right, 4),
    ]),
  );
}

export const ratiosTitle = `Their length, divided by that of tests chosen for something else at confidence ${CLASSIFICATION_CONFIDENCE}`;

export const ratioHead = [
  'bank',
  'chosen for',
  'divided by',
  'equal threshold',
  '95 % interval',
  'equal correctness',
  '95 % interval',
  'right',
  'right of the other',
] as const;

export function ratioCells({ curves }: Study): readonly (readonly string[])[] {
  return curves.flatMap(({ bank, target, comparisons }) =>
    comparisons.map(({ reference, atEqualThreshold, atEqualCorrectness, right }) => [
      bank,
      target,
      reference,
      ...ratio(atEqualThreshold),
      ...ratio(atEqualCorrectness),
      ...(right ?? [NaN, NaN]).map((share) => decimals(share, 4)),
    ]),
  );
}

function ratio(found: Ratio | null): readonly [value: string, interval: string] {
  if (found === null) return [decimals(NaN, 3), decimals(NaN, 3)];
  const [low, high] = found.interval ?? [NaN, NaN];
  return [
    decimals(found.value, 3),
    found.interval === null ? decimals(NaN, 3) : `${decimals(low, 3)} to ${decimals(high, 3)}`,
  ];
}

/** The meaning of the two tables of targets. */
export const ratioLegend = [
  'mean posterior: over all learners × KCs in scope, of the side of 0.5 that it is on; the model’s own account of the share that is right.',
  'equal correctness: at the confidence with which the tests have the mean posterior of the others; right: the observed shares there.',
  '–: confidence makes no difference to the mean posterior there, or it does not go so far. 95 % intervals are from resampled worlds.',
] as const;

export const exposureTitle = 'The largest share of learners given the same item, by fifth of known ability';

export const exposureHead = [
  'row',
  'all',
  'lowest fifth',
  'second',
  'third',
  'fourth',
  'highest fifth',
] as const;

/** Returns the exposure of the first row and of those with exposure control. */
export function exposureCells({ rows }: Study): readonly (readonly string[])[] {
  return rows
    .filter(({ group }) => group === 'reference' || group === 'exposure')
    .map(({ name, figures }) => [name, ...[figures.mostExposed, ...figures.mostExposedByFifth].map(percent)]);
}

/** Returns one line per aim. */
function aimLine(aim: AimResult, paint: Paint): string {
  const word = aim.met ? paint('green', 'met   ') : paint('red', 'missed');
  const effect = aim.met || aim.decides ? '' : ' (does not affect the exit code)';
  return `${word}  ${aim.name.padEnd(48)}  ${aimValue(aim).padStart(9)}  aim: ${aimBounds(aim)}${effect}`;
}

export function aimValue({ unit, value, least }: AimResult): string {
  switch (unit) {
    case 'share':
      return decimals(value, 4);
    case 'SD':
      return `${least === null ? decimals(value, 3) : signed(value)} SD`;
    case 'difference':
      return exponent(value);
  }
}

export function aimBounds({ unit, least, most }: AimResult): string {
  const show = (bound: number): string =>
    unit === 'difference' ? exponent(bound) : String(Number(bound.toPrecision(6)));
  if (least === null) return most === null ? '' : `at most ${show(most)}`;
  return most === null ? `at least ${show(least)}` : `${show(least)} to ${show(most)}`;
}

/** Returns the row with the test lengths. */
export function lengthRow({ rows }: Study): string {
  return rows.find(({ group }) => group === 'stop')?.name ?? '';
}

export function interval(from: number | null, to: number | null): string {
  if (from === null) return `below ${to ?? ''}`;
  return to === null ? `from ${from}` : `${from} to ${to}`;
}

/** Formats an interval of whole numbers that includes both bounds. */
export function wholeInterval(from: number, to: number): string {
  return from === to ? String(from) : `${from} to ${to}`;
}

export function percent(share: number): string {
  return Number.isNaN(share) ? '–' : `${(100 * share).toFixed(1)} %`;
}

/** Formats a value with its sign, so that a column of biases is easy to read. */
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

/** Returns a bar for a share; empty if there is none. */
function bar(share: number): string {
  return share > 0 ? '█'.repeat(Math.max(1, Math.round(BAR * share))) : '';
}

/** Formats rows under a head: the first column and the named ones aligned to the left, the others to the right. */
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
