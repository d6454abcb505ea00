/** The pictures of the report. None tells by colour alone: shapes, dashes, outlines and the tables beside them say the same. */
import { markup } from '#psychometrics/pages/markup.ts';
import type { Markup } from '#psychometrics/pages/markup.ts';
import { picture } from '#psychometrics/pages/picture.ts';
import type { Calibration } from '../calibrate.ts';
import { masteryCurve } from '../model.ts';
import { at, normalQuantileTwoSided } from '../numbers.ts';
import { bottomAxis, brief, curve, leftAxis, pixel, place } from './drawing.ts';
import type { Axis } from './drawing.ts';
import { figure } from './figures.ts';

/** Half the width of a 95 % interval, in standard errors. */
const HALF_WIDTH = 1.96;
const WIDTH = 760;

/** Guess and 1 - slip of each item with their intervals; of a G-DINA item all patterns as ticks between. */
export function itemPicture({ study, parameters, errors, options }: Calibration): Markup {
  const row = 22;
  const top = 10;
  const bottom = top + row * study.items.length + 6;
  const x: Axis = { from: 0, to: 1, start: 130, end: WIDTH - 20 };
  const marks = study.items.map((item, j) => {
    const y = top + row * j + row / 2;
    const values = [...(parameters.tables[j] ?? [])];
    const own = errors.tables[j] ?? [];
    const low = values[0] ?? 0;
    const high = values.at(-1) ?? 1;
    const between = options.model === 'gdina' ? values.slice(1, -1) : [];
    return markup`<g><title>${item}: guess ${figure(low)}, 1 − slip ${figure(high)}</title>
<text class="tick" x="${x.start - 10}" y="${y + 4}" text-anchor="end">${brief(item)}</text>
<line class="span" x1="${place(x, low)}" y1="${y}" x2="${place(x, high)}" y2="${y}"/>
${between.map((value) => markup`<line class="pattern" x1="${place(x, value)}" y1="${y - 5}" x2="${place(x, value)}" y2="${y + 5}"/>`)}
${[errorBar(x, y, low, own[0]), errorBar(x, y, high, own.at(-1))]}
<circle class="hollow" cx="${place(x, low)}" cy="${y}" r="4.5"/><circle class="full" cx="${place(x, high)}" cy="${y}" r="4.5"/></g>`;
  });
  return picture(
    'items',
    { width: WIDTH, height: bottom + 40 },
    {
      title: 'Probability of a correct answer, by item',
      description:
        'One line an item: hollow circle, learners who have none of its components (guess); full circle, learners who have all (1 − slip); whiskers, 95 % intervals. The table after it has the figures.',
    },
    [...bottomAxis(x, bottom, top, 'P(correct)', 1, 10), ...marks],
  );
}

function errorBar(x: Axis, y: number, value: number, error: number | undefined): Markup {
  if (error === undefined) return markup``;
  const low = place(x, value - HALF_WIDTH * error);
  const high = place(x, value + HALF_WIDTH * error);
  return markup`<path class="whisker" d="M${low} ${y}H${high}M${low} ${y - 4}V${y + 4}M${high} ${y - 4}V${y + 4}"/>`;
}

/** Share of the learners who have each component, after their answers and by the model alone. */
export function prevalencePicture({ study, abilities }: Calibration): Markup {
  const row = 24;
  const top = 10;
  const bottom = top + row * study.kcs.length + 6;
  const x: Axis = { from: 0, to: 1, start: 130, end: WIDTH - 70 };
  const bars = abilities.kcs.map(({ prevalence, priorPrevalence }, k) => {
    const y = top + row * k;
    return markup`<g><title>${study.kcs[k]}: ${figure(prevalence)}</title>
<text class="tick" x="${x.start - 10}" y="${y + 15}" text-anchor="end">${brief(study.kcs[k] ?? '')}</text>
<rect class="bar" x="${x.start}" y="${y + 4}" width="${pixel(place(x, prevalence) - x.start)}" height="${row - 8}"/>
<line class="mark" x1="${place(x, priorPrevalence)}" y1="${y + 1}" x2="${place(x, priorPrevalence)}" y2="${y + row - 1}"/>
<text class="tick" x="${x.end + 10}" y="${y + 15}">${figure(prevalence)}</text></g>`;
  });
  return picture(
    'prevalence',
    { width: WIDTH, height: bottom + 40 },
    {
      title: 'Learners who have each knowledge component',
      description:
        'One bar a component: mean posterior probability of mastery. The upright mark is the share that the fitted model expects; far from the bar, the higher-order part does not fit.',
    },
    [...bottomAxis(x, bottom, top, 'share of the learners', 1, 10), ...bars],
  );
}

/** One small panel a component: P(mastered | theta), and where it is one half. */
export function curvesPicture({ study, design, parameters }: Calibration): Markup {
  const columns = 4;
  const width = WIDTH / columns;
  const height = 138;
  const rows = Math.ceil(study.kcs.length / columns);
  const panels = study.kcs.map((kc, k) => {
    const left = (k % columns) * width;
    const top = Math.floor(k / columns) * height;
    const x: Axis = { from: -4, to: 4, start: pixel(left + 32), end: pixel(left + width - 10) };
    const y: Axis = { from: 0, to: 1, start: top + height - 26, end: top + 24 };
    const slope = at(parameters.slopes, k);
    const location = at(parameters.locations, k);
    const probabilities = masteryCurve(design, slope, location);
    const points = [...design.points].flatMap((point, g): (readonly [number, number])[] =>
      point >= x.from - 1e-9 && point <= x.to + 1e-9 ? [[point, at(probabilities, g)]] : [],
    );
    const middle = place(x, location);
    return markup`<g><title>${kc}: slope ${figure(slope, 2)}, location ${figure(location, 2)}</title>
<text class="panel" x="${x.start}" y="${top + 15}">${brief(kc, 22)}</text>
${[0, 0.5, 1].map((value) => markup`<line class="grid" x1="${x.start}" y1="${place(y, value)}" x2="${x.end}" y2="${place(y, value)}"/><text class="tick" x="${x.start - 5}" y="${place(y, value) + 4}" text-anchor="end">${value}</text>`)}
${[-4, -2, 0, 2, 4].map((value) => markup`<text class="tick" x="${place(x, value)}" y="${y.start + 14}" text-anchor="middle">${figure(value, 0)}</text>`)}
<line class="mark dashed" x1="${middle}" y1="${y.start}" x2="${middle}" y2="${y.end}"/>${curve('curve', x, y, points)}</g>`;
  });
  return picture(
    'curves',
    { width: WIDTH, height: rows * height },
    {
      title: 'Mastery of each knowledge component by ability',
      description:
        'One panel a component: the probability of having it, from 0 to 1, over theta from −4 to 4. The dashed upright line is the location, where the probability is one half. Steep curves tell much about theta.',
    },
    panels,
  );
}

/** EAP histogram, mean posterior and prior over theta. */
export function abilityPicture({ design, abilities, study }: Calibration): Markup {
  const { histogram, posterior } = abilities.theta;
  const spacing = at(design.points, 1) - at(design.points, 0);
  const inside = [...design.points].flatMap((point, g) =>
    Math.abs(point) <= 4 + 1e-9 ? [{ point, g }] : [],
  );
  const prior = inside.map(({ point, g }) => [point, at(design.weights, g) / spacing] as const);
  const after = inside.map(({ point, g }) => [point, (posterior[g] ?? 0) / spacing] as const);
  const bars = histogram.map(({ from, to, learners }) => ({
    from,
    to,
    learners,
    density: learners / study.responses.learners / (to - from),
  }));
  const highest = Math.max(
    ...prior.map(([, y]) => y),
    ...after.map(([, y]) => y),
    ...bars.map(({ density }) => density),
  );
  const x: Axis = { from: -4, to: 4, start: 60, end: WIDTH - 20 };
  const y: Axis = { from: 0, to: highest * 1.05, start: 250, end: 12 };
  return picture(
    'ability',
    { width: WIDTH, height: 300 },
    {
      title: 'Ability: prior and posterior',
      description:
        'Bars: learners by their posterior mean of theta (EAP), as a density. Full line: mean of the learners’ posteriors. Dashed line: the normal prior. The full line should follow the dashed one; bars are narrower, since means are drawn towards the middle.',
    },
    [
      ...bottomAxis(x, 250, 12, 'theta', 0, 8),
      ...leftAxis(y, x.start, x.end, 'density', 2),
      ...bars.map(
        ({ from, to, learners, density }) =>
          markup`<rect class="bar" x="${place(x, from)}" y="${place(y, density)}" width="${pixel(Math.max(0, place(x, to) - place(x, from) - 1))}" height="${pixel(250 - place(y, density))}"><title>${figure(from, 2)} to ${figure(to, 2)}: ${learners} learners</title></rect>`,
      ),
      curve('curve dashed', x, y, prior),
      curve('curve', x, y, after),
    ],
  );
}

/** How far below the end each accepted step was, on a logarithmic scale. */
export function convergencePicture({ em }: Calibration): Markup {
  const floor = 1e-7;
  const end = em.history.at(-1)?.objective ?? 0;
  const points = em.history.map(({ iteration, objective, extrapolated }) => ({
    iteration,
    exponent: Math.log10(Math.max(floor, end - objective)),
    extrapolated,
  }));
  const x: Axis = { from: 0, to: Math.max(1, em.iterations), start: 70, end: WIDTH - 20 };
  const y: Axis = {
    from: -7,
    to: Math.max(1, ...points.map(({ exponent }) => Math.ceil(exponent))),
    start: 200,
    end: 12,
  };
  return picture(
    'convergence',
    { width: WIDTH, height: 250 },
    {
      title: 'Convergence',
      description:
        'Distance of the objective from its final value after each accepted step, as a power of ten. It only falls: a step that would lower the objective is not taken. Dots are extrapolated steps.',
    },
    [
      ...bottomAxis(x, 200, 12, 'E-steps', 0, 8),
      ...leftAxis(y, x.start, x.end, 'log₁₀ distance', 0, 5),
      curve(
        'curve',
        x,
        y,
        points.map(({ iteration, exponent }) => [iteration, exponent] as const),
      ),
      ...points
        .filter(({ extrapolated }) => extrapolated)
        .map(
          ({ iteration, exponent }) =>
            markup`<circle class="full small" cx="${place(x, iteration)}" cy="${place(y, exponent)}" r="2.2"/>`,
        ),
    ],
  );
}

/** More items than this make cells that nobody can see. */
const MOST_ITEMS = 45;

/** Residual correlations of all pairs, as z; undefined where a picture would not be legible. */
export function pairsPicture({ study, pairs }: Calibration): Markup | undefined {
  const count = study.items.length;
  if (count > MOST_ITEMS || pairs.length === 0) return undefined;
  const left = 110;
  const top = 10;
  const cell = pixel(Math.min(28, (WIDTH - left - 110) / count));
  const critical = normalQuantileTwoSided(0.05 / pairs.length);
  const cells = pairs.map(({ first, second, zCorrelation: z }) => {
    const depth = figure(Math.min(1, Math.abs(z) / 5), 2);
    const outlined = Math.abs(z) > critical ? ' outlined' : '';
    return markup`<rect class="${z < 0 ? 'below' : 'above'}${outlined}" x="${pixel(left + first * cell)}" y="${pixel(top + second * cell)}" width="${pixel(cell - 1)}" height="${pixel(cell - 1)}" fill-opacity="${depth}"><title>${study.items[first]}, ${study.items[second]}: z ${figure(z, 2)}</title></rect>`;
  });
  const rowNames = study.items.map(
    (item, j) =>
      markup`<text class="tick" x="${left - 6}" y="${pixel(top + (j + 0.5) * cell + 4)}" text-anchor="end">${brief(item)}</text>`,
  );
  const bottom = top + count * cell;
  const columnNames = study.items.map((item, j) => {
    const x = pixel(left + (j + 0.5) * cell + 4);
    return markup`<text class="tick" x="${x}" y="${pixel(bottom + 6)}" text-anchor="end" transform="rotate(-90 ${x} ${pixel(bottom + 6)})">${brief(item)}</text>`;
  });
  const key = [-5, -2.5, 0, 2.5, 5].map((z, n) => {
    const y = top + n * 24;
    return markup`<rect class="${z < 0 ? 'below' : 'above'} framed" x="${WIDTH - 84}" y="${y}" width="20" height="20" fill-opacity="${Math.abs(z) / 5}"/><text class="tick" x="${WIDTH - 56}" y="${y + 15}">z ${figure(z, 1)}</text>`;
  });
  return picture(
    'pairs',
    { width: WIDTH, height: pixel(bottom + 100) },
    {
      title: 'Residual correlations of item pairs',
      description: `One cell a pair; the deeper, the further is the observed correlation from the expected one, above (orange) or below (blue). Outlined cells are beyond ${figure(critical, 2)}, the 5 % limit for the largest of all pairs (Bonferroni). The table after it has the largest.`,
    },
    [...cells, ...rowNames, ...columnNames, ...key],
  );
}
