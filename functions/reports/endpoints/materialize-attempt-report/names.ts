import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';

/*
 * The names of everything that a materialization writes upstream. They are made of the platform's own ids and versions, not of the operation: any
 * materialization of the same attempt, under any key, names the same things (docs/reports.md has the table).
 */

/** One version of the record that Results has settled for an attempt. */
export interface SettledVersion {
  readonly tenantId: string;
  readonly attemptId: string;
  readonly resultRecordId: string;
  readonly version: string;
}

/** Returns Results' name for the component of one scored outcome. */
export function componentId(
  tenantId: string,
  attemptId: string,
  { qtiItemId, qtiOutcomeId }: { readonly qtiItemId: string; readonly qtiOutcomeId: string },
): string {
  return deterministicUuid('reports-component', tenantId, attemptId, qtiItemId, qtiOutcomeId);
}

/** Returns Results' Idempotency-Key of a set of components: other content is another set. */
export function componentsKey(tenantId: string, attemptId: string, contentHash: string): string {
  return deterministicUuid('reports-components', tenantId, attemptId, contentHash);
}

/** Returns Caliper's id of the event that a version of a record was settled. */
export function gradeEventIri(settled: SettledVersion): string {
  return `urn:uuid:${named('reports-grade-event', settled)}`;
}

/** Returns the IRI of the score that the event has generated. */
export function scoreIri(settled: SettledVersion): string {
  return `urn:uuid:${named('reports-score', settled)}`;
}

function named(purpose: string, { tenantId, attemptId, resultRecordId, version }: SettledVersion): string {
  return deterministicUuid(purpose, tenantId, attemptId, resultRecordId, version);
}

/** Returns an IRI for a thing that Caliper must name and that its owner names by an opaque id. */
export function entityIri(tenantId: string, kind: string, id: string): string {
  return `urn:mastery-reports:${encodeURIComponent(tenantId)}:${kind}:${encodeURIComponent(id)}`;
}
