import { markup } from '../pages/markup.ts';
import type { Markup } from '../pages/markup.ts';
import { picture } from '../pages/picture.ts';

/** A point of a picture, in the units of its axes. */
export interface Point {
  readonly x: number;
  readonly y: number;
  /** What the reader of the picture is told of it. */
  readonly label: string;
}

/** One axis: what it shows, from where to where, and where it has marks. */
export interface Axis {
  readonly title: string;
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** What is drawn between the axes, the first at the bottom. */
export type Mark =
  | {
      readonly kind: 'line';
      readonly style: 'aim' | 'seen';
      readonly points: readonly { x: number; y: number }[];
    }
  | { readonly kind: 'band'; readonly from: number; readonly to: number }
  | { readonly kind: 'dots'; readonly size: 'small' | 'large'; readonly points: readonly Point[] }
  | { readonly kind: 'bars'; readonly width: number; readonly points: readonly Point[] };

/** A picture; `id` is unique in its document. */
export interface Chart {
  readonly id: string;
  readonly title: string;
  /** What there is to see, in words, for whoever does not see it. */
  readonly description: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly marks: readonly Mark[];
}

const WIDTH = 560;
const HEIGHT = 360;
const MARGIN = { left: 62, right: 14, top: 14, bottom: 48 };
const RADIUS = { small: 2, large: 4 };

/** The picture as an inline SVG image; colours come from the classes of the page. */
export function svg({ id, title, description, x, y, marks }: Chart): Markup {
  const px = (value: number): number =>
    MARGIN.left + ((WIDTH - MARGIN.left - MARGIN.right) * (value - x.from)) / (x.to - x.from);
  const py = (value: number): number =>
    HEIGHT - MARGIN.bottom - ((HEIGHT - MARGIN.top - MARGIN.bottom) * (value - y.from)) / (y.to - y.from);
  const inside = ({ x: a, y: b }: { x: number; y: number }): boolean =>
    a >= x.from && a <= x.to && b >= y.from && b <= y.to;
  const [left, right, top, bottom] = [px(x.from), px(x.to), py(y.to), py(y.from)];
  const draw = (mark: Mark): Markup[] => {
    switch (mark.kind) {
      case 'line': {
        const points = mark.points.filter(inside).map((point) => `${n(px(point.x))},${n(py(point.y))}`);
        return [markup`<polyline class="${mark.style}" points="${points.join(' ')}"/>`];
      }
      case 'band':
        return [
          markup`<rect class="band" x="${n(left)}" y="${n(py(mark.to))}" width="${n(right - left)}" height="${n(py(mark.from) - py(mark.to))}"/>`,
        ];
      case 'dots':
        return mark.points
          .filter(inside)
          .map(
            (point) =>
              markup`<circle class="${mark.size}" cx="${n(px(point.x))}" cy="${n(py(point.y))}" r="${RADIUS[mark.size]}"><title>${point.label}</title></circle>`,
          );
      case 'bars':
        return mark.points.map((point) => {
          const [start, end] = [px(point.x - mark.width / 2), px(point.x + mark.width / 2)];
          const height = bottom - py(point.y);
          return markup`<rect class="bar" x="${n(start)}" y="${n(bottom - height)}" width="${n(end - start)}" height="${n(height)}"><title>${point.label}</title></rect>`;
        });
    }
  };
  return picture(id, { width: WIDTH, height: HEIGHT }, { title, description }, [
    ...y.ticks.map(
      ({ at, text }) =>
        markup`<line class="grid" x1="${n(left)}" x2="${n(right)}" y1="${n(py(at))}" y2="${n(py(at))}"/><text class="tick" x="${n(left - 8)}" y="${n(py(at) + 4)}" text-anchor="end">${text}</text>`,
    ),
    ...x.ticks.map(
      ({ at, text }) =>
        markup`<text class="tick" x="${n(px(at))}" y="${n(bottom + 18)}" text-anchor="middle">${text}</text>`,
    ),
    ...marks.flatMap(draw),
    markup`<line class="axis" x1="${n(left)}" x2="${n(right)}" y1="${n(bottom)}" y2="${n(bottom)}"/>`,
    markup`<line class="axis" x1="${n(left)}" x2="${n(left)}" y1="${n(top)}" y2="${n(bottom)}"/>`,
    markup`<text class="label" x="${n((left + right) / 2)}" y="${HEIGHT - 8}" text-anchor="middle">${x.title}</text>`,
    markup`<text class="label" transform="translate(14 ${n((top + bottom) / 2)}) rotate(-90)" text-anchor="middle">${y.title}</text>`,
  ]);
}

/** Marks at even steps, with so many decimals. */
export function ticks(from: number, to: number, step: number, digits: number): Axis['ticks'] {
  const count = Math.round((to - from) / step);
  return Array.from({ length: count + 1 }, (_, i) => {
    const at = from + i * step;
    return { at, text: at.toFixed(digits).replace('-', '−') };
  });
}

/** A coordinate: tenths of a pixel are enough, and keep the document small. */
function n(value: number): number {
  return Number(value.toFixed(1));
}
