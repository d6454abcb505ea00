import type { StopReason } from '#shared/contract/stop-reason.ts';
import type { AdaptiveRunState, StopCause } from '#functions/mastery/continuation/run-state.ts';

/**
 * in_progress → finalizing: a stopping rule holds; nothing is offered any more, and what is left is to be acknowledged [MA-137]. An item that
 * was not answered in time leaves the run: whatever is handed in for it later, what counts is fixed by the token from here on.
 */
export function beginFinalizing(
  state: AdaptiveRunState,
  stop: { readonly reason: StopReason; readonly cause: StopCause },
): AdaptiveRunState {
  if (state.stopReason !== null) throw new Error('beginFinalizing: the run has stopped already');
  return {
    ...state,
    offers: state.offers.slice(0, state.consumed.count),
    stopReason: stop.reason,
    stopCause: stop.cause,
  };
}
