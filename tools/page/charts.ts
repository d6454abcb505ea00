/** The charts of the reports, drawn in a DOM of happy-dom, as SVG that needs no script. */
import type * as Plot from '@observablehq/plot';
import { Window } from 'happy-dom';
import { CHART_WIDTH, draw } from './plot.ts';
import { elementMarkup, markup } from './markup.ts';
import type { ElementLike, Markup } from './markup.ts';

/** One entry of a legend: the sign and its meaning. */
export type Key = readonly [
  sign:
    | 'line'
    | 'ink'
    | 'dashed'
    | 'full'
    | 'hollow'
    | 'bar'
    | 'tick'
    | 'band'
    | 'above'
    | 'below'
    | 'outlined',
  text: string,
];

/** `id` is unique on its page; title and description are the accessible name and description. */
export interface ChartText {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly legend?: readonly Key[];
}

const document = new Window().document;

/** Renders a chart as inline SVG with its legend. The same options give the same bytes. */
export function chart({ id, title, description, legend = [] }: ChartText, options: Plot.PlotOptions): Markup {
  const { parts, width, height } = draw(document, options);
  return markup`<svg class="${width > CHART_WIDTH ? 'chart wide' : 'chart'}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" fill="currentColor" text-anchor="middle" role="img" aria-labelledby="${id}-t" aria-describedby="${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>
${(parts as readonly ElementLike[]).map(elementMarkup)}</svg>${
    legend.length === 0
      ? undefined
      : markup`<ul class="legend">${legend.map(([sign, text]) => markup`<li class="${sign}">${text}</li>`)}</ul>`
  }`;
}
