import type { Axis } from './document.ts';
import type { Speaker } from './speaker.ts';

/** Returns about five round marks between the ends, and the ends. */
export function roundTicks(low: number, high: number, format: (value: number) => string): Axis['ticks'] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const inner = Array.from({ length: 12 }, (_, at) => (Math.floor(low / step) + at) * step);
  return [
    ...new Set([low, ...inner.filter((at) => at >= low + step / 2 && at <= high - step / 2), high]),
  ].map((at) => ({ at, text: format(at) }));
}

/**
 * Returns the ends of an axis for values of a scale that states none: from zero to the next power of ten, and as far below zero if it has to be.
 */
export function endsFor(values: readonly number[]): readonly [low: number, high: number] {
  const size = Math.max(...values.map(Math.abs)) || 1;
  const end = 10 ** Math.ceil(Math.log10(size) - 1e-9);
  return [values.some((value) => value < 0) ? -end : 0, end];
}

/** Returns round ends around the values, for a picture that compares them with each other. */
export function roundedEnds(values: readonly number[]): readonly [low: number, high: number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const step = 10 ** Math.floor(Math.log10(Math.max(Math.abs(least), Math.abs(most), 1)));
  const low = Math.floor(least / step) * step;
  return [low, Math.max(Math.ceil(most / step) * step, low + step)];
}

interface ScoreAxis {
  readonly value: number;
  readonly error?: number | undefined;
  readonly low: number;
  readonly high: number;
  readonly what: string;
  readonly figure: string;
}

/** A score on the whole of its scale, with one standard error to both sides. */
export function scoreAxis({ texts, number }: Speaker, score: ScoreAxis): Axis {
  const { value, error, low, high, what, figure } = score;
  return {
    label: texts.axisLabel(what, figure, number(low), number(high)),
    low,
    high,
    ticks: roundTicks(low, high, number),
    zones: [],
    ...(error === undefined ? {} : { band: [value - error, value + error] }),
    marks: [{ at: value, kind: 'value' }],
  };
}
