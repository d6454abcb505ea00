import { digestOutcomes } from '../outcomes.ts';
import type { ScoredOutcome } from '../outcomes.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';

/**
 * in_progress → in_progress: the outstanding item's outcome becomes part of the evidence. Consumes exactly one outcome, so that every
 * advance is one step of a canonical replay.
 * `consumed` are the outcomes that earlier advances consumed, in sequence.
 */
export function consumeOutcome(
  state: AdaptiveRunState,
  consumed: readonly ScoredOutcome[],
  news: ScoredOutcome,
): { readonly state: AdaptiveRunState; readonly outcomes: readonly ScoredOutcome[] } {
  const offer = state.offers[news.sequence - 1];
  if (state.stopReason !== null || offer === undefined || state.consumed.count + 1 !== news.sequence)
    throw new Error('consumeOutcome: the outcome does not belong to the outstanding offer');
  const outcomes = [...consumed, news];
  return {
    state: {
      ...state,
      offers: state.offers.with(news.sequence - 1, {
        ...offer,
        consumedAttemptId: news.attemptId,
        ...(news.traceRef === undefined ? {} : { consumedTraceRef: news.traceRef }),
      }),
      consumed: { count: outcomes.length, digest: digestOutcomes(outcomes) },
    },
    outcomes,
  };
}
