import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/** The names of everything that a run writes upstream (docs/adaptive-run.md has the table). */
export interface RunNames {
  /** Returns QTI's Idempotency-Key of the offer at a place of the run, from 1. */
  readonly offerKey: (sequence: number) => string;
  /** Results' name for the run's record, which Results echoes. */
  readonly producerResultId: string;
  /** Results' Idempotency-Key of the run's set of components, and its name for the component of one knowledge component. */
  readonly componentsKey: string;
  readonly componentId: (kcGuid: string) => string;
  /** Caliper's ids of the completion event, of the graded attempt, and of the generated score. */
  readonly completionEventIri: string;
  readonly attemptIri: string;
  readonly scoreIri: string;
}

/** Derives names from the tenant and the run's seed: a retry names the same things again. */
export function namesOf({ tenantId, runSeed }: Pick<AdaptiveRunState, 'tenantId' | 'runSeed'>): RunNames {
  const named = (purpose: string, ...parts: readonly string[]): string =>
    deterministicUuid(`mastery-${purpose}`, tenantId, runSeed, ...parts);
  const producerResultId = `mastery-${named('result')}`;
  return {
    offerKey: (sequence) => named('offer', String(sequence)),
    producerResultId,
    componentsKey: `${producerResultId}-components`,
    componentId: (kcGuid) => named('component', kcGuid),
    completionEventIri: `urn:uuid:${named('completion')}`,
    attemptIri: `urn:uuid:${named('attempt')}`,
    scoreIri: `urn:uuid:${named('score')}`,
  };
}
