import type { StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import type { StopReason } from '#shared/contract/stop-reason.ts';
import type {
  Acknowledgements,
  AdaptiveRunState,
  StopCause,
} from '#functions/mastery/continuation/run-state.ts';
import type { RunBasis } from './basis.ts';
import type { RunIdentity } from './identity.ts';
import { digestOutcomes, type RunSession, type ScoredOutcome } from './outcomes.ts';

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
    eventNames: 'uuid',
    ...(resultsStudentId === undefined ? {} : { resultsStudentId }),
    offers: [],
    consumed: { count: 0, digest: digestOutcomes([]) },
    stopReason: null,
    acknowledgements: {},
  };
}

/** (none) or in_progress → in_progress: QTI delivers one more item, once all before it are consumed [MA-078]. */
export function addOffer(
  state: AdaptiveRunState,
  {
    deliverySessionId,
    rootArtifactVersionId: artifactVersionId,
  }: Pick<RunSession, 'deliverySessionId' | 'rootArtifactVersionId'>,
): AdaptiveRunState {
  return { ...state, offers: [...state.offers, { deliverySessionId, artifactVersionId }] };
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
  const outcomes = [...consumed, news];
  const { attemptId, traceRef } = news;
  const mark = {
    consumedAttemptId: attemptId,
    ...(traceRef === undefined ? {} : { consumedTraceRef: traceRef }),
  };
  return {
    state: {
      ...state,
      offers: state.offers.map((offer, at) => (at === consumed.length ? { ...offer, ...mark } : offer)),
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
  return {
    ...state,
    offers: state.offers.slice(0, state.consumed.count),
    stopReason: stop.reason,
    stopCause: stop.cause,
  };
}

/** finalizing → finalizing or completed: an owner has acknowledged something. An acknowledgement is only ever added. */
export function acknowledge(state: AdaptiveRunState, news: Acknowledgements): AdaptiveRunState {
  return { ...state, acknowledgements: { ...news, ...state.acknowledgements } };
}
