import { BackgroundWorkBroken, logBroken } from '#functions/reports/background/invocation.ts';
import type { ScheduledHandler } from '#functions/reports/background/invocation.ts';
import { rotateKeys as row } from '#shared/contract/background.ts';
import { changeKeys, type KeyAdministration } from '#shared/keys/administration.ts';
import { scheduledPurposes, type KeyPurpose } from '#shared/keys/key-ring.ts';
import { activeKey, planScheduled, sealingSince } from '#shared/keys/key-states.ts';
import { createFunctionLog, type Log, type LogPorts } from '#shared/observability/logger.ts';

/** The key ring, and the number of milliseconds for which each of its keys seals. */
export interface Rotation extends KeyAdministration {
  readonly period: number;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Performs the rotation step that is due for each purpose, and logs the age of the longest-serving key. A failure for one purpose does not stop the
 * others; the invocation then ends with an error. Every change is one conditional transaction, so concurrent or repeated calls change nothing twice.
 * @param open called once per binding
 */
export function createRotateFunction(open: () => Rotation, runtime: LogPorts): ScheduledHandler {
  let opened: Rotation | undefined;
  const openLog = createFunctionLog(row, runtime);
  return async (_event, context) => {
    const log = openLog(context);
    const startedAt = runtime.now();
    const ages: number[] = [];
    let isBroken = false;
    for (const purpose of scheduledPurposes) {
      try {
        opened ??= open();
        const age = await ageOf(opened, purpose);
        if (age !== undefined) ages.push(age);
        await rotate(opened, purpose, log);
      } catch (error) {
        isBroken = true;
        logBroken(log, error, { purpose });
      }
    }
    const activeKeyAgeDays = ages.length === 0 ? undefined : Math.max(...ages);
    log('KEYS_CHECKED', { activeKeyAgeDays, durationMs: runtime.now() - startedAt });
    if (isBroken) throw new BackgroundWorkBroken();
  };
}

/** Returns for how many days the active key of a purpose has sealed. */
async function ageOf({ settings, clock }: Rotation, purpose: KeyPurpose): Promise<number | undefined> {
  const active = activeKey(await settings.list(purpose));
  return active && (clock() - sealingSince(active)) / DAY_MS;
}

async function rotate(rotation: Rotation, purpose: KeyPurpose, log: Log): Promise<void> {
  const report = await changeKeys(rotation, purpose, planScheduled(rotation.period));
  if (!report.ok) {
    log('KEY_ROTATION_POSTPONED', { purpose, reason: report.error.kind });
    return;
  }
  for (const step of report.value.done)
    log('KEY_CHANGED', { purpose, kid: step.kid, state: step.kind === 'create' ? step.state : step.to });
}
