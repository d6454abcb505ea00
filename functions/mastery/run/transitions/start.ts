import type { ExecutionPins, StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import type { RunIdentity } from '../identity.ts';
import { digestOutcomes } from '../outcomes.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';

/** (none) → in_progress, before its first offer: everything is pinned. */
export function startState(
  tenantId: string,
  request: StartAdaptiveRunRequest,
  identity: RunIdentity,
  pins: ExecutionPins,
  checksums: { readonly selectionPolicy: string; readonly scaleCalibration: string },
): AdaptiveRunState {
  return {
    version: 1,
    tenantId,
    runMode: request.runMode,
    selectionPolicyId: request.selectionPolicyId,
    selectionPolicyChecksum: checksums.selectionPolicy,
    scaleCalibrationId: request.scaleCalibrationId,
    scaleCalibrationChecksum: checksums.scaleCalibration,
    pins,
    candidateRef: identity.candidateRef,
    runSeed: identity.runSeed,
    runTag: identity.runTag,
    startedAt: identity.startedAt,
    ...(request.resultsStudentId === undefined ? {} : { resultsStudentId: request.resultsStudentId }),
    offers: [],
    consumed: { count: 0, digest: digestOutcomes([]) },
    stopReason: null,
    acknowledgements: {},
  };
}
