import type { DeployedFunction } from '#shared/contract/functions.ts';
import {
  grantsOf,
  isGated,
  keyPurposesOf,
  rotatesKeys,
  type Grant,
  type GrantVariable,
} from '#shared/contract/grants.ts';
import { EnvironmentError, readEnvironment, variablesOf } from '#shared/http/environment.ts';
import { isStoreOutage } from '#shared/kernel/store-calls.ts';
import { scheduledPurposes, type KeyPurpose } from '#shared/keys/key-ring.ts';
import { activeKey } from '#shared/keys/key-states.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import { profileOf } from '#shared/platform/service-profiles.ts';
import { openManifest, timeFault } from '#shared/release/manifest.ts';
import { parseReleaseKey } from '#shared/release/release-key.ts';
import type { AwsSettings, Runtime } from '#shared/runtime/runtime.ts';
import { getItem, type Item } from '#shared/stores/dynamo.ts';
import { createDataKeyOpener, openCredential } from '#shared/stores/kms.ts';
import { makeDynamo, makeKms } from '#shared/stores/make-clients.ts';
import { createReleaseStateTable } from '#shared/stores/release-state-table.ts';
import { readProfileItem } from '#shared/stores/service-profile-items.ts';
import { createKeySettings } from '#shared/stores/settings-table.ts';
import type { Proof } from './version-check.ts';

/** The check repeats what is slow, and the shortest function has ten seconds for all of it. */
const timeLimits = { connectMs: 1_000, attemptMs: 1_000 };
/* Clients that only the check uses: what it meets does not stay with those that later serve callers. */
const makeCheckDynamo = (settings: AwsSettings) => makeDynamo({ ...settings, timeLimits });
const makeCheckKms = (settings: AwsSettings) => makeKms({ ...settings, timeLimits });

/** A part of the name of items that do not exist: to read one takes the table and the permission. */
const ABSENT = 'version-check';
const part = { pk: ABSENT, sk: ABSENT };
const absentItems: Readonly<
  Partial<Record<Grant, { readonly variable: GrantVariable; readonly key: Item }>>
> = {
  'records:read': { variable: 'RECORDS_TABLE', key: part },
  'improvement:read-part': { variable: 'IMPROVEMENT_TABLE', key: part },
  'control:write': { variable: 'CONTROL_TABLE', key: { id: ABSENT } },
};

type Found = Pick<Proof, 'fault' | 'error'>;
const works: Found = {};
const broken = (error: string): Found => ({ fault: 'broken', error });
const unproved = (error: string): Found => ({ fault: 'unproved', error });

/**
 * Tries what a function's grants let it read, with its own role: opens the keys of its purposes, reads the release state, a record and a profile. It
 * writes nothing, and does not judge what no deployment changes: an expired manifest or credential, an empty key ring.
 * @param tenantId whose profile is read and opened; absent: only the permission to read one is tried
 */
export async function proveStores(
  row: DeployedFunction,
  { environment, aws, now }: Runtime,
  tenantId: string | undefined,
): Promise<readonly Proof[]> {
  try {
    readEnvironment([...variablesOf(row)], environment);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    return [{ of: 'environment', fault: 'broken', error: error.variables.join(' ') }];
  }
  const {
    STAGE: stage = '',
    SETTINGS_TABLE: settings = '',
    APPROVED_HOSTS = '',
    RELEASE_KEY = '',
  } = environment;
  const grants = grantsOf(row);

  async function openKeys(purpose: KeyPurpose): Promise<Found> {
    const records = await createKeySettings(aws(makeCheckDynamo), settings).list(purpose);
    // The rotation unwraps none.
    if (rotatesKeys(row)) return works;
    const kms = createDataKeyOpener(aws(makeCheckKms));
    await Promise.all(
      records.flatMap(({ kid, state, wrappedKey }) =>
        state === 'retired' || wrappedKey === undefined ? [] : kms.open(wrappedKey, { stage, purpose, kid }),
      ),
    );
    return activeKey(records) === undefined ? unproved('no-active-key') : works;
  }

  async function readRelease(): Promise<Found> {
    const applied = await createReleaseStateTable(aws(makeCheckDynamo), settings).read();
    if (!isGated(row)) return works;
    if (applied === undefined || applied.manifest === '') return unproved('never-applied');
    const key = parseReleaseKey(RELEASE_KEY);
    const manifest = key && (await openManifest(applied.manifest, { key, stage }));
    if (!manifest?.ok) return broken(manifest?.error ?? 'malformed');
    const untimely = timeFault(manifest.value, now());
    return untimely === undefined ? works : unproved(untimely);
  }

  async function readAbsent(variable: GrantVariable, key: Item): Promise<Found> {
    await getItem(aws(makeCheckDynamo), environment[variable] ?? '', key);
    return works;
  }

  async function openProfile(): Promise<Found> {
    const item = await readProfileItem(aws(makeCheckDynamo), settings, tenantId ?? ABSENT);
    if (tenantId === undefined) return works;
    if (item === undefined) return unproved('missing');
    if (item === 'invalid') return broken(item);
    const opened = await openCredential(aws(makeCheckKms), stage, item.wrappedCredential, tenantId);
    if (opened === undefined) return broken('not-opened');
    const rules = { approvedHosts: APPROVED_HOSTS.split(','), stage };
    const profile = profileOf({ ...item.parameters, PLATFORM_JWT: opened }, tenantId, rules);
    if (!profile.ok) return broken(profile.error);
    return (item.credentialExpiresAt ?? Number.POSITIVE_INFINITY) <= now() ? unproved('expired') : works;
  }

  const purposes = rotatesKeys(row) ? scheduledPurposes : keyPurposesOf(grants);
  const tries: readonly (readonly [of: string, attempt: () => Promise<Found>])[] = [
    ...purposes.map((purpose) => [`keys:${purpose}`, () => openKeys(purpose)] as const),
    ...grants.flatMap((grant) => {
      const absent = absentItems[grant];
      return absent === undefined ? [] : [[grant, () => readAbsent(absent.variable, absent.key)] as const];
    }),
    ...(grants.includes('release:read') ? [['release:read', readRelease] as const] : []),
    // A function may have a single profile in its environment instead.
    ...(grants.includes('profiles:read') && settings !== '' ? [['profiles:read', openProfile] as const] : []),
  ];
  return Promise.all(
    tries.map(async ([of, attempt]) => {
      try {
        return { of, ...(await attempt()) };
      } catch (error) {
        return { of, fault: isStoreOutage(error) ? 'unreachable' : 'broken', error: nameOf(error) } as const;
      }
    }),
  );
}
