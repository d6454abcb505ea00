import type { Offer, AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { outstandingOffer } from '#functions/mastery/continuation/run-state.ts';

/** (none) or in_progress → in_progress: QTI delivers one more item. At most one item is outstanding at a time [MA-078]. */
export function addOffer(state: AdaptiveRunState, offer: Offer): AdaptiveRunState {
  if (state.stopReason !== null || outstandingOffer(state) !== undefined)
    throw new Error('addOffer: the run has stopped or an item is outstanding');
  return { ...state, offers: [...state.offers, offer] };
}
