/** The charts of the reports: Observable Plot, drawn in a DOM of happy-dom, as SVG that stands in a page without any script. */
import * as Plot from '@observablehq/plot';
import { Window } from 'happy-dom';
import { elementMarkup, markup } from './pages/markup.ts';
import type { ElementLike, Markup } from './pages/markup.ts';

/** A point of a chart, in the units of its axes. */
export interface Point {
  readonly x: number;
  readonly y: number;
  /** What a tooltip says of it. */
  readonly label?: string;
}

/** One entry of a legend: the sign and what it stands for. */
export type Key = readonly [
  sign:
    'line' | 'ink' | 'dashed' | 'full' | 'hollow' | 'bar' | 'tick' | 'band' | 'above' | 'below' | 'outlined',
  text: string,
];

/** `id` is unique on its page; title and description are the accessible name and description. */
export interface ChartText {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly legend?: readonly Key[];
}

/** Pixels. Narrow, since a phone scales it down to 350: text of 13 stays above 10 there. */
export const CHART_WIDTH = 440;

const document = new Window().document;

/**
 * A chart as inline SVG with its legend. Colours are variables of the style sheet, so that they follow the colour scheme; the same options
 * give the same bytes. Marks may not clip: Plot numbers its clip paths across all charts of a process.
 */
export function chart({ id, title, description, legend = [] }: ChartText, options: Plot.PlotOptions): Markup {
  const svg = Plot.plot({
    document: document as never,
    className: 'chart',
    width: CHART_WIDTH,
    marginTop: 24,
    marginBottom: 44,
    marginLeft: 56,
    ...options,
  }) as unknown as ElementLike;
  // Plot's own style sheet would be repeated in each chart; the page's has what is needed of it.
  const content = [...svg.childNodes].filter(({ nodeName }) => nodeName.toLowerCase() !== 'style');
  const height = Number([...svg.attributes].find(({ name }) => name === 'height')?.value);
  const width = options.width ?? CHART_WIDTH;
  return markup`<svg class="${width > CHART_WIDTH ? 'chart wide' : 'chart'}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" fill="currentColor" text-anchor="middle" role="img" aria-labelledby="${id}-t" aria-describedby="${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>
${content.map(elementMarkup)}</svg>${
    legend.length === 0
      ? undefined
      : markup`<ul class="legend">${legend.map(([sign, text]) => markup`<li class="${sign}">${text}</li>`)}</ul>`
  }`;
}

/** Colours by what they stand for; blue and orange differ for every kind of colour vision. */
export const colour = {
  one: 'var(--one)',
  two: 'var(--two)',
  soft: 'var(--soft)',
  ink: 'var(--ink)',
  paper: 'var(--paper)',
  band: 'var(--band)',
} as const;

const xy = { x: ({ x }: Point): number => x, y: ({ y }: Point): number => y };

/** A line through points: full for what was found, dashed for what it is compared with. */
export function line(
  points: readonly Point[],
  style: 'full' | 'dashed',
  stroke: string = colour.one,
): Plot.Markish {
  return Plot.line(points, {
    ...xy,
    stroke,
    strokeWidth: 2,
    ...(style === 'dashed' && { strokeDasharray: '6 4' }),
  });
}

/** Dots with their labels as tooltips; small ones are see-through, since there may be many in one place. */
export function dots(
  points: readonly Point[],
  size: 'small' | 'large',
  options: Plot.DotOptions = {},
): Plot.Markish {
  return Plot.dot(points, {
    ...xy,
    title: ({ label }: Point) => label,
    r: size === 'small' ? 2 : 4,
    fill: colour.one,
    stroke: 'none',
    ...(size === 'small' && { fillOpacity: 0.45 }),
    ...options,
  });
}

/** Bars from zero, `width` wide around their points. */
export function bars(points: readonly (Point & { readonly width: number })[]): Plot.Markish {
  return Plot.rectY(points, {
    x1: ({ x, width }: (typeof points)[number]) => x - width / 2,
    x2: ({ x, width }: (typeof points)[number]) => x + width / 2,
    y: xy.y,
    title: ({ label }: Point) => label,
    fill: colour.one,
    fillOpacity: 0.7,
  });
}

/** A scale of names, one row or column each in their order; the margin shows their beginnings, the table beside the chart has them whole. */
export function names(all: readonly string[], length = 14): Plot.ScaleOptions {
  return {
    type: 'band',
    domain: all.map((_, n) => n),
    label: null,
    tickFormat: (n: number) => brief(all[n] ?? '', length),
  };
}

/** The beginning of a name. */
export function brief(name: string, length: number): string {
  return name.length > length ? `${name.slice(0, length - 1)}…` : name;
}
