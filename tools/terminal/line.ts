import type { Paint } from './paint.ts';

export type Style = Parameters<Paint>[0];
/** A piece of a line in one style. */
export type Segment = readonly [style: Style | 'none', text: string];

/** What a line has to keep to. */
export interface LineSpace {
  /** Columns; no line is longer. */
  readonly width: number;
  readonly paint: Paint;
}

/** Joins coloured pieces into one line of at most the given width. What could steer a terminal is shown as `�`. */
export function fit({ width, paint }: LineSpace, segments: readonly Segment[]): string {
  let left = Math.max(1, width);
  let line = '';
  for (const [style, text] of segments) {
    const shown = cut(text.replaceAll(steering, '\ufffd'), left);
    left -= columnsOf(shown);
    line += style === 'none' || shown === '' ? shown : paint(style, shown);
  }
  return line;
}

/** Control characters, line separators and what turns the direction of writing: ids and names are others' to choose. */
const steering = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** What terminals draw two columns wide. */
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;

/** How many columns a text takes. */
export function columnsOf(text: string): number {
  // Taking a text apart is slow, and most of them are ids.
  if (/^[ -~]*$/.test(text)) return text.length;
  return Array.from(graphemes.segment(text), ({ segment }) => widthOf(segment)).reduce((a, b) => a + b, 0);
}

function widthOf(grapheme: string): number {
  return wide.test(grapheme) ? 2 : 1;
}

/** Shortens to a number of columns, with an ellipsis where something is lost. */
export function cut(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  if (width < 1) return '';
  let left = width - 1;
  let kept = '';
  for (const { segment } of graphemes.segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Shortens or fills up with spaces, to exactly that many columns. */
export function column(text: string, width: number): string {
  const shown = cut(text, width);
  return shown + ' '.repeat(Math.max(0, width - columnsOf(shown)));
}

/** Filled from the left in proportion; empty below four columns. */
export function bar(share: number, width: number): string {
  if (width < 4) return '';
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

/** A measured value with its uncertainty to both sides, and where there is one, the threshold that it is held against. */
interface Measured {
  readonly value: number;
  readonly error: number;
  readonly threshold?: number;
}

/** A measured value on its axis: `●` the value, `━` what the uncertainty covers, `┃` the threshold, `◆` the value on the threshold. */
export function gauge(
  axis: { readonly low: number; readonly high: number },
  width: number,
  { value, error, threshold }: Measured,
  style: Style,
): readonly Segment[] {
  const columnAt = (at: number): number => {
    const share = axis.high <= axis.low ? 0 : (at - axis.low) / (axis.high - axis.low);
    return Math.round(Math.min(1, Math.max(0, share)) * (width - 1));
  };
  const [left, at, right] = [columnAt(value - error), columnAt(value), columnAt(value + error)];
  const mark = threshold === undefined ? undefined : columnAt(threshold);
  return Array.from({ length: Math.max(0, width) }, (_, here): Segment => {
    if (here === at) return [style, here === mark ? '◆' : '●'];
    if (here === mark) return ['yellow', '┃'];
    return here >= left && here <= right ? [style, '━'] : ['dim', '─'];
  }).reduce<Segment[]>((runs, piece) => {
    const last = runs.at(-1);
    if (last?.[0] !== piece[0]) return [...runs, piece];
    return [...runs.slice(0, -1), [piece[0], last[1] + piece[1]]];
  }, []);
}
