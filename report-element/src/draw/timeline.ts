import { svg } from '../dom.ts';
import type { Timeline } from '../speak/document.ts';
import { placeBetween, tickTexts } from './axis.ts';

const HEIGHT = 220;
/** Where the plot ends, above the days. */
const BOTTOM = 190;
const TOP = 18;

/** Draws values with their bands over time. Time runs from left to right in every direction of the page. */
export function drawTimeline({ label, low, high, ticks, days, points }: Timeline): SVGSVGElement {
  const times = points.map(({ day }) => day);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const across = placeBetween(first, last);
  // Half a band of room at both ends; a single day is in the middle.
  const x = (day: number): number => (first === last ? 50 : 12 + across(day) * 0.82);
  const up = placeBetween(low, high);
  const y = (value: number): number => BOTTOM - (up(value) / 100) * (BOTTOM - TOP);
  return svg(
    'svg',
    { class: 'timeline', role: 'img', 'aria-label': label, width: '100%', height: HEIGHT },
    ticks.map((tick) => [
      svg('line', { class: 'grid', x1: 0, x2: '100%', y1: y(tick.at), y2: y(tick.at) }),
      svg('text', { class: 'tick', x: 0, y: y(tick.at) - 4 }, tick.text),
    ]),
    points.map(({ day, value, error }) => [
      svg('line', {
        class: 'error',
        x1: `${x(day)}%`,
        x2: `${x(day)}%`,
        y1: y(value - error),
        y2: y(value + error),
      }),
      svg('circle', { class: 'dot', cx: `${x(day)}%`, cy: y(value), r: 5 }),
    ]),
    tickTexts(days, x, HEIGHT - 8),
  );
}
