import { createHmac } from 'node:crypto';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import type { StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';

/** What names a run upstream, derived and never stored: the same start finds it again, nobody else can compute it. */
export interface RunIdentity extends Pick<AdaptiveRunState, 'candidateRef' | 'runSeed' | 'startedAt'> {
  /** In the delivery snapshots of the run's offers, and nowhere else: no answer returns it and no request may hold it. */
  readonly runTag: string;
}

/**
 * Derives the identity of a run from the start's control record with the pseudonym key: nothing of it can be linked to the record's
 * operation id without that key, nor to a learner at all. Only where the policy asks what a learner has met before does the learner have
 * one pseudonym per bank; otherwise each run has its own, and so has every conformance run.
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
