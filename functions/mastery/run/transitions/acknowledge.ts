import { statusOf } from '#functions/mastery/continuation/run-state.ts';
import type { Acknowledgements, RunState } from '#functions/mastery/continuation/run-state.ts';

/** finalizing → finalizing or completed: an owner has acknowledged something. An acknowledgement is only ever added. */
export function acknowledge(state: RunState, news: Acknowledgements): RunState {
  if (statusOf(state) === 'in_progress') throw new Error('acknowledge: the run has not stopped');
  return { ...state, acknowledgements: { ...news, ...state.acknowledgements } };
}
