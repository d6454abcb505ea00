import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/**
 * Derives the names of everything that a run writes upstream (docs/adaptive-run.md has the table) from the tenant and the run's seed: a retry names the
 * same things again.
 */
export function namesOf({ tenantId, runSeed }: Pick<AdaptiveRunState, 'tenantId' | 'runSeed'>) {
  const named = (purpose: string, ...parts: readonly string[]): string =>
    deterministicUuid(`mastery-${purpose}`, tenantId, runSeed, ...parts);
  const producerResultId = `mastery-${named('result')}`;
  return {
    /** QTI's Idempotency-Key of the offer at a place of the run, from 1. */
    offerKey: (sequence: number) => named('offer', String(sequence)),
    /** Results' name for the run's record, which Results echoes. */
    producerResultId,
    /** Results' Idempotency-Key of the run's set of components, and its name for the component of one knowledge component. */
    componentsKey: `${producerResultId}-components`,
    componentId: (kcGuid: string) => named('component', kcGuid),
    /** Caliper's ids of the completion event, of the graded attempt, and of the generated score. */
    completionEventIri: `urn:uuid:${named('completion')}`,
    attemptIri: `urn:uuid:${named('attempt')}`,
    scoreIri: `urn:uuid:${named('score')}`,
  };
}
export type RunNames = ReturnType<typeof namesOf>;
