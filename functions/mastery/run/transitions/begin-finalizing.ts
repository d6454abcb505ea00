import type { StopReason } from '#shared/contract/stop-reason.ts';
import { outstandingOffer } from '#functions/mastery/continuation/run-state.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';

/** in_progress → finalizing: a stopping rule holds; nothing is offered any more, and what is left is to be acknowledged [MA-137]. */
export function beginFinalizing(state: AdaptiveRunState, stopReason: StopReason): AdaptiveRunState {
  if (state.stopReason !== null || outstandingOffer(state) !== undefined)
    throw new Error('beginFinalizing: the run has stopped already or an item is outstanding');
  return { ...state, stopReason };
}
