import type { StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import type { StopReason } from '#shared/contract/stop-reason.ts';
import { outstandingOffer, statusOf } from '#functions/mastery/continuation/run-state.ts';
import type {
  Acknowledgements,
  AdaptiveRunState,
  Offer,
  StopCause,
} from '#functions/mastery/continuation/run-state.ts';
import type { RunBasis } from './basis.ts';
import type { RunIdentity } from './identity.ts';
import { digestOutcomes } from './outcomes.ts';
import type { ScoredOutcome } from './outcomes.ts';

// The transitions of a run, in the order in which it makes them: in_progress, finalizing, completed.

/** (none) → in_progress, before its first offer: everything is pinned. */
export function startState(
  tenantId: string,
  { runMode, selectionPolicyId, scaleCalibrationId, resultsStudentId }: StartAdaptiveRunRequest,
  identity: RunIdentity,
  { policy, calibration, pins }: Pick<RunBasis, 'policy' | 'calibration' | 'pins'>,
): AdaptiveRunState {
  return {
    ...identity,
    version: 1,
    tenantId,
    runMode,
    selectionPolicyId,
    selectionPolicyChecksum: policy.checksum,
    scaleCalibrationId,
    scaleCalibrationChecksum: calibration.document.checksum,
    pins,
    ...(resultsStudentId === undefined ? {} : { resultsStudentId }),
    offers: [],
    consumed: { count: 0, digest: digestOutcomes([]) },
    stopReason: null,
    acknowledgements: {},
  };
}

/** (none) or in_progress → in_progress: QTI delivers one more item. At most one item is outstanding at a time [MA-078]. */
export function addOffer(state: AdaptiveRunState, offer: Offer): AdaptiveRunState {
  if (state.stopReason !== null || outstandingOffer(state) !== undefined)
    throw new Error('addOffer: the run has stopped or an item is outstanding');
  return { ...state, offers: [...state.offers, offer] };
}

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

/** finalizing → finalizing or completed: an owner has acknowledged something. An acknowledgement is only ever added. */
export function acknowledge(state: AdaptiveRunState, news: Acknowledgements): AdaptiveRunState {
  if (statusOf(state) === 'in_progress') throw new Error('acknowledge: the run has not stopped');
  return { ...state, acknowledgements: { ...news, ...state.acknowledgements } };
}
