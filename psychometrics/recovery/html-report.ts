import * as Plot from '@observablehq/plot';
import { bars, colour, dots, line, type Point } from '#tools/page/plot.ts';
import { chart, type ChartText } from '#tools/page/charts.ts';
import { markup, table, type Markup } from '#tools/page/markup.ts';
import { htmlPage } from '../pages/page.ts';
import type { AimResult } from './aims.ts';
import type { Study } from './study.ts';
import {
  aimBounds,
  aimValue,
  coverageNote,
  curveCells,
  curveHead,
  curvesTitle,
  decimals,
  exposureCells,
  exposureHead,
  exposureTitle,
  interval,
  lengthRow,
  percent,
  ratioCells,
  ratioHead,
  ratioLegend,
  ratiosTitle,
  rowCells,
  rowHead,
  rowLegend,
  signed,
  sizeOf,
  wholeInterval,
} from './text-report.ts';

/** Renders the study as one self-contained page: no script, no font, no request. */
export function htmlReport(study: Study): string {
  return htmlPage({
    title: 'Recovery study',
    style,
    body: markup`<main>
<h1>Recovery study</h1>
<p>Simulated learners with known abilities took the adaptive test; this is how well it recovered them. ${sizeOf(study)}</p>
<h2>Aims</h2>
${study.reservations.map((line) => markup`<p class="reservation">${line}</p>`)}
${table(
  'Aims',
  ['aim', 'result', 'required', { text: 'verdict' }],
  study.aims.map((aim) => [aim.name, aimValue(aim), aimBounds(aim), verdictOf(aim)]),
)}
<h2>Assumptions</h2>
<ul>
${study.assumptions.map((line) => markup`<li>${line}</li>`)}
</ul>
<h2>Rows</h2>
${table('Rows', rowHead, study.rows.map(rowCells))}
<p>${rowLegend.join(' ')}</p>
<p>${coverageNote(study)}</p>
<h2>Test length by selection target</h2>
<p>${curvesTitle}.</p>
${table(curvesTitle, columnsOf(curveHead, [1]), curveCells(study))}
<p>${ratiosTitle}.</p>
${table(ratiosTitle, columnsOf(ratioHead, [1, 2]), ratioCells(study))}
<p>${ratioLegend.join(' ')}</p>
<h2>Exposure by ability</h2>
<p>${exposureTitle}.</p>
${table(exposureTitle, exposureHead, exposureCells(study))}
<h2>Charts</h2>
<p>The charts show the first row unless they state another.</p>
${[knownAndRecovered, errorByAbility, coverageByAbility, agreementByEvidence, reliability, testLengths].map((draw) => draw(study))}
</main>`,
  });
}

/** Returns the columns of a table, of which these hold words. */
function columnsOf(head: readonly string[], words: readonly number[]): Parameters<typeof table>[1] {
  return head.map((text, n) => (words.includes(n) ? { text } : text));
}

const met = markup`<span class="met">met</span>`;
const missed = markup`<span class="missed">missed</span>`;

function verdictOf(aim: AimResult): Markup {
  if (aim.met) return met;
  return aim.decides ? missed : markup`${missed}, without effect on the exit code`;
}

/** The page's additions to the common style sheet. Captions are for screen readers: the headings above the tables repeat them. */
const style = markup`
body { max-width: 76rem; } tbody th { min-width: 9rem; }
figure { margin: 0 0 2rem; display: grid; grid-template-columns: minmax(18rem, 33rem) minmax(16rem, 1fr); gap: 1rem 2rem; align-items: start; }
figcaption { grid-column: 1 / -1; font-weight: 600; }
figure .scroll { margin: 0; }
@media (max-width: 50rem) { figure { grid-template-columns: 1fr; } }
caption { position: absolute; width: 1px; height: 1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.met { color: var(--good); font-weight: 600; } .missed, .reservation { color: var(--bad); font-weight: 600; }
`;

/** Renders a chart with its figures. */
function figure(
  text: ChartText,
  options: Plot.PlotOptions,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): Markup {
  return markup`<figure>
<figcaption>${text.title}</figcaption>
<div>${chart(text, { height: 290, grid: true, ...options })}</div>
${table(`Figures: ${text.title}`, head, rows)}
</figure>`;
}

/** Abilities beyond this are rare: the charts leave out their points, but the figures include them. */
const ABILITY_SHOWN = 3.5;
const abilityDomain = [-ABILITY_SHOWN, ABILITY_SHOWN];
const abilityAxis: Plot.ScaleOptions = { label: 'known ability (SD)', domain: abilityDomain, ticks: 7 };

function isShown({ x, y }: Point): boolean {
  return Math.abs(x) <= ABILITY_SHOWN && Math.abs(y) <= ABILITY_SHOWN;
}

/** Draws the aim over the whole width. */
function aimLine(domain: readonly number[], valueAt: (x: number) => number): Plot.Markish {
  return line(
    domain.map((x) => ({ x, y: valueAt(x) })),
    'dashed',
    colour.two,
  );
}

function knownAndRecovered({ sample, rows }: Study): Markup {
  const figures = rows[0]?.figures;
  const points = sample.map(({ known, recovered }) => ({
    x: known,
    y: recovered,
    label: `known ${known.toFixed(2)}, recovered ${recovered.toFixed(2)}`,
  }));
  return figure(
    {
      id: 'recovered',
      title: `Known and recovered ability, ${sample.length} learners`,
      description: 'One dot per learner. On the dashed line, recovered equals known.',
      legend: [
        ['full', 'a learner'],
        ['dashed', 'recovered = known'],
      ],
    },
    {
      height: 400,
      x: abilityAxis,
      y: { ...abilityAxis, label: 'recovered ability (SD)' },
      marks: [dots(points.filter(isShown), 'small'), aimLine(abilityDomain, (x) => x)],
    },
    ['all learners', 'value'],
    figures === undefined
      ? []
      : [
          ['learners', String(figures.learners)],
          ['bias (SD)', signed(figures.bias)],
          ['RMSE (SD)', decimals(figures.rmse, 3)],
          ['correlation', decimals(figures.correlation, 3)],
        ],
  );
}

/** Returns the points of ability groups. Some groups have only one bound; they are drawn half a group away from it. */
function groupPoints(
  { byAbility }: Study,
  valueOf: (group: Study['byAbility'][number]) => number,
  text: (value: number) => string,
): readonly Point[] {
  const half = 0.25;
  return byAbility
    .filter(({ learners }) => learners > 0)
    .map((group) => {
      const { from, to } = group;
      const x = from === null ? (to ?? 0) - half : to === null ? from + half : (from + to) / 2;
      const y = valueOf(group);
      return { x, y, label: `${interval(from, to)}: ${text(y)}` };
    })
    .filter(({ x }) => Math.abs(x) <= ABILITY_SHOWN);
}

function errorByAbility(study: Study): Markup {
  const biases = groupPoints(study, (group) => group.bias, signed);
  const errors = groupPoints(
    study,
    (group) => group.rmse,
    (value) => decimals(value, 3),
  );
  const reach = outward(
    [...errors, ...biases].map(({ y }) => Math.abs(y)),
    0.2,
    0.6,
  );
  return figure(
    {
      id: 'error',
      title: 'Error of ability by known ability: RMSE and bias',
      description:
        'Scores are pulled towards the mean of the prior: bias is positive for low abilities and negative for high ones. The table also shows the weighted likelihood estimate (WLE), which does not use the prior.',
      legend: [
        ['full', 'RMSE'],
        ['hollow', 'bias'],
        ['dashed', 'no error'],
      ],
    },
    {
      x: abilityAxis,
      y: { label: 'SD', domain: [-reach, reach] },
      marks: [
        aimLine(abilityDomain, () => 0),
        line(errors, 'full'),
        dots(errors, 'large'),
        line(biases, 'full', colour.two),
        dots(biases, 'large', { fill: colour.paper, stroke: colour.two, strokeWidth: 2 }),
      ],
    },
    ['known', 'learners', 'bias', 'RMSE', 'WLE bias', 'WLE RMSE'],
    study.byAbility.map(({ from, to, learners, bias, rmse, weightedBias, weightedRmse }) => [
      interval(from, to),
      String(learners),
      signed(bias),
      decimals(rmse, 3),
      signed(weightedBias),
      decimals(weightedRmse, 3),
    ]),
  );
}

function coverageByAbility(study: Study): Markup {
  const points = groupPoints(study, (group) => group.coverage, percent);
  const low = 1 - outward(shortfalls(points), 0.1, 0.2);
  return figure(
    {
      id: 'coverage',
      title: 'Coverage of 95 % intervals by known ability',
      description:
        'The dashed line is 95 %, the band 92 to 98 %. Intervals cover the ability of about 95 % of all learners, but of fewer learners far from the mean.',
      legend: [
        ['full', 'covered'],
        ['dashed', '95 %'],
        ['band', '92 to 98 %'],
      ],
    },
    {
      x: abilityAxis,
      y: { label: 'share covered', domain: [low, 1] },
      marks: [
        Plot.rectY([0], { x1: -ABILITY_SHOWN, x2: ABILITY_SHOWN, y1: 0.92, y2: 0.98, fill: colour.band }),
        aimLine(abilityDomain, () => 0.95),
        line(points, 'full'),
        dots(points, 'large'),
      ],
    },
    ['known', 'learners', 'covered'],
    study.byAbility.map(({ from, to, learners, coverage }) => [
      interval(from, to),
      String(learners),
      percent(coverage),
    ]),
  );
}

function agreementByEvidence({ byEvidence, aims }: Study): Markup {
  const last = byEvidence.at(-1)?.items ?? 1;
  const points = byEvidence.map(({ items, count, agreement }) => ({
    x: items,
    y: agreement,
    label: `${items} items: ${decimals(agreement, 4)} of ${count}`,
  }));
  const aim = aims.find(({ name }) => name === 'KC agreement')?.least ?? 1;
  const low = 1 - outward([...shortfalls(points), 1 - aim], 0.02, 0.04);
  const domain = [-0.5, last + 0.5];
  return figure(
    {
      id: 'agreement',
      title: 'KC agreement by the number of items that measured the KC',
      description:
        'One dot per number of items, from zero. The dashed line is the aim for all learners and KCs together. The axis does not start at zero.',
      legend: [
        ['full', 'agreement'],
        ['dashed', 'aim'],
      ],
    },
    {
      x: { label: 'items on the KC', domain, ...wholeTicks(last) },
      y: { label: 'share that agree', domain: [low, 1], ticks: 5 },
      marks: [aimLine(domain, () => aim), line(points, 'full'), dots(points, 'large')],
    },
    ['items', 'learners × KCs', 'agree'],
    byEvidence.map(({ items, count, agreement }) => [String(items), String(count), decimals(agreement, 4)]),
  );
}

/** Returns how far points are below 1. */
function shortfalls(points: readonly Point[]): readonly number[] {
  return points.map(({ y }) => 1 - y);
}

/** Returns the smallest whole multiple of the step that is at least the minimum and not below any value. */
function outward(values: readonly number[], step: number, least: number): number {
  const highest = Math.max(least, ...values);
  return Number((step * Math.ceil(Number((highest / step).toFixed(9)))).toFixed(9));
}

/** Bins with fewer posteriors are uncertain: their dots are small. */
const FEW = 30;

function reliability({ calibration, calibrationError }: Study): Markup {
  const points = (isFew: boolean): readonly Point[] =>
    calibration
      .filter(({ count }) => count > 0 && count < FEW === isFew)
      .map(({ claimed, observed, count }) => ({
        x: claimed,
        y: observed,
        label: `predicted ${decimals(claimed, 3)}, observed ${decimals(observed, 3)}, ${count} times`,
      }));
  return figure(
    {
      id: 'reliability',
      title: `Posterior probability of mastery, predicted and observed (expected calibration error ${percent(calibrationError)})`,
      description: `Posteriors in ten bins: the share of learners who had mastered the KC against the mean posterior. Small dots are bins with fewer than ${FEW} posteriors. On the dashed line the two are equal.`,
      legend: [
        ['full', 'a bin of posteriors'],
        ['dashed', 'observed = predicted'],
      ],
    },
    {
      height: 400,
      x: { label: 'posterior', domain: [0, 1], ticks: 5 },
      y: { label: 'share that had mastered', domain: [0, 1], ticks: 5 },
      marks: [aimLine([0, 1], (x) => x), dots(points(true), 'small'), dots(points(false), 'large')],
    },
    ['posterior', 'learners × KCs', 'predicted', 'observed'],
    calibration.map(({ from, to, count, claimed, observed }) => [
      `${decimals(from, 1)} to ${decimals(to, 1)}`,
      String(count),
      decimals(claimed, 3),
      decimals(observed, 3),
    ]),
  );
}

function testLengths(study: Study): Markup {
  const { lengths } = study;
  const first = lengths[0]?.from ?? 0;
  const last = lengths.at(-1)?.to ?? 1;
  const width = (lengths[0]?.to ?? 0) - first + 1;
  return figure(
    {
      id: 'lengths',
      title: `Items until all KCs were classified (${lengthRow(study)})`,
      description: `Learners by the number of items that they were given, from ${first} to ${last}.`,
      legend: [['bar', 'learners']],
    },
    {
      x: {
        label: 'items',
        domain: [first - 0.5, first - 0.5 + width * lengths.length],
        grid: false,
        ...wholeTicks(last - first),
      },
      y: { label: 'learners', ...wholeTicks(Math.max(1, ...lengths.map(({ learners }) => learners)), 5) },
      marks: [
        bars(
          lengths.map(({ from, to, learners }) => ({
            // The last group may be cut short.
            x: from + (width - 1) / 2,
            y: learners,
            width: 0.9 * width,
            label: `${wholeInterval(from, to)} items: ${learners} learners`,
          })),
        ),
        Plot.ruleY([0], { stroke: colour.soft }),
      ],
    },
    ['items', 'learners'],
    lengths.map(({ from, to, learners }) => [wholeInterval(from, to), String(learners)]),
  );
}

/** Returns about ten ticks, only at whole numbers. */
function wholeTicks(span: number, most = 10): Plot.ScaleOptions {
  return { ticks: Math.max(1, Math.min(most, span)), tickFormat: 'd' };
}
