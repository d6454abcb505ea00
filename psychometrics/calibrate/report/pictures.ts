/** The charts of the report. None relies only on colour: shapes, dashes, outlines and the tables next to them carry the same information. */
import * as Plot from '@observablehq/plot';
import { CHART_WIDTH, bars, brief, colour, dots, line, names, type Point } from '#tools/page/plot.ts';
import { chart } from '#tools/page/charts.ts';
import { markup, type Markup } from '#tools/page/markup.ts';
import type { Calibration } from '../calibrate.ts';
import { curveOver, hasNoCurve, isIndependent } from '../dependence.ts';
import { at, normalQuantileTwoSided } from '../numbers.ts';
import { figure } from './figures.ts';

/** Half the width of a 95 % interval, in standard errors. */
const HALF_WIDTH = 1.96;
const probability: Plot.ScaleOptions = { domain: [0, 1], ticks: 5, grid: true };

interface Whisker {
  readonly x: number;
  readonly y: number;
  readonly half: number;
}

/** Draws guess and 1 - slip of each item with their intervals; for a G-DINA item the other patterns as ticks. */
export function itemPicture({ study, parameters, errors, options }: Calibration): Markup {
  const rows = study.items.map((item, j) => {
    const values = [...(parameters.tables[j] ?? [])];
    const own = errors.tables[j] ?? [];
    const low = values[0] ?? 0;
    const high = values.at(-1) ?? 1;
    const label = `${item}: guess ${figure(low)}, 1 − slip ${figure(high)}`;
    return {
      low: { x: low, y: j, label },
      high: { x: high, y: j, label },
      between: options.model === 'gdina' ? values.slice(1, -1).map((x) => ({ x, y: j })) : [],
      whiskers: [
        { x: low, y: j, error: own[0] },
        { x: high, y: j, error: own.at(-1) },
      ].flatMap(({ x, y, error }) => (error === undefined ? [] : [{ x, y, half: HALF_WIDTH * error }])),
    };
  });
  const y = ({ y: row }: { readonly y: number }): number => row;
  return chart(
    {
      id: 'items',
      title: 'Probability of a correct answer, per item',
      description:
        'One line per item. Hollow circle: learners who have none of its knowledge components (guess). Full circle: learners who have all of them (1 − slip). Whiskers: 95 % intervals. The table below contains the numbers.',
      legend: [
        ['hollow', 'guess'],
        ['full', '1 − slip'],
        ['line', '95 % interval'],
        ...(options.model === 'gdina' ? ([['tick', 'some of the knowledge components']] as const) : []),
      ],
    },
    {
      height: 70 + 24 * rows.length,
      marginLeft: 118,
      x: { ...probability, label: 'P(correct)' },
      y: names(study.items),
      marks: [
        Plot.ruleY(rows, {
          x1: ({ low }: (typeof rows)[number]) => low.x,
          x2: ({ high }: (typeof rows)[number]) => high.x,
          y: ({ low }: (typeof rows)[number]) => low.y,
          stroke: colour.soft,
          strokeDasharray: '1 3',
        }),
        Plot.tickX(
          rows.flatMap(({ between }) => between),
          { x: 'x', y, insetTop: 4, insetBottom: 4, stroke: colour.ink, strokeWidth: 1.5 },
        ),
        Plot.ruleY(
          rows.flatMap(({ whiskers }) => whiskers),
          {
            x1: ({ x, half }: Whisker) => Math.max(0, x - half),
            x2: ({ x, half }: Whisker) => Math.min(1, x + half),
            y,
            stroke: colour.one,
            strokeWidth: 1.5,
            strokeLinecap: 'square',
          },
        ),
        dots(
          rows.map(({ low }) => low),
          'large',
          { fill: colour.paper, stroke: colour.two, strokeWidth: 2 },
        ),
        dots(
          rows.map(({ high }) => high),
          'large',
        ),
      ],
    },
  );
}

/** Draws the share of learners who have each knowledge component: given their answers, and in the model. */
export function prevalencePicture({ study, abilities }: Calibration): Markup {
  const rows = abilities.kcs.map(({ prevalence, priorPrevalence }, k) => ({
    k,
    prevalence,
    priorPrevalence,
  }));
  const y = ({ k }: { readonly k: number }): number => k;
  return chart(
    {
      id: 'prevalence',
      title: 'Learners who have each knowledge component',
      description:
        'One bar per knowledge component: the mean posterior probability of mastery. The vertical mark is the share that the fitted model expects. If it is far from the bar, the higher-order part of the model does not fit.',
      legend: [
        ['bar', 'mean posterior'],
        ['tick', 'expected by the model'],
      ],
    },
    {
      height: 70 + 26 * rows.length,
      marginLeft: 118,
      marginRight: 52,
      x: { ...probability, label: 'share of the learners' },
      y: names(study.kcs),
      marks: [
        Plot.barX(rows, {
          x: ({ prevalence }: (typeof rows)[number]) => prevalence,
          y,
          fill: colour.one,
          fillOpacity: 0.7,
          insetTop: 2,
          insetBottom: 2,
          title: ({ k, prevalence }: (typeof rows)[number]) => `${study.kcs[k]}: ${figure(prevalence)}`,
        }),
        Plot.tickX(rows, {
          x: ({ priorPrevalence }: (typeof rows)[number]) => priorPrevalence,
          y,
          stroke: colour.ink,
          strokeWidth: 2,
        }),
        Plot.text(rows, {
          frameAnchor: 'right',
          dx: 44,
          y,
          text: ({ prevalence }: (typeof rows)[number]) => figure(prevalence),
        }),
      ],
    },
  );
}

/** Panels in a row. */
const COLUMNS = 2;

/** Draws one small panel per knowledge component: P(mastered | theta), and where it is one half. */
export function curvesPicture({ study, design, parameters }: Calibration): Markup {
  const withCurve = [...study.kcs.entries()].filter(([k]) => !hasNoCurve(design.dependence, k));
  const panels = withCurve.map(([k, kc], n) => ({
    kc,
    location: at(parameters.locations, k),
    panel: { fx: n % COLUMNS, fy: Math.floor(n / COLUMNS) },
    label: `${kc}: slope ${figure(at(parameters.slopes, k), 2)}, location ${figure(at(parameters.locations, k), 2)}`,
    probabilities: curveOver(design.points, at(parameters.slopes, k), at(parameters.locations, k)),
  }));
  const channels = {
    fx: ({ panel }: (typeof panels)[number]) => panel.fx,
    fy: ({ panel }: (typeof panels)[number]) => panel.fy,
  };
  return chart(
    {
      id: 'curves',
      title: 'Mastery of each knowledge component by ability',
      description: `One panel per knowledge component: the probability of having it, from 0 to 1, over theta from −4 to 4. The dashed vertical line is the location, where the probability is one half. A steep curve carries much information about theta.${
        isIndependent(design.dependence)
          ? ''
          : ' The curve of a component with prerequisites is that of the learners who have them, that of a component of a strand is over the ability of the strand, and a component with weights per pattern has no curve.'
      }`,
      legend: [
        ['line', 'P(mastered | θ)'],
        ['dashed', 'location'],
      ],
    },
    {
      height: 70 + 130 * Math.ceil(panels.length / COLUMNS),
      marginLeft: 40,
      x: { domain: [-4, 4], ticks: 5, grid: true, label: 'theta' },
      y: { domain: [0, 1], ticks: 3, grid: true, label: null },
      fx: { axis: null, padding: 0.14 },
      fy: { axis: null, padding: 0.3 },
      marks: [
        Plot.frame({ stroke: 'var(--line)' }),
        Plot.text(panels, {
          ...channels,
          frameAnchor: 'top-left',
          dy: -18,
          text: ({ kc }: (typeof panels)[number]) => brief(kc, 22),
          fontWeight: 600,
        }),
        Plot.ruleX(
          panels.filter(({ location }) => Math.abs(location) <= 4),
          {
            ...channels,
            x: ({ location }: (typeof panels)[number]) => location,
            stroke: colour.two,
            strokeDasharray: '5 4',
          },
        ),
        ...panels.map(({ panel, label, probabilities }) =>
          Plot.line(
            [...design.points].flatMap((x, g) =>
              Math.abs(x) <= 4 + 1e-9 ? [{ x, y: at(probabilities, g) }] : [],
            ),
            {
              x: 'x',
              y: 'y',
              fx: () => panel.fx,
              fy: () => panel.fy,
              z: null,
              stroke: colour.one,
              strokeWidth: 2,
              title: () => label,
            },
          ),
        ),
      ],
    },
  );
}

/** Draws the EAP histogram, the mean posterior and the prior over theta. */
export function abilityPicture({ design, abilities, study }: Calibration): Markup {
  const { histogram, posterior } = abilities.theta;
  const spacing = at(design.points, 1) - at(design.points, 0);
  const density = (weightOf: (g: number) => number): Point[] =>
    [...design.points].flatMap((x, g) => (Math.abs(x) <= 4 + 1e-9 ? [{ x, y: weightOf(g) / spacing }] : []));
  return chart(
    {
      id: 'ability',
      title: 'Ability: prior and posterior',
      description:
        'Bars: learners by their posterior mean of theta (EAP), as a density. Solid line: mean of the learners’ posteriors. Dashed line: the normal prior. The solid line should follow the dashed one. The bars are narrower, because posterior means are shrunk towards the middle.',
      legend: [
        ['bar', 'learners by EAP'],
        ['ink', 'mean posterior'],
        ['dashed', 'prior'],
      ],
    },
    {
      height: 300,
      x: { domain: [-4, 4], ticks: 9, label: 'theta' },
      y: { label: 'density', grid: true },
      marks: [
        bars(
          histogram.map(({ from, to, learners }) => ({
            x: (from + to) / 2,
            y: learners / study.responses.learners / (to - from),
            width: to - from,
            label: `${figure(from, 2)} to ${figure(to, 2)}: ${learners} learners`,
          })),
        ),
        line(
          density((g) => at(design.weights, g)),
          'dashed',
          colour.two,
        ),
        line(
          density((g) => posterior[g] ?? 0),
          'full',
          colour.ink,
        ),
      ],
    },
  );
}

/** Draws the distance of each accepted step from the final objective, on a logarithmic scale. */
export function convergencePicture({ em }: Calibration): Markup {
  const floor = 1e-7;
  const end = em.history.at(-1)?.objective ?? 0;
  const points = em.history.map(({ iteration, objective, extrapolated }) => ({
    x: iteration,
    y: Math.log10(Math.max(floor, end - objective)),
    extrapolated,
  }));
  return chart(
    {
      id: 'convergence',
      title: 'Convergence',
      description:
        'Distance of the objective from its final value after each accepted step, as a power of ten. It only decreases: a step that would lower the objective is not accepted. Dots are extrapolated steps.',
      legend: [
        ['line', 'distance'],
        ['full', 'extrapolated step'],
      ],
    },
    {
      height: 260,
      x: {
        domain: [0, Math.max(1, em.iterations)],
        ticks: Math.min(8, Math.max(1, em.iterations)),
        tickFormat: 'd',
        label: 'E-steps',
      },
      y: {
        domain: [-7, Math.max(1, ...points.map(({ y }) => Math.ceil(y)))],
        ticks: 5,
        grid: true,
        label: 'log₁₀ distance',
      },
      marks: [
        line(points, 'full'),
        dots(
          points.filter(({ extrapolated }) => extrapolated),
          'large',
        ),
      ],
    },
  );
}

/** With more items, cells are too small to see. */
const MOST_ITEMS = 45;

/** Draws how many learners answered both items of each pair; undefined if a chart would not be legible. `common` is items x items. */
export function linkagePicture(
  { items, responses }: Calibration['study'],
  common: Float64Array,
): Markup | undefined {
  const count = items.length;
  if (count > MOST_ITEMS) return undefined;
  const pairs = Array.from(common, (learners, n) => ({
    first: n % count,
    second: Math.floor(n / count),
    learners,
  })).filter(({ first, second }) => first < second);
  const unlinked = pairs.filter(({ learners }) => learners === 0);
  type Pair = (typeof pairs)[number];
  const channels = { x: ({ first }: Pair) => first, y: ({ second }: Pair) => second, inset: 0.5 };
  return pairChart(
    items,
    {
      id: 'linkage',
      title: 'Learners who answered both items',
      description:
        'One cell per pair of items. The darker the cell, the more learners answered both. Outlined cells are pairs that no learner answered together. Parts of the test without any common learner have no cell between them that is filled.',
      legend: [
        ['above', 'all learners'],
        ['outlined', 'no learner'],
      ],
    },
    [
      Plot.cell(pairs, {
        ...channels,
        fill: colour.two,
        fillOpacity: ({ learners }: Pair) => learners / responses.learners,
        title: ({ first, second, learners }: Pair) =>
          `${items[first]}, ${items[second]}: ${learners} learners`,
      }),
      Plot.cell(unlinked, { ...channels, fill: 'none', stroke: colour.ink, strokeWidth: 2 }),
    ],
  );
}

/** Draws a chart with a row and a column per item. */
function pairChart(
  items: readonly string[],
  caption: Parameters<typeof chart>[0],
  marks: Plot.Markish[],
): Markup {
  const margin = 104;
  // Leaves room for a name in each row and column: above about twenty items the chart is wider than the page and scrolls.
  const width = Math.max(CHART_WIDTH, margin + 24 + 15 * items.length);
  const picture = chart(caption, {
    width,
    height: width,
    marginLeft: margin,
    marginBottom: margin,
    marginRight: 14,
    marginTop: 10,
    x: { ...names(items), tickRotate: -90 },
    y: names(items),
    marks,
    color: { type: 'identity' },
    opacity: { type: 'identity' },
  });
  return width === CHART_WIDTH
    ? picture
    : markup`<div class="scroll" role="region" aria-label="${caption.title} (chart)" tabindex="0">${picture}</div>`;
}

/** Draws the residual correlations of all pairs, as z; undefined if a chart would not be legible. */
export function pairsPicture({ study, pairs }: Calibration): Markup | undefined {
  const count = study.items.length;
  if (count > MOST_ITEMS || pairs.length === 0) return undefined;
  const critical = normalQuantileTwoSided(0.05 / pairs.length);
  const channels = {
    x: ({ first }: (typeof pairs)[number]) => first,
    y: ({ second }: (typeof pairs)[number]) => second,
    inset: 0.5,
  };
  return pairChart(
    study.items,
    {
      id: 'pairs',
      title: 'Residual correlations of item pairs',
      description: `One cell per pair. The darker the cell, the further the observed correlation is above (orange) or below (blue) the expected one. Outlined cells are beyond ${figure(critical, 2)}, the 5 % limit for the largest of all pairs (Bonferroni). The table below lists the largest.`,
      legend: [
        ['above', 'above: z of 5'],
        ['below', 'below: z of −5'],
        ['outlined', `beyond ${figure(critical, 2)}`],
      ],
    },
    [
      Plot.cell(pairs, {
        ...channels,
        fill: ({ zCorrelation }: (typeof pairs)[number]) => (zCorrelation < 0 ? colour.one : colour.two),
        fillOpacity: ({ zCorrelation }: (typeof pairs)[number]) => Math.min(1, Math.abs(zCorrelation) / 5),
        title: ({ first, second, zCorrelation }: (typeof pairs)[number]) =>
          `${study.items[first]}, ${study.items[second]}: z ${figure(zCorrelation, 2)}`,
      }),
      Plot.cell(
        pairs.filter(({ zCorrelation }) => Math.abs(zCorrelation) > critical),
        { ...channels, fill: 'none', stroke: colour.ink, strokeWidth: 2 },
      ),
    ],
  );
}
