import type { Result } from '#shared/kernel/result.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { DataKeyMaker, KeyChange, KeyRecord, WritableKeySettings } from './key-record.ts';
import { keyContext } from './key-record.ts';
import type { KeyPurpose } from './key-ring.ts';
import { keyPurposes } from './key-ring.ts';
import type { KeyPlan, KeyPlanError, KeyStep, Waiting } from './key-states.ts';
import { planInit, planReplace, planRetire, planRetireNow, planRotate, planScheduled } from './key-states.ts';

/** What administers the ring of one stage. */
export interface KeyAdministration {
  readonly settings: WritableKeySettings;
  readonly kms: DataKeyMaker;
  readonly stage: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** What was done for one purpose, and what has to wait. Both empty: there was nothing to do. */
export interface KeyReport {
  readonly purpose: KeyPurpose;
  readonly done: readonly KeyStep[];
  readonly waiting: readonly Waiting[];
}

export type KeyAdministrationError =
  | KeyPlanError
  /** Somebody else changed the ring between reading and writing: nothing was changed; the same call again will do what is left. */
  | { readonly kind: 'overtaken' };

type Administered = Promise<Result<KeyReport, KeyAdministrationError>>;

/** Gives every purpose its first key. What exists is left as it is, so it may run any number of times, and by several at once. */
export async function initKeyRing(
  administration: KeyAdministration,
  purposes: readonly KeyPurpose[] = keyPurposes,
): Promise<readonly KeyReport[]> {
  const reports: KeyReport[] = [];
  for (const purpose of purposes) {
    const report = await carryOut(administration, purpose, (records) => ok(planInit(records)));
    // Overtaken by another first key: then there is one, which is all that was wanted.
    reports.push(report.ok ? report.value : { purpose, done: [], waiting: [] });
  }
  return reports;
}

/** Creates the next key of a purpose, or lets it take over when it has waited two refresh periods. */
export function rotateKey(administration: KeyAdministration, purpose: KeyPurpose): Administered {
  return carryOut(administration, purpose, planRotate);
}

/** Takes the step of a rotation that is due, if any, and retires what is due. Calls at the same time, or again, do no more than one. */
export function rotateOnSchedule(
  administration: KeyAdministration,
  purpose: KeyPurpose,
  period: number,
): Administered {
  return carryOut(administration, purpose, (records, now) => planScheduled(records, now, period));
}

/** Replaces a leaked active key at once. */
export function replaceKey(administration: KeyAdministration, purpose: KeyPurpose): Administered {
  return carryOut(administration, purpose, planReplace);
}

/** Retires the keys of a purpose that are due; their wrapped form is deleted. */
export function retireKeys(administration: KeyAdministration, purpose: KeyPurpose): Administered {
  return carryOut(administration, purpose, (records, now) => ok(planRetire(records, now)));
}

/** Retires a leaked key that was replaced, without waiting. */
export function retireKeyNow(
  administration: KeyAdministration,
  purpose: KeyPurpose,
  kid: string,
): Administered {
  return carryOut(administration, purpose, (records) => planRetireNow(records, kid));
}

async function carryOut(
  { settings, kms, stage, clock }: KeyAdministration,
  purpose: KeyPurpose,
  plan: (records: readonly KeyRecord[], now: number) => Result<KeyPlan, KeyPlanError>,
): Administered {
  const now = clock();
  const planned = plan(await settings.list(purpose), now);
  if (!planned.ok) return planned;
  const { steps, waiting } = planned.value;
  if (steps.length > 0) {
    const changes = await Promise.all(
      steps.map(async (step): Promise<KeyChange> => {
        if (step.kind === 'move') return { ...step, purpose, at: now };
        const wrappedKey = await kms.make(keyContext(stage, purpose, step.kid));
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
