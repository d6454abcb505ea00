import { createHmac } from 'node:crypto';
import type { KeyRing } from '#shared/keys/key-ring.ts';

/** What names a run upstream, derived and never stored: the same start finds it again, nobody else can compute it. */
export interface RunIdentity {
  readonly candidateRef: string;
  readonly runSeed: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/**
 * Derives the identity from the start's control record with the pseudonym key: QTI's candidate cannot be linked to the record's
 * operation id without that key, nor to a learner at all.
 */
export async function deriveIdentity(
  keys: KeyRing,
  tenantId: string,
  control: { readonly operationId: string; readonly createdAt: number },
): Promise<RunIdentity> {
  const { key } = await keys.active('pseudonym');
  const derive = (purpose: string): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([purpose, tenantId, control.operationId]))
      .digest('hex');
  return {
    candidateRef: `candidate-${derive('candidate').slice(0, 40)}`,
    runSeed: derive('seed'),
    startedAt: control.createdAt,
  };
}
