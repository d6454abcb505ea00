/** The drawing of every chart, by Observable Plot: in a page of the explorer, and in a DOM without a browser for the reports of the studies. */
import * as Plot from '@observablehq/plot';

/** A point of a chart, in the units of its axes. */
export interface Point {
  readonly x: number;
  readonly y: number;
  /** The text of its tooltip. */
  readonly label?: string;
}

/** Pixels. Narrow, since a phone scales it down to 350: text of 13 stays above 10 there. */
export const CHART_WIDTH = 440;

/** A DOM element, of whichever DOM. */
interface Drawn {
  readonly childNodes: Iterable<{ readonly nodeName: string }>;
  readonly getAttribute: (name: string) => string | null;
  readonly querySelectorAll: (
    selector: string,
  ) => Iterable<{ readonly removeAttribute: (name: string) => void }>;
}

/**
 * Draws a chart. Colours are variables of the style sheet, so that they follow the colour scheme; the same options give the same elements.
 * Marks may not clip: Plot numbers its clip paths across all charts of a process.
 * @param document the DOM to draw in
 * @returns the parts of an SVG element of `width` times `height` pixels, nodes of that DOM, without Plot's own style sheet: the page has what
 *   is needed of it
 */
export function draw(
  document: unknown,
  options: Plot.PlotOptions,
): { readonly parts: readonly unknown[]; readonly width: number; readonly height: number } {
  const svg = Plot.plot({
    document: document as never,
    className: 'chart',
    width: CHART_WIDTH,
    marginTop: 24,
    marginBottom: 44,
    marginLeft: 56,
    ...options,
  }) as unknown as Drawn;
  // The page names the whole picture; a group inside it has no role and may have no name (WAI-ARIA 1.2).
  for (const group of svg.querySelectorAll('[aria-label]')) group.removeAttribute('aria-label');
  return {
    parts: [...svg.childNodes].filter(({ nodeName }) => nodeName.toLowerCase() !== 'style'),
    width: options.width ?? CHART_WIDTH,
    height: Number(svg.getAttribute('height')),
  };
}

/** Colours by their meaning; blue and orange differ for every kind of colour vision. */
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
    // Plot leaves out points without a title as soon as there is such a channel.
    ...(points[0]?.label !== undefined && { title: ({ label }: Point) => label }),
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

/** A band between two values at each point. */
export function band(
  points: readonly { readonly x: number; readonly low: number; readonly high: number }[],
): Plot.Markish {
  return Plot.areaY(points, {
    x: ({ x }: (typeof points)[number]) => x,
    y1: ({ low }: (typeof points)[number]) => low,
    y2: ({ high }: (typeof points)[number]) => high,
    fill: colour.band,
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

/** A scale of names, one row or column each in their order; the margin shows their beginnings, the table next to the chart has them whole. */
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
