import { svg } from '../dom.ts';
import type { Axis } from '../speak/document.ts';

/** Returns a place between the ends in percent, as lengths of SVG are: texts keep their size at every width. */
export function placeBetween(low: number, high: number): (value: number) => number {
  return (value) => Math.min(100, Math.max(0, (100 * (value - low)) / (high - low)));
}

/** Returns the texts of the marks; those at the ends stay inside. */
export function tickTexts(
  ticks: Axis['ticks'],
  at: (value: number) => number,
  y: number | string,
): readonly SVGElement[] {
  return ticks.map((tick) => {
    const x = at(tick.at);
    const anchor = x < 3 ? 'start' : x > 97 ? 'end' : 'middle';
    return svg('text', { class: 'tick', x: `${x}%`, y, 'text-anchor': anchor }, tick.text);
  });
}

/** Draws an axis from left to right, in every direction of the page. */
export function drawAxis(
  { label, low, high, ticks, zones, band, marks }: Axis,
  isCompact: boolean,
): SVGSVGElement {
  const at = placeBetween(low, high);
  const span = (kind: string, from: number, to: number): SVGElement =>
    svg('rect', { class: kind, x: `${at(from)}%`, width: `${at(to) - at(from)}%`, y: 5, height: 12 });
  return svg(
    'svg',
    { class: 'axis', role: 'img', 'aria-label': label, width: '100%', height: isCompact ? 22 : 40 },
    svg('rect', { class: 'track', x: 0, width: '100%', y: 5, height: 12 }),
    zones.map(({ from, to, tone }) => span(`zone ${tone}`, from, to)),
    zones
      .slice(1)
      .map(({ from }) =>
        svg('line', { class: 'edge', x1: `${at(from)}%`, x2: `${at(from)}%`, y1: 5, y2: 17 }),
      ),
    band === undefined ? undefined : span('band', ...band),
    marks.map((mark) =>
      svg('line', { class: mark.kind, x1: `${at(mark.at)}%`, x2: `${at(mark.at)}%`, y1: 1, y2: 21 }),
    ),
    isCompact ? undefined : tickTexts(ticks, at, 34),
  );
}
