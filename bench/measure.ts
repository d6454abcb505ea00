import { existsSync, readFileSync } from 'node:fs';
import type { Result } from '#shared/kernel/result.ts';

/** Shows a waiting person what is being measured. */
export type Progress = (text: string) => void;

export interface Report {
  readonly text: string;
  /** Aims and guards that do not depend on the speed of the machine and are missed, as sentences. */
  readonly missed: readonly string[];
}

/** A part of the bench. Its answers are checked before their times are believed: a call that fails throws. */
export interface Part {
  readonly title: string;
  /** @param isQuick one small round: the fewest repetitions, and smaller inputs where their size is not the point */
  readonly run: (progress: Progress, isQuick: boolean) => Report | Promise<Report>;
}

/** What few repetitions may add to a ratio on a busy machine. */
const QUICK_ROOM = 2;

/** Returns the guard of a round: a small round gets twice the room. */
export const guardIn = (guard: number, isQuick: boolean): number => (isQuick ? QUICK_ROOM * guard : guard);

/** A case to time: several calls that differ in their input, as the positions of a run do. */
export interface Timed {
  readonly name: string;
  readonly calls: readonly (() => unknown)[];
}

/** The times of one `Timed`, in milliseconds over its calls. */
export interface Timing {
  readonly name: string;
  /** Wall-clock time over every call of every round, other load of the machine included. */
  readonly p50: number;
  readonly p95: number;
  /** The median call, each call at the best of its rounds: what it costs when nothing else has the processor. Ratios are made of these. */
  readonly best: number;
  /** CPU time of the thread for a mean call, garbage collection on it included. */
  readonly cpu: number;
}

/**
 * Times cases against each other. They take turns, so that a busy moment of the machine touches all of them.
 * @param rounds timed rounds, after one that is not
 */
export async function timeAll(
  cases: readonly Timed[],
  rounds: number,
  progress: Progress = () => undefined,
): Promise<Timing[]> {
  const samples = cases.map(({ name, calls }) => ({
    name,
    calls,
    all: [] as number[],
    best: calls.map(() => Infinity),
    cpu: 0,
  }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const sample of samples) {
      const { name, calls } = sample;
      progress(round === 0 ? `${name}: warming up` : `${name}: round ${round} of ${rounds}`);
      const before = process.threadCpuUsage();
      for (const [n, call] of calls.entries()) {
        const start = process.hrtime.bigint();
        const answer = call();
        if (answer instanceof Promise) await answer;
        const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
        if (round === 0) continue;
        sample.all.push(milliseconds);
        sample.best[n] = Math.min(sample.best[n] ?? Infinity, milliseconds);
      }
      const { user, system } = process.threadCpuUsage(before);
      if (round > 0) sample.cpu += (user + system) / 1000;
    }
  }
  return samples.map(({ name, all, best, cpu }) => ({
    name,
    p50: quantile(all, 0.5),
    p95: quantile(all, 0.95),
    best: quantile(best, 0.5),
    cpu: cpu / all.length,
  }));
}

/** The smallest value that a share of all values does not exceed (nearest rank). */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

/** Formats milliseconds, with three significant digits below 100. */
export function duration(milliseconds: number): string {
  return `${milliseconds >= 100 ? milliseconds.toFixed(0) : milliseconds.toPrecision(3)} ms`;
}

/** Renders rows under a head in columns: the first aligned left, the others right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, n) => Math.max(cell.length, ...rows.map((row) => (row[n] ?? '').length)));
  return [head, ...rows]
    .map((row) =>
      widths
        .map((width, n) => (n === 0 ? (row[n] ?? '').padEnd(width) : (row[n] ?? '').padStart(width)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Formats a ratio for a table. */
export function ratio(value: number): string {
  return value >= 10 ? value.toFixed(0) : value.toFixed(2);
}

/** Describes in a table whether an aim that depends on the machine is met. */
export const verdict = (met: boolean): string => (met ? 'met' : 'missed here');

/** Returns the sentence for a ratio that is above its guard or not a number; none for one within it. */
export function above(what: string, value: number, guard: number): readonly string[] {
  return value <= guard ? [] : [`${what}: ${ratio(value)}, guard ${guard}`];
}

/** Returns a value that must be there. @throws {Error} with the failure */
export function unwrap<T, E>(result: Result<T, E>, describe: (error: E) => string = String): T {
  if (!result.ok) throw new Error(describe(result.error));
  return result.value;
}

const STATUS = '/proc/self/status';

/**
 * Returns the peak memory of this process so far, in megabytes. Uses the kernel's mark where there is one, since Node's figure starts with the
 * size of the parent process.
 */
export function peakMb(): number {
  const mark = existsSync(STATUS)
    ? /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(STATUS, 'utf8'))?.[1]
    : undefined;
  return (mark === undefined ? process.resourceUsage().maxRSS : Number(mark)) / 1024;
}
