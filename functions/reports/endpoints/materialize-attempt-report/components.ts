import { incomplete } from '#functions/reports/facts/incomplete.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledComponentsAck, SettledComponentsRequest } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { componentId, componentsKey } from './names.ts';

/** What is handed to Results, with the same bytes under the same key at every repetition. */
export interface ComponentSet {
  readonly idempotencyKey: string;
  readonly body: SettledComponentsRequest;
}

/**
 * The scored outcomes of an attempt as the components that Results settles it by. They are QTI's own ids and times; nothing is scored,
 * weighed or mapped here [RP-027]. Outcomes that are missing, or that no pair of ids tells apart, are QTI's gap: 503.
 */
export function componentsOf(evidence: AttemptEvidence): Result<ComponentSet, Problem> {
  const { tenantId, attemptId, outcomes } = evidence;
  if (outcomes.length === 0) return err(incomplete('qti', 'QTI has no scored outcome of the attempt.'));
  const components = outcomes.map(({ qtiItemId, qtiOutcomeId, scoredAt }) => ({
    componentId: componentId(tenantId, attemptId, { qtiItemId, qtiOutcomeId }),
    qtiItemId,
    qtiOutcomeId,
    scoredAt,
  }));
  if (new Set(components.map((component) => component.componentId)).size !== components.length)
    return err(incomplete('qti', 'QTI names a scored outcome of the attempt twice.'));
  const body: SettledComponentsRequest = {
    attemptId,
    evidenceVersion: evidence.version,
    contentTestSpecId: evidence.contentTestSpecId,
    contentTestSpecVersion: evidence.contentTestSpecVersion,
    components: components.toSorted((a, b) => (a.componentId < b.componentId ? -1 : 1)),
  };
  return ok({ idempotencyKey: componentsKey(tenantId, attemptId, hashCanonical(body)), body });
}

/**
 * Whether Results acknowledges the whole set: the attempt, every component and their count, and the record that QTI's lookup names, if it
 * names one already.
 */
export function isAcknowledged(
  { body }: ComponentSet,
  { resultRecordId }: Pick<AttemptEvidence, 'resultRecordId'>,
  acknowledged: SettledComponentsAck,
): boolean {
  const named = acknowledged.componentIds.toSorted();
  const sent = body.components.map((component) => component.componentId).toSorted();
  return (
    acknowledged.attemptId === body.attemptId &&
    acknowledged.resultRecordId === (resultRecordId ?? acknowledged.resultRecordId) &&
    acknowledged.count === sent.length &&
    named.length === sent.length &&
    named.every((id, at) => id === sent[at])
  );
}
