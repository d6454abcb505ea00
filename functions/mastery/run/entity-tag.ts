import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { strongEntityTag } from '#shared/kernel/entity-tag.ts';
import { isProcessed } from './outcomes.ts';
import type { NamedRuntime } from './outcomes.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/**
 * The run's strong validator [MA-048]: what the continuation pins and how far it has come, and every attempt that QTI holds now for the
 * sessions that it names. A newly scored attempt changes it; a session that the continuation does not name never does.
 */
export function runEntityTag(state: AdaptiveRunState, runtime: Pick<NamedRuntime, 'sessions'>): string {
  return strongEntityTag(
    hashCanonical({
      tenantId: state.tenantId,
      runSeed: state.runSeed,
      runMode: state.runMode,
      selectionPolicyId: state.selectionPolicyId,
      scaleCalibrationId: state.scaleCalibrationId,
      pins: state.pins,
      consumed: state.consumed,
      stopReason: state.stopReason,
      acknowledgements: state.acknowledgements,
      sessions: runtime.sessions.map(({ offer, attempts }) => ({
        deliverySessionId: offer.deliverySessionId,
        artifactVersionId: offer.artifactVersionId,
        attempts: attempts.map((attempt) => ({
          attemptId: attempt.attemptId,
          attemptNumber: attempt.attemptNumber,
          status: attempt.status,
          outcomes: attempt.outcomes ?? null,
          scoredAt: attempt.scoredAt ?? null,
          processed: isProcessed(attempt),
        })),
      })),
    }),
  );
}
