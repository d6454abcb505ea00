import type { ScheduledCheck } from '#shared/stage/checks.ts';
import { certificates, firewalls, kmsKey, logRole, quotas } from './account.ts';
import type { Check } from './finding.ts';
import { health } from './health.ts';
import { release } from './release.ts';
import { stacks } from './stacks.ts';
import { alarms, credentials, keys } from './stage.ts';

/** The checks that need no person: `npm run doctor` runs them on demand, and the watcher every hour. */
export const scheduled: Readonly<Record<ScheduledCheck, Check>> = {
  'log role': logRole,
  certificate: certificates,
  quotas,
  release,
  stacks,
  keys,
  'kms key': kmsKey,
  credentials,
  firewall: firewalls,
  alarms,
  health,
};
