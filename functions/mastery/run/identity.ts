import { createHmac } from 'node:crypto';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import type { StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';

/** The names of a run upstream, derived and never stored: the same start finds them again, and no other party can compute them. */
export interface RunIdentity extends Pick<AdaptiveRunState, 'candidateRef' | 'runSeed' | 'startedAt'> {
  /** Only in the delivery snapshots of the run's offers: no response returns it and no request may contain it. */
  readonly runTag: string;
}

/**
 * Derives the identity of a run from the start's idempotency record with the pseudonym key. Without that key it cannot be linked to the record's operation
 * id, and QTI by itself cannot link it to a learner. A learner has one pseudonym per bank only if the policy considers items met before; otherwise each
 * run has its own, as every conformance run does.
 */
export async function deriveIdentity(
  keys: KeyRing,
  tenantId: string,
  control: { readonly operationId: string; readonly createdAt: number },
  { resultsStudentId, testBankId }: Pick<StartAdaptiveRunRequest, 'resultsStudentId' | 'testBankId'>,
  { eligibilityRules: { priorUse = 'allow' } }: Pick<SelectionPolicy, 'eligibilityRules'>,
): Promise<RunIdentity> {
  const { key } = await keys.active('pseudonym');
  const derive = (purpose: string, ...parts: readonly string[]): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([purpose, tenantId, ...parts]))
      .digest('hex');
  const candidate =
    priorUse === 'allow' || resultsStudentId === undefined
      ? derive('candidate', control.operationId)
      : derive('learner', resultsStudentId, testBankId);
  return {
    candidateRef: `candidate-${candidate.slice(0, 40)}`,
    runSeed: derive('seed', control.operationId),
    runTag: derive('tag', control.operationId),
    startedAt: control.createdAt,
  };
}
