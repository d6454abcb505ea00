import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { DataKeyMaker, KeyChange, WritableKeySettings } from './key-record.ts';
import { keyPurposes, type KeyPurpose } from './key-ring.ts';
import { planInit, type KeyPlanError, type KeyPlanner, type KeyStep, type Waiting } from './key-states.ts';

/** The dependencies of the administration of one stage's key ring. */
export interface KeyAdministration {
  readonly settings: WritableKeySettings;
  readonly kms: DataKeyMaker;
  readonly stage: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** What was done for one purpose, and what has to wait. Both are empty if there was nothing to do. */
export interface KeyReport {
  readonly purpose: KeyPurpose;
  readonly done: readonly KeyStep[];
  readonly waiting: readonly Waiting[];
}

export type KeyAdministrationError =
  | KeyPlanError
  /** Another administrator changed the ring between reading and writing: nothing was changed; the same call again does the rest. */
  | { readonly kind: 'overtaken' };

/** Gives every purpose its first key. It leaves existing keys unchanged, so it may run any number of times, even concurrently. */
export async function initKeyRing(
  administration: KeyAdministration,
  purposes: readonly KeyPurpose[] = keyPurposes,
): Promise<readonly KeyReport[]> {
  const reports: KeyReport[] = [];
  for (const purpose of purposes) {
    const report = await changeKeys(administration, purpose, planInit);
    // Overtaken by another first key: then there is one, which was the aim.
    reports.push(report.ok ? report.value : { purpose, done: [], waiting: [] });
  }
  return reports;
}

/** Performs the steps that a plan finds due for a purpose. Concurrent or repeated calls perform none of them twice. */
export async function changeKeys(
  { settings, kms, stage, clock }: KeyAdministration,
  purpose: KeyPurpose,
  plan: KeyPlanner,
): Promise<Result<KeyReport, KeyAdministrationError>> {
  const now = clock();
  const planned = plan(await settings.list(purpose), now);
  if (!planned.ok) return planned;
  const { steps, waiting } = planned.value;
  if (steps.length > 0) {
    const changes = await Promise.all(
      steps.map(async (step): Promise<KeyChange> => {
        if (step.kind === 'move') return { ...step, purpose, at: now };
        const wrappedKey = await kms.make({ stage, purpose, kid: step.kid });
        const record = { purpose, kid: step.kid, state: step.state, wrappedKey, createdAt: now };
        return {
          kind: 'create',
          record: step.state === 'active' ? { ...record, activatedAt: now } : record,
        };
      }),
    );
    if (!(await settings.write(changes))) return err({ kind: 'overtaken' });
  }
  return ok({ purpose, done: steps, waiting });
}
