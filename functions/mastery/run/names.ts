import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { RunState } from './state.ts';

/**
 * The names of everything that a run writes upstream, made of the tenant and the run's seed: a retry names the same thing again
 * (docs/adaptive-run.md has the table).
 */
export function offerKey(state: Pick<RunState, 'tenantId' | 'runSeed'>, sequence: number): string {
  return deterministicUuid('mastery-offer', state.tenantId, state.runSeed, String(sequence));
}

export function producerResultId(state: Pick<RunState, 'tenantId' | 'runSeed'>): string {
  return `mastery-${deterministicUuid('mastery-result', state.tenantId, state.runSeed)}`;
}

export function componentId(state: Pick<RunState, 'tenantId' | 'runSeed'>, kcGuid: string): string {
  return deterministicUuid('mastery-component', state.tenantId, state.runSeed, kcGuid);
}

export function completionEventIri(state: Pick<RunState, 'tenantId' | 'runSeed'>): string {
  return `urn:uuid:${deterministicUuid('mastery-completion', state.tenantId, state.runSeed)}`;
}

/** An IRI for a thing that Caliper must name and that its owner names by an opaque id. */
export function entityIri(tenantId: string, kind: string, id: string): string {
  return `urn:mastery-engine:${encodeURIComponent(tenantId)}:${kind}:${encodeURIComponent(id)}`;
}
