import { isDeepStrictEqual } from 'node:util';
import type { Clients } from '#shared/stores/clients.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import { profileOf, type ProfileRules } from '#shared/platform/service-profiles.ts';
import { profilesPath } from '#shared/stage/permissions.ts';
import { openCredential, wrapCredential } from '#shared/stores/kms.ts';
import {
  listProfileItems,
  readProfileItem,
  removeProfileItem,
  writeProfileItem,
  type ProfileItem,
} from '#shared/stores/service-profile-items.ts';
import { createServiceProfileParameters, folderOf } from '#shared/stores/service-profile-parameters.ts';
import type {
  ProvisionedProfile,
  ServiceProfileParameters,
} from '#shared/stores/service-profile-parameters.ts';

/** Where the service profiles of a stage are provisioned, and where its functions read them. */
export interface ProfilePlaces extends Pick<Clients, 'dynamo' | 'kms' | 'ssm'>, ProfileRules {
  readonly settingsTable: string;
  /** The KMS key of the stage. */
  readonly keyId: string;
  readonly now: () => number;
}

/** The most bytes that KMS wraps itself. */
const MAX_CREDENTIAL_BYTES = 4_096;

/** A profile that is provisioned, or that functions read, and how the two differ. */
export interface ComparedProfile {
  readonly folder: string;
  readonly tenantId: string;
  readonly provisioned: ProvisionedProfile | undefined;
  /** Absent: functions read what is provisioned. */
  readonly difference?: string;
}

/** The profiles of a stage for its operator. No text that they return contains a part of a credential. */
export interface OperatedProfiles {
  readonly parameters: ServiceProfileParameters;
  /** Returns the tenants that have parameters. */
  provisionedTenants(): Promise<readonly string[]>;
  /**
   * Stores what is provisioned for a tenant where the functions read it. A profile that no function could use is not stored.
   * @param onlyIfChanged stores nothing if the functions read the same, as far as KMS lets this be seen: a credential that is wrapped anew makes every
   *   container ask KMS
   */
  move(tenantId: string, onlyIfChanged?: boolean): Promise<Result<string, string>>;
  /** Removes the profile of a tenant from the functions, and then what is provisioned, which a deployment would store again. */
  remove(tenantId: string): Promise<Result<string, string>>;
  /** Compares each profile with what functions read, without decrypting either. */
  compare(): Promise<readonly ComparedProfile[]>;
}

/** Opens the profiles of a stage. */
export function openProfiles(places: ProfilePlaces): OperatedProfiles {
  const { dynamo, kms, ssm, stage, settingsTable, keyId, now } = places;
  const parameters = createServiceProfileParameters(ssm, profilesPath(stage), keyId);

  /** Opens the credential that functions use. Returns what to say if KMS does not answer, for example because the operator may not decrypt. */
  async function openedOf(
    { wrappedCredential }: ProfileItem,
    tenantId: string,
  ): Promise<Result<string | undefined, string>> {
    try {
      return ok(await openCredential(kms, stage, wrappedCredential, tenantId));
    } catch (error) {
      return err(`, if KMS opens its credential, which could not be tried (${nameOf(error)})`);
    }
  }

  return {
    parameters,

    async provisionedTenants(): Promise<readonly string[]> {
      return [...(await parameters.list()).keys()].map(tenantOf).toSorted();
    },

    async move(tenantId: string, onlyIfChanged = false): Promise<Result<string, string>> {
      // First: what is stored or removed while the parameters are read must not be undone.
      const seen = await readProfileItem(dynamo, settingsTable, tenantId);
      const found = await parameters.read(tenantId);
      const where = `${profilesPath(stage)}/${folderOf(tenantId)}`;
      if (Object.values(found.parameters).every((value) => value === undefined))
        return err(`${where} has no parameters: to remove the profile of ${tenantId}, give --remove`);
      const checked = profileOf(found.parameters, tenantId, places);
      if (!checked.ok)
        return err(
          checked.error === 'missing'
            ? `${where} lacks PLATFORM_JWT, or its PLATFORM_TENANT is not ${tenantId}`
            : `${where}: PLATFORM_URL is not an address of approvedHosts, or PLATFORM_JWT cannot be a Bearer token`,
        );
      const { PLATFORM_JWT: credential = '', ...facts } = found.parameters;
      if (Buffer.byteLength(credential) > MAX_CREDENTIAL_BYTES)
        return err(`${where}: PLATFORM_JWT has more than the ${MAX_CREDENTIAL_BYTES} bytes that KMS wraps`);
      const expiresAt = expiryOf(credential);
      if (onlyIfChanged && typeof seen === 'object' && differenceOf(found, seen) === undefined) {
        const opened = await openedOf(seen, tenantId);
        if (!opened.ok || opened.value === credential)
          return ok(`profile of ${tenantId}: functions read it already${opened.ok ? '' : opened.error}`);
      }
      const item = {
        parameters: present(facts),
        wrappedCredential: await wrapCredential(kms, { keyId, stage, tenantId }, credential),
        ...(expiresAt === undefined ? {} : { credentialExpiresAt: expiresAt }),
        writtenAt: now(),
        source: found.source,
      };
      if (!(await writeProfileItem(dynamo, settingsTable, tenantId, item, seen)))
        return err(`the profile of ${tenantId} was changed meanwhile: look at it, and run the command again`);
      const expiry =
        expiresAt === undefined
          ? 'the credential does not show when it expires'
          : `the credential ${expiresAt > now() ? 'expires' : 'has expired'} at ${formatInstant(expiresAt)}`;
      return ok(`profile of ${tenantId}: stored for ${checked.value.baseUrl}; ${expiry}`);
    },

    async remove(tenantId: string): Promise<Result<string, string>> {
      const wasStored = await removeProfileItem(dynamo, settingsTable, tenantId);
      try {
        await parameters.remove(tenantId);
        // Another operator may have stored it from the parameters before they were gone.
        const wasStoredAgain = await removeProfileItem(dynamo, settingsTable, tenantId);
        return ok(
          wasStored || wasStoredAgain
            ? `profile of ${tenantId}: removed, with its parameters. Functions stop using it within a minute`
            : `profile of ${tenantId}: functions had none; its parameters are removed`,
        );
      } catch (error) {
        return err(
          `profile of ${tenantId}: removed, and functions stop using it within a minute, but not all of its parameters may be gone (${nameOf(error)}). Run the command again before a deployment, which would store it again`,
        );
      }
    },

    async compare(): Promise<readonly ComparedProfile[]> {
      const [provisioned, stored] = await Promise.all([
        parameters.list(),
        listProfileItems(dynamo, settingsTable),
      ]);
      const folders = new Set([...provisioned.keys(), ...[...stored].map(folderOf)]);
      return Promise.all(
        [...folders].toSorted().map(async (folder) => {
          const tenantId = tenantOf(folder);
          const here = provisioned.get(folder);
          const item = stored.has(tenantId)
            ? await readProfileItem(dynamo, settingsTable, tenantId)
            : undefined;
          const difference = differenceOf(here, item);
          return { folder, tenantId, provisioned: here, ...(difference === undefined ? {} : { difference }) };
        }),
      );
    },
  };
}

function tenantOf(folder: string): string {
  return Buffer.from(folder, 'base64url').toString();
}

function differenceOf(
  provisioned: ProvisionedProfile | undefined,
  item: Awaited<ReturnType<typeof readProfileItem>>,
): string | undefined {
  if (provisioned === undefined) return 'is read by functions, and has no parameters';
  if (item === undefined) return 'is not stored where the functions read it';
  if (item === 'invalid') return 'is stored in a damaged item';
  const { PLATFORM_JWT: _, ...facts } = provisioned.parameters;
  if (!isDeepStrictEqual(present(facts), item.parameters)) return 'has other facts than functions read';
  return provisioned.source === item.source ? undefined : 'has another credential than functions use';
}

function present(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The first second that RFC 3339 cannot express. */
const END_OF_TIME = Date.UTC(10_000, 0) / 1_000;

/** Returns when a credential expires, in epoch milliseconds, if it is a JWT that shows it. */
function expiryOf(credential: string): number | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(credential.split('.')[1] ?? '', 'base64url').toString());
    const exp = typeof claims === 'object' && claims !== null && 'exp' in claims ? claims.exp : undefined;
    return typeof exp === 'number' && exp > 0 && exp < END_OF_TIME ? Math.floor(exp * 1_000) : undefined;
  } catch {
    return undefined;
  }
}
