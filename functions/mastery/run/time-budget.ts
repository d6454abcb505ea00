import { parseUtcInstant } from '#shared/kernel/instant.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';
import type { ScoredOutcome } from './outcomes.ts';
import type { RunRuntime } from './runtime.ts';

/**
 * The decision of an advance about the outstanding item: it consumes the answer, after that many milliseconds of the budget; it waits, since nothing is
 * decided yet; or it stops, since the budget is over and the item was not answered in time.
 */
export type TimeVerdict =
  | 'wait'
  | 'stop'
  | { readonly news: ScoredOutcome; readonly elapsedMilliseconds: number };

/**
 * Applies the hard time budget [MA-111]. Each difference is of one clock: a hand-in counts from the first session's creation, both QTI's; an advance from
 * the clock's start, both ours. An answer handed in before the budget is over counts, even if it is scored and consumed later. The first scored answer
 * counts at any time: a run without one has nothing to publish.
 * @param advancedAt epoch milliseconds of the creation of this advance's control record, so that a replay has the same result
 */
export function checkTimeBudget(
  state: AdaptiveRunState,
  { consumed, news, pending, named }: RunRuntime,
  timeBudgetSeconds: number | null,
  advancedAt: number,
): TimeVerdict {
  const budget = timeBudgetSeconds === null ? Infinity : timeBudgetSeconds * 1000;
  const firstSession = parseUtcInstant(named.sessions[0]?.createdAt ?? '') ?? NaN;
  const sinceStart = advancedAt - clockStartOf(state);
  const isLate = (handedInMs: number): boolean => handedInMs - firstSession >= budget;
  if (news !== undefined)
    return isLate(news.handedInMs) && consumed.length > 0
      ? 'stop'
      : { news, elapsedMilliseconds: Math.max(news.handedInMs - firstSession, sinceStart) };
  if (sinceStart < budget || consumed.length === 0) return 'wait';
  if (pending === undefined) return 'stop';
  // The time of the hand-in may become known only with the score.
  return pending.handedInMs !== undefined && isLate(pending.handedInMs) ? 'stop' : 'wait';
}

/** How far a container's clock may be behind QTI's, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Returns when the time budget begins to run, in epoch milliseconds of our clock: QTI's time of the first session's creation, limited to the time between
 * the creation of the start's idempotency record and now, with tolerance for a container whose clock is behind: a repeated start must return the same
 * time from any container. So a wrong clock of QTI's moves it by at most the time until the last repetition of the start, and that tolerance.
 */
export function clockStartAt(sessionCreatedAt: string, startedAt: number, now: number): number {
  const latest = now + CLOCK_SKEW_MS;
  return Math.max(startedAt, Math.min(parseUtcInstant(sessionCreatedAt) ?? startedAt, latest));
}

/** Returns when the time budget is over, in epoch milliseconds of our clock; undefined without one. */
export function timeBudgetEndOf(
  state: AdaptiveRunState,
  timeBudgetSeconds: number | null,
): number | undefined {
  return timeBudgetSeconds === null ? undefined : clockStartOf(state) + timeBudgetSeconds * 1000;
}

function clockStartOf({ clockStart, startedAt }: AdaptiveRunState): number {
  return clockStart ?? startedAt;
}
