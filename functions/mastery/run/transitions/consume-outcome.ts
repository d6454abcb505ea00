import { digestOutcomes } from '../outcomes.ts';
import type { ScoredOutcome } from '../outcomes.ts';
import { outstandingOffer } from '../state.ts';
import type { RunState } from '../state.ts';

/**
 * in_progress → in_progress: the outstanding item's outcome becomes part of the evidence. Consumes exactly one outcome, so that every
 * advance is one step of a canonical replay.
 * `consumed` are the outcomes that earlier advances consumed, in sequence.
 */
export function consumeOutcome(
  state: RunState,
  consumed: readonly ScoredOutcome[],
  news: ScoredOutcome,
): { readonly state: RunState; readonly outcomes: readonly ScoredOutcome[] } {
  if (state.stopReason !== null || outstandingOffer(state)?.sequence !== news.sequence)
    throw new Error('consumeOutcome: the outcome does not belong to the outstanding offer');
  const outcomes = [...consumed, news];
  return {
    state: { ...state, consumed: { count: outcomes.length, digest: digestOutcomes(outcomes) } },
    outcomes,
  };
}
