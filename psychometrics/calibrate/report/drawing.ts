import { markup } from '#psychometrics/pages/markup.ts';
import type { Markup } from '#psychometrics/pages/markup.ts';
import { figure } from './figures.ts';

/** From values to places on paper. */
export interface Axis {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** Where a value stands, to a hundredth of a pixel; outside the axis at its ends. */
export function place({ from, to, start, end }: Axis, value: number): number {
  const share = to === from ? 0.5 : Math.min(1, Math.max(0, (value - from) / (to - from)));
  return pixel(start + share * (end - start));
}

export function pixel(value: number): number {
  return Math.round(value * 100) / 100;
}

/** About `count` round values that span an axis. */
function ticks(from: number, to: number, count: number): number[] {
  const raw = (to - from) / count;
  if (!(raw > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step =
    [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) ?? raw;
  const values: number[] = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to + 1e-9 * step; n += 1) values.push(n * step);
  return values;
}

/** A horizontal axis at the bottom, with lines up to `top`. */
export function bottomAxis(
  axis: Axis,
  bottom: number,
  top: number,
  label: string,
  decimals: number,
  count = 5,
): Markup[] {
  return [
    ...ticks(axis.from, axis.to, count).map((value) => {
      const x = place(axis, value);
      return markup`<line class="grid" x1="${x}" y1="${top}" x2="${x}" y2="${bottom}"/><text class="tick" x="${x}" y="${bottom + 14}" text-anchor="middle">${figure(value, decimals)}</text>`;
    }),
    markup`<text class="label" x="${pixel((axis.start + axis.end) / 2)}" y="${bottom + 30}" text-anchor="middle">${label}</text>`,
  ];
}

/** A vertical axis at the left, with lines to `right`. */
export function leftAxis(
  axis: Axis,
  left: number,
  right: number,
  label: string,
  decimals: number,
  count = 4,
): Markup[] {
  const middle = pixel((axis.start + axis.end) / 2);
  return [
    ...ticks(axis.from, axis.to, count).map((value) => {
      const y = place(axis, value);
      return markup`<line class="grid" x1="${left}" y1="${y}" x2="${right}" y2="${y}"/><text class="tick" x="${left - 6}" y="${y + 4}" text-anchor="end">${figure(value, decimals)}</text>`;
    }),
    label === ''
      ? markup``
      : markup`<text class="label" x="12" y="${middle}" text-anchor="middle" transform="rotate(-90 12 ${middle})">${label}</text>`,
  ];
}

/** A line through points. */
export function curve(
  className: string,
  x: Axis,
  y: Axis,
  points: readonly (readonly [number, number])[],
): Markup {
  const path = points.map(([a, b], n) => `${n === 0 ? 'M' : 'L'}${place(x, a)} ${place(y, b)}`).join('');
  return markup`<path class="${className}" d="${path}"/>`;
}

/** The beginning of a name, so that it stays in its margin; the table has it whole. */
export function brief(name: string, length = 14): string {
  return name.length > length ? `${name.slice(0, length - 1)}…` : name;
}
