import { callOf, type RecordedCalls } from './recorded.ts';

/** What a stage has to serve. */
export interface Traffic {
  /** Adaptive runs per month. */
  readonly runs: number;
  /** Offered items per run: each takes an inspect and an advance. */
  readonly itemsPerRun: number;
  /** Attempt reports that are read per month. */
  readonly reports: number;
  /** Calls of other operations per month. */
  readonly others: Readonly<Record<string, number>>;
  /** Milliseconds that one call of an owner takes. */
  readonly ownerMs: number;
  /** The busiest second, as a multiple of the mean of school hours. */
  readonly peak: number;
}

/** Learners take tests on some 20 days a month, in some six hours a day. */
export const SCHOOL_SECONDS = 20 * 6 * 3_600;

/** Milliseconds that a call takes in addition to the time of its owners: checks, tokens, computation, stores. */
export const OWN_MS = 100;

/** Returns the traffic of so many learners: in a month, each takes one run, and four reports on each are read. */
export function trafficOf(learners: number): Traffic {
  return { runs: learners, itemsPerRun: 15, reports: 4 * learners, others: {}, ownerMs: 100, peak: 5 };
}

/** One operation's share of the traffic. */
export interface Share {
  readonly operationId: string;
  readonly perMonth: number;
  /** Calls in the busiest second. */
  readonly peakPerSecond: number;
  /** How long one call takes, in milliseconds: an estimate from its owners' time. */
  readonly milliseconds: number;
}

/** Returns the calls of each operation, the most frequent first. */
export function sharesOf(traffic: Traffic, recording: RecordedCalls): readonly Share[] {
  const { runs, itemsPerRun, reports, others, ownerMs, peak } = traffic;
  const perMonth = new Map<string, number>();
  const calls: readonly (readonly [operationId: string, count: number])[] = [
    ['startAdaptiveRun', runs],
    ['inspectAdaptiveRun', runs * itemsPerRun],
    ['advanceAdaptiveRun', runs * itemsPerRun],
    ['readAttemptReport', reports],
    ...Object.entries(others),
  ];
  for (const [operationId, count] of calls)
    perMonth.set(operationId, (perMonth.get(operationId) ?? 0) + count);
  return [...perMonth]
    .filter(([, count]) => count > 0)
    .map(([operationId, count]) => ({
      operationId,
      perMonth: count,
      peakPerSecond: (count / SCHOOL_SECONDS) * peak,
      milliseconds: OWN_MS + callOf(recording, operationId).ownersInSequence * ownerMs,
    }))
    .toSorted((a, b) => b.perMonth - a.perMonth);
}

/** Returns the sum of what each share counts for. */
export function sumOf(shares: readonly Share[], value: (share: Share) => number): number {
  return shares.reduce((sum, share) => sum + value(share), 0);
}

/** Lambda's own lines (START, END, REPORT) and the line of the access log. */
const OTHER_LOG_BYTES = 1_000;

/** Returns the bytes of log lines of a month. */
export function logBytesOf(traffic: Traffic, recording: RecordedCalls): number {
  return sumOf(
    sharesOf(traffic, recording),
    ({ operationId, perMonth }) => perMonth * (callOf(recording, operationId).logBytes + OTHER_LOG_BYTES),
  );
}
