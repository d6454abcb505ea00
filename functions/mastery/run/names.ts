import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/**
 * The names of everything that a run writes upstream, made of the tenant and the run's seed: a retry names the same thing again
 * (docs/adaptive-run.md has the table).
 */
type NamedRun = Pick<AdaptiveRunState, 'tenantId' | 'runSeed'>;

function named(run: NamedRun, purpose: string, ...parts: readonly string[]): string {
  return deterministicUuid(`mastery-${purpose}`, run.tenantId, run.runSeed, ...parts);
}

/** QTI's Idempotency-Key of the offer at a place of the run, from 1. */
export function offerKey(run: NamedRun, sequence: number): string {
  return named(run, 'offer', String(sequence));
}

/** Results' name for the run's record, which Results echoes. */
export function producerResultId(run: NamedRun): string {
  return `mastery-${named(run, 'result')}`;
}

/** Results' Idempotency-Key of the run's set of components. */
export function componentsKey(run: NamedRun): string {
  return `${producerResultId(run)}-components`;
}

/** Results' name for the component of one knowledge component. */
export function componentId(run: NamedRun, kcGuid: string): string {
  return named(run, 'component', kcGuid);
}

/** Caliper's id of the completion event. */
export function completionEventIri(run: NamedRun): string {
  return `urn:uuid:${named(run, 'completion')}`;
}

/** The graded attempt that the completion event is about. */
export function attemptIri(run: NamedRun): string {
  return `urn:uuid:${named(run, 'attempt')}`;
}

/** The score that the completion event has generated. */
export function scoreIri(run: NamedRun): string {
  return `urn:uuid:${named(run, 'score')}`;
}
