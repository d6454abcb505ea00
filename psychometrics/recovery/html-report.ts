import { markup, table } from '../pages/markup.ts';
import type { Markup } from '../pages/markup.ts';
import { htmlPage } from '../pages/page.ts';
import { svg, ticks } from './chart.ts';
import type { Chart, Mark, Point } from './chart.ts';
import type { Study } from './study.ts';
import {
  aimBounds,
  aimValue,
  decimals,
  interval,
  lengthRow,
  percent,
  rowCells,
  rowHead,
  rowLegend,
  signed,
  wholeInterval,
} from './text-report.ts';

/** The study as one page that needs nothing else: no script, no font, no request. */
export function htmlReport(study: Study): string {
  const { settings } = study;
  return htmlPage({
    title: 'Recovery study',
    style,
    body: markup`<main>
<h1>Recovery study</h1>
<p>Learners who are known entirely take the test of the mastery engine; here is what it made of them.
${settings.worlds} worlds of seed ${settings.seed}, ${settings.learners} learners in each; the rows below the first take a third of them.</p>
<h2>Aims</h2>
${study.reservations.map((line) => markup`<p class="reservation">${line}</p>`)}
${table(
  'Aims',
  ['aim', 'seen', 'asked', { text: '' }],
  study.aims.map((aim) => [aim.name, aimValue(aim), aimBounds(aim), aim.met ? met : missed]),
)}
<h2>What is assumed</h2>
<ul>
${study.assumptions.map((line) => markup`<li>${line}</li>`)}
</ul>
<h2>Rows</h2>
${table('Rows', rowHead, study.rows.map(rowCells))}
<p>${rowLegend.join(' ')}</p>
<h2>Pictures</h2>
<p>Of the first row, unless told otherwise.</p>
${[knownAndRecovered, errorByAbility, coverageByAbility, agreementByEvidence, reliability, testLengths].map((draw) => draw(study))}
</main>`,
  });
}

const met = markup`<span class="met">met</span>`;
const missed = markup`<span class="missed">missed</span>`;

/** What the page adds to the common style sheet. Captions are for the ear: to the eye, the headings above the tables say the same. */
const style = markup`
:root { --band: #dcebdc; }
@media (prefers-color-scheme: dark) { :root { --band: #1f3527; } }
body { max-width: 76rem; } tbody th { min-width: 9rem; }
figure { margin: 0 0 2rem; display: grid; grid-template-columns: minmax(18rem, 36rem) minmax(16rem, 1fr); gap: 1rem 2rem; align-items: start; }
figcaption { grid-column: 1 / -1; font-weight: 600; }
figure svg, figure .scroll { margin: 0; }
@media (max-width: 50rem) { figure { grid-template-columns: 1fr; } }
caption { position: absolute; width: 1px; height: 1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
svg .axis { stroke: var(--soft); } svg .band { fill: var(--band); } svg .bar { fill: var(--one); }
polyline { fill: none; stroke-width: 2; } svg .aim { stroke: var(--good); stroke-dasharray: 6 4; } svg .seen { stroke: var(--one); }
svg .small { fill: var(--one); fill-opacity: .45; } svg .large { fill: var(--one); }
.met { color: var(--good); font-weight: 600; } .missed, .reservation { color: var(--bad); font-weight: 600; }
`;

/** A picture with its figures beside it. */
function figure(chart: Chart, head: readonly string[], rows: readonly (readonly string[])[]): Markup {
  return markup`<figure>
<figcaption>${chart.title}</figcaption>
${svg(chart)}
${table(`Figures: ${chart.title}`, head, rows)}
</figure>`;
}

/** Abilities beyond this are rare: their points are left out of pictures, not of figures. */
const ABILITY_SHOWN = 3.5;
const abilityAxis = {
  title: 'known ability (SD)',
  from: -ABILITY_SHOWN,
  to: ABILITY_SHOWN,
  ticks: ticks(-3, 3, 1, 0),
};

function knownAndRecovered({ sample, rows }: Study): Markup {
  const figures = rows[0]?.figures;
  return figure(
    {
      id: 'recovered',
      title: `Known and recovered ability, ${sample.length} learners`,
      description: 'One dot a learner; the dashed line is where recovered equals known.',
      x: abilityAxis,
      y: { ...abilityAxis, title: 'recovered ability (SD)' },
      marks: [
        {
          kind: 'dots',
          size: 'small',
          points: sample.map(({ known, recovered }) => ({
            x: known,
            y: recovered,
            label: `known ${known.toFixed(2)}, recovered ${recovered.toFixed(2)}`,
          })),
        },
        {
          kind: 'line',
          style: 'aim',
          points: [-ABILITY_SHOWN, ABILITY_SHOWN].map((value) => ({ x: value, y: value })),
        },
      ],
    },
    ['all learners', ''],
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

/** Ability groups have one end at most; that one is drawn half a group away. */
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
    });
}

function errorByAbility(study: Study): Markup {
  const biases = groupPoints(study, (group) => group.bias, signed);
  const errors = groupPoints(
    study,
    (group) => group.rmse,
    (value) => decimals(value, 3),
  );
  const reach = outward(errors, 0.2, 0.6);
  return figure(
    {
      id: 'error',
      title: 'Error of ability by known ability: RMSE (upper line) and bias (lower line)',
      description:
        'Scores lean towards the mean of the prior: bias is above zero for low abilities and below zero for high ones.',
      x: abilityAxis,
      y: { title: 'SD', from: -reach, to: reach, ticks: ticks(-reach, reach, 0.2, 1) },
      marks: [
        { kind: 'dots', size: 'large', points: errors },
        { kind: 'line', style: 'seen', points: errors },
        { kind: 'line', style: 'aim', points: [-ABILITY_SHOWN, ABILITY_SHOWN].map((x) => ({ x, y: 0 })) },
        { kind: 'dots', size: 'small', points: biases },
        { kind: 'line', style: 'seen', points: biases },
      ],
    },
    ['known', 'learners', 'bias', 'RMSE'],
    study.byAbility.map(({ from, to, learners, bias, rmse }) => [
      interval(from, to),
      String(learners),
      signed(bias),
      decimals(rmse, 3),
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
        'The dashed line is 95 %, the band 92 to 98 %. Intervals hold the ability of 95 % of all learners; of those far from the mean they hold fewer.',
      x: abilityAxis,
      y: { title: 'covered', from: low, to: 1, ticks: ticks(low, 1, 0.1, 1) },
      marks: [
        { kind: 'band', from: 0.92, to: 0.98 },
        { kind: 'line', style: 'aim', points: [-ABILITY_SHOWN, ABILITY_SHOWN].map((x) => ({ x, y: 0.95 })) },
        { kind: 'line', style: 'seen', points },
        { kind: 'dots', size: 'large', points },
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
  const low = 1 - outward(shortfalls(points), 0.02, 0.04);
  const aim = aims.find(({ name }) => name === 'KC agreement')?.least ?? 1;
  return figure(
    {
      id: 'agreement',
      title: 'KC agreement by how many items measured the KC',
      description:
        'One dot for each number of items, from none on; the dashed line is the aim for all together. The axis does not begin at zero.',
      x: { title: 'items on the KC', from: -0.5, to: last + 0.5, ticks: wholeTicks(0, last) },
      y: { title: 'agree', from: low, to: 1, ticks: ticks(low, 1, Math.max(0.02, (1 - low) / 5), 2) },
      marks: [
        { kind: 'line', style: 'aim', points: [-0.5, last + 0.5].map((x) => ({ x, y: aim })) },
        { kind: 'line', style: 'seen', points },
        { kind: 'dots', size: 'large', points },
      ],
    },
    ['items', 'learners × KCs', 'agree'],
    byEvidence.map(({ items, count, agreement }) => [String(items), String(count), decimals(agreement, 4)]),
  );
}

/** How far points are below 1. */
function shortfalls(points: readonly Point[]): readonly Point[] {
  return points.map((point) => ({ ...point, y: 1 - point.y }));
}

/** The smallest whole multiple of the step that no point is above, and not below the least. */
function outward(points: readonly Point[], step: number, least: number): number {
  const highest = points.reduce((a, { y }) => Math.max(a, y), least);
  return Number((step * Math.ceil(Number((highest / step).toFixed(9)))).toFixed(9));
}

/** A share of fewer claims than this says little: its dot is small. */
const FEW_CLAIMS = 30;

function reliability({ calibration, calibrationError }: Study): Markup {
  const dots = (size: 'small' | 'large'): Mark => ({
    kind: 'dots',
    size,
    points: calibration
      .filter(({ count }) => count > 0 && count < FEW_CLAIMS === (size === 'small'))
      .map(({ claimed, observed, count }) => ({
        x: claimed,
        y: observed,
        label: `claimed ${decimals(claimed, 3)}, observed ${decimals(observed, 3)}, ${count} times`,
      })),
  });
  return figure(
    {
      id: 'reliability',
      title: `Posteriors of mastery, claimed and observed (expected calibration error ${percent(calibrationError)})`,
      description: `Posteriors in ten bins: the share of learners who had the KC against the mean posterior; small dots stand for fewer than ${FEW_CLAIMS}. The dashed line is where the two are equal.`,
      x: { title: 'posterior', from: 0, to: 1, ticks: ticks(0, 1, 0.2, 1) },
      y: { title: 'share that had mastered', from: 0, to: 1, ticks: ticks(0, 1, 0.2, 1) },
      marks: [
        { kind: 'line', style: 'aim', points: [0, 1].map((value) => ({ x: value, y: value })) },
        dots('small'),
        dots('large'),
      ],
    },
    ['posterior', 'learners × KCs', 'claimed', 'observed'],
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
  const most = lengths.reduce((highest, { learners }) => Math.max(highest, learners), 1);
  const step = Math.ceil(most / 5);
  return figure(
    {
      id: 'lengths',
      title: `Items until all KCs were classified (${lengthRow(study)})`,
      description: `Learners by the number of items they were given, from ${first} to ${last}.`,
      x: {
        title: 'items',
        from: first - 0.5,
        to: first - 0.5 + width * lengths.length,
        ticks: wholeTicks(first, last),
      },
      y: { title: 'learners', from: 0, to: 5 * step, ticks: ticks(0, 5 * step, step, 0) },
      marks: [
        {
          kind: 'bars',
          width: 0.9 * width,
          points: lengths.map(({ from, to, learners }) => ({
            // The last group may be cut short.
            x: from + (width - 1) / 2,
            y: learners,
            label: `${wholeInterval(from, to)} items: ${learners} learners`,
          })),
        },
      ],
    },
    ['items', 'learners'],
    lengths.map(({ from, to, learners }) => [wholeInterval(from, to), String(learners)]),
  );
}

/** At most ten marks at whole numbers. */
function wholeTicks(from: number, to: number): Chart['x']['ticks'] {
  const step = Math.max(1, Math.ceil((to - from) / 10));
  return ticks(from, from + step * Math.floor((to - from) / step), step, 0);
}
