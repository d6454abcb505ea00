import { roundSignificant } from '#shared/kernel/numbers.ts';

export interface Ranked {
  readonly item: number;
  /** Rounded. */
  readonly gain: number;
}

/** Digits to which gains are rounded before they are compared: below them two platforms' sums may differ in order, not in meaning. */
const GAIN_DIGITS = 12;

/**
 * Items from the highest rounded gain down, those of equal gain together. NaN stands for no gain. Nothing is rounded or sorted before it is
 * asked for.
 * @param tied puts items of equal gain in order
 */
export function* byGain(
  gains: Float64Array,
  tied: (items: readonly number[]) => readonly number[],
): Generator<readonly Ranked[]> {
  const heap = heapOf(gains);
  while (heap.length > 0) {
    const gain = roundGain(gains[heap[0] ?? -1] ?? NaN);
    const items: number[] = [];
    while (heap.length > 0 && roundGain(gains[heap[0] ?? -1] ?? NaN) === gain)
      items.push(takeHighest(heap, gains));
    yield tied(items).map((item) => ({ item, gain }));
  }
}

/** A gain as it is compared. */
export function roundGain(gain: number): number {
  return roundSignificant(gain, GAIN_DIGITS);
}

/** A binary heap, the highest gain on top. */
function heapOf(gains: Float64Array): number[] {
  const heap: number[] = [];
  for (let item = 0; item < gains.length; item += 1) {
    if (!Number.isNaN(gains[item])) heap.push(item);
  }
  for (let i = (heap.length >> 1) - 1; i >= 0; i -= 1) sink(heap, gains, i);
  return heap;
}

function takeHighest(heap: number[], gains: Float64Array): number {
  const highest = heap[0] ?? -1;
  const last = heap.pop() ?? -1;
  if (heap.length > 0) {
    heap[0] = last;
    sink(heap, gains, 0);
  }
  return highest;
}

function sink(heap: number[], gains: Float64Array, from: number): void {
  const item = heap[from] ?? -1;
  const gain = gains[item] ?? 0;
  let i = from;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && (gains[heap[child + 1] ?? -1] ?? 0) > (gains[heap[child] ?? -1] ?? 0))
      child += 1;
    const below = heap[child] ?? -1;
    if ((gains[below] ?? 0) <= gain) break;
    heap[i] = below;
    i = child;
  }
  heap[i] = item;
}
