import { statusOf } from '#functions/mastery/continuation/run-state.ts';
import type { Acknowledgements, AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';

/** finalizing → finalizing or completed: an owner has acknowledged something. An acknowledgement is only ever added. */
export function acknowledge(state: AdaptiveRunState, news: Acknowledgements): AdaptiveRunState {
  if (statusOf(state) === 'in_progress') throw new Error('acknowledge: the run has not stopped');
  return { ...state, acknowledgements: { ...news, ...state.acknowledgements } };
}
