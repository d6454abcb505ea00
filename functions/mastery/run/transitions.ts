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

/** Pins everything, before the first offer: (none) → in_progress. */
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
    ...(runMode === 'production_learner' ? { personFit: 'prequential/1' } : {}),
    ...(resultsStudentId === undefined ? {} : { resultsStudentId }),
    offers: [],
    consumed: { count: 0, digest: digestOutcomes([]) },
    stopReason: null,
    acknowledgements: {},
  };
}

/** Adds one more item, once all before it are consumed: (none) or in_progress → in_progress [MA-078]. */
export function addOffer(
  state: AdaptiveRunState,
  {
    deliverySessionId,
    rootArtifactVersionId,
  }: Pick<RunSession, 'deliverySessionId' | 'rootArtifactVersionId'>,
): AdaptiveRunState {
  const added = { deliverySessionId, artifactVersionId: rootArtifactVersionId };
  return { ...state, offers: [...state.offers, added] };
}

/**
 * Adds the outstanding item's outcome to the evidence: in_progress → in_progress. Consumes exactly one outcome, so that every advance is one step of a
 * canonical replay.
 * @param consumed the outcomes that earlier advances consumed, in sequence
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
 * Stops offering items, since a stopping rule holds: in_progress → finalizing, until the owners have acknowledged everything [MA-137]. An item that was not
 * answered in time leaves the run: from here on, the token determines which answers count.
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

/** Adds an owner's acknowledgement, and never removes one: finalizing → finalizing or completed. */
export function acknowledge(state: AdaptiveRunState, news: Acknowledgements): AdaptiveRunState {
  return { ...state, acknowledgements: { ...news, ...state.acknowledgements } };
}
