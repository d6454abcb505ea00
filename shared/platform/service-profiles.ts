import { createRecent } from '#shared/kernel/recent.ts';
import { randomFraction, type RandomBytes } from '#shared/kernel/random.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { isWithin, shareReading, type SharedReading } from '#shared/kernel/shared-reading.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import type { Log } from '#shared/observability/logger.ts';
import { secret, type Secret } from './transport/secret.ts';

/** The settings for calls to the platform for one tenant [MA-008]. */
export interface ServiceProfile {
  readonly tenantId: string;
  /** An https address without a slash at its end. */
  readonly baseUrl: string;
  readonly credential: Secret;
  /** The released analysis policy of the tenant's improvement runs, if the tenant has chosen one. */
  readonly analysisPolicyId?: string;
  /** The tenant's Results takes KC components. A provisioned fact, since no published operation of Results reports it [MA-035]. */
  readonly takesKcComponents?: true;
}

/**
 * Why there is no usable profile. `missing`: none is provisioned for the tenant, or the one found is another tenant's. `invalid`: its address is not
 * approved, or its credential cannot be a Bearer token. `unreachable`: it could not be read, and there is none to serve meanwhile, so the same request may
 * succeed later.
 */
export type ProfileFault = 'missing' | 'invalid' | 'unreachable';

/** The parameters of a profile, in the order in which they are written: a new profile is complete once its credential exists. */
export const profileParameters = [
  'PLATFORM_TENANT',
  'PLATFORM_URL',
  /** A released analysis policy; only the reports service reads it. */
  'ANALYSIS_POLICY_ID',
  /** `supported` if Results takes KC components; only the mastery engine reads it. */
  'RESULTS_KC_COMPONENTS',
  'PLATFORM_JWT',
] as const;
export type ProfileParameter = (typeof profileParameters)[number];

/** The provisioned parameters of a profile; a tenant without a profile has none. */
export type ProfileParameters = Readonly<Partial<Record<ProfileParameter, string | undefined>>>;

/** A profile as the operator's command has stored it: the credential is wrapped. */
export interface StoredProfile {
  /** All parameters but the credential. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly wrappedCredential: Uint8Array;
  /** Epoch milliseconds; absent: the credential does not show it. */
  readonly credentialExpiresAt?: number;
}

/** The store of profiles. Both functions reject if their service gives no answer about the profile, and then know nothing about it. */
export interface ProfileReader {
  /** Returns undefined if the tenant has no profile, `invalid` for an item that no release can have written. */
  read(tenantId: string): Promise<StoredProfile | 'invalid' | undefined>;
  /** Returns undefined for bytes that were not wrapped for the profile of this tenant. */
  open(wrappedCredential: Uint8Array, tenantId: string): Promise<string | undefined>;
}

export interface ServiceProfiles {
  /** Returns the profile of the verified tenant. Never calls the platform. */
  resolve(tenantId: string, log?: Log): Promise<Result<ServiceProfile, ProfileFault>>;
  /**
   * Lets a credential that the platform has refused be read anew before it is used again, at most once in 30 seconds.
   * @param usedSince epoch milliseconds at which the refused request arrived
   * @returns whether the same request may succeed with a new one: the credential was read before that request; the same for every request that used it
   */
  forget(profile: ServiceProfile, usedSince: number): boolean;
}

/** The addresses that a profile may name. */
export interface ProfileRules {
  /** The hosts that a profile may name, with their ports unless those are https's own. */
  readonly approvedHosts: readonly string[];
  /** Only the stage `local` may use plain http, and only to this machine. */
  readonly stage: string;
}

export interface ServiceProfilesOptions extends ProfileRules {
  /** Profiles by tenant. Each of its calls has to end within `READ_MS`. */
  readonly reader?: ProfileReader | undefined;
  /** The single profile of the environment: it serves its own tenant, and precedes the reader's. */
  readonly single?: ProfileParameters;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Spreads the reads of containers that were started together. */
  readonly random: RandomBytes;
}

/** How long a profile is served without another read: what an operator changes or removes takes effect within this time. */
export const FRESH_MS = 60_000;
/** How long the last profile is served after its last read, while reads fail. */
export const STALE_MS = 4 * 3_600_000;
/** The longest time of one call of the reader. */
export const READ_MS = 3_000;
/** From about this age on, a profile is read again while the request that finds it so old continues without waiting. */
const RENEW_MS = 30_000;
/** A refused credential is read anew at most once in this time. */
const REFUSED_MS = 30_000;
/** The pauses after reads that failed, or found what cannot be used: doubled from the first to the last. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = { unreachable: 60_000, invalid: 5_000 } as const;
const MAX_PROFILES = 1_000;

/** What a container knows of one tenant. Times are epoch milliseconds. */
interface Known {
  readonly reading: SharedReading<Result<ServiceProfile, ProfileFault>>;
  /** When the last read that had an answer began: it sees everything written before. */
  at: number;
  /** From which age on it is read again. */
  renewMs: number;
  /** Absent if that answer was no usable profile. */
  last?: { readonly stored: StoredProfile; readonly profile: ServiceProfile } | undefined;
  /** The reads that have failed since, or found what cannot be used, and when the next one may begin. */
  pause?: Pause | undefined;
  /** When the platform refused the credential; absent once a later read has had an answer. */
  refusedAt?: number | undefined;
  /** When that read began, if it found the same credential. */
  confirmedAt?: number | undefined;
}

interface Pause {
  readonly fault: keyof typeof LAST_PAUSE_MS;
  /** How many reads in a row. */
  readonly count: number;
  readonly at: number;
  readonly ms: number;
  /** The last error of a read that failed. */
  readonly error?: string;
  /** A log line has named the error. */
  isLogged?: true;
}

/**
 * Creates the profiles by verified tenant, kept per container. The profile's own tenant must equal the requested one, so that no call uses another
 * tenant's credential [MA-009].
 *
 * An answer of the store takes effect at once, even that there is no profile. A read without an answer changes nothing: the last profile is served for
 * up to four hours, but not beyond the end of its credential, nor after the platform has refused it. After a failed read, requests do not wait for
 * another one while it can be served: after each pause, one is made behind them. What cannot be used is not read again during a pause either. That KMS
 * denies access is no answer about the profile: a role or a key policy that is broken must not close tenants whose credential is known. Only what KMS
 * cannot decrypt is `invalid`.
 */
export function createServiceProfiles(options: ServiceProfilesOptions): ServiceProfiles {
  const { reader, single = {}, now, random } = options;
  const { PLATFORM_TENANT: ownTenant } = single;
  const own = ownTenant === undefined ? undefined : profileOf(single, ownTenant, options);
  const tenants = createRecent<Known>(MAX_PROFILES);
  /** Epoch milliseconds, also of profiles that were replaced while a request used them. */
  const readAt = new WeakMap<ServiceProfile, number>();

  /** Returns the pause that begins now. */
  function pauseAfter(before: Pause | undefined, fault: Pause['fault'], error?: string): Pause {
    const count = before?.fault === fault ? before.count + 1 : 1;
    const drawn = FIRST_PAUSE_MS * 2 ** (count - 1) * (1 + randomFraction(random) / 2);
    const ms = Math.min(LAST_PAUSE_MS[fault], drawn);
    return { fault, count, at: now(), ms, ...(error === undefined ? {} : { error }) };
  }

  function knownOf(tenantId: string, from: ProfileReader): Known {
    const found = tenants.get(tenantId);
    if (found !== undefined) return found;
    const known: Known = {
      // The item first, then KMS.
      reading: shareReading(2 * READ_MS, now, async (at) => {
        try {
          return await readNow(known, tenantId, from, at);
        } catch (error) {
          // A read that a freeze of the container has cut is no failure of the store.
          if (isWithin(3 * READ_MS, at, now()))
            known.pause = pauseAfter(known.pause, 'unreachable', nameOf(error));
          throw error;
        }
      }),
      at: 0,
      renewMs: 0,
    };
    tenants.set(tenantId, known);
    return known;
  }

  async function readNow(
    known: Known,
    tenantId: string,
    from: ProfileReader,
    at: number,
  ): Promise<Result<ServiceProfile, ProfileFault>> {
    const stored = await from.read(tenantId);
    const result = await open(known, stored, tenantId, from);
    if (result.ok) readAt.set(result.value, at);
    // A read that began before the container was frozen may end after a later one.
    if (known.at > at && known.at <= now()) return result;
    const { last: before, refusedAt } = known;
    if (refusedAt !== undefined && (at >= refusedAt || refusedAt > now())) {
      const isSame = before !== undefined && result.ok && isOf(before.profile, result.value);
      known.confirmedAt = isSame ? at : undefined;
      known.refusedAt = undefined;
    }
    known.at = at;
    known.renewMs = RENEW_MS * (0.75 + randomFraction(random) / 2);
    known.pause =
      !result.ok && result.error === 'invalid' ? pauseAfter(known.pause, result.error) : undefined;
    known.last = result.ok && typeof stored === 'object' ? { stored, profile: result.value } : undefined;
    return result;
  }

  /** Unwraps the credential of a stored profile, by KMS unless its bytes are the last ones. */
  async function open(
    { last }: Known,
    stored: StoredProfile | 'invalid' | undefined,
    tenantId: string,
    from: ProfileReader,
  ): Promise<Result<ServiceProfile, ProfileFault>> {
    if (stored === undefined) return err('missing');
    if (stored === 'invalid') return err(stored);
    const { parameters, wrappedCredential } = stored;
    const PLATFORM_JWT =
      last !== undefined && Buffer.compare(last.stored.wrappedCredential, wrappedCredential) === 0
        ? last.profile.credential.reveal()
        : await from.open(wrappedCredential, tenantId);
    return PLATFORM_JWT === undefined
      ? err('invalid')
      : profileOf({ ...parameters, PLATFORM_JWT }, tenantId, options);
  }

  /** Waits for a read. One that was under way when the credential was refused may have found the refused one. */
  async function latestOf(known: Known): Promise<Result<ServiceProfile, ProfileFault>> {
    const result = await known.reading.begin();
    return known.refusedAt === undefined ? result : known.reading.begin();
  }

  /** Returns whether the last profile may be served although it could not be read again. */
  function isServed({ at, last, refusedAt }: Known): boolean {
    const expiresAt = last?.stored.credentialExpiresAt ?? Infinity;
    return (
      last !== undefined && refusedAt === undefined && now() < expiresAt && isWithin(STALE_MS, at, now())
    );
  }

  /** Goes on without a read: with the last profile, if it may still be served. Logs that once per failed read, and every request that fails. */
  function withoutRead(known: Known, log: Log | undefined): Result<ServiceProfile, ProfileFault> {
    const { at, last, pause } = known;
    const served = isServed(known) ? last?.profile : undefined;
    const ageSeconds = served === undefined ? null : Math.floor((now() - at) / 1_000);
    if (log !== undefined && (served === undefined || pause?.isLogged !== true)) {
      log('PROFILE_UNREADABLE', { error: pause?.error ?? 'none', ageSeconds });
      if (pause !== undefined) pause.isLogged = true;
    }
    return served === undefined ? err('unreachable') : ok(served);
  }

  return {
    async resolve(tenantId, log) {
      if (own !== undefined && tenantId === ownTenant) return own;
      if (reader === undefined) return err('missing');
      const known = knownOf(tenantId, reader);
      const { last, refusedAt, pause } = known;
      const isPausing = pause !== undefined && isWithin(pause.ms, pause.at, now());
      // A request that has to wait learns of a failure.
      const readBehind = (): void => {
        if (!isPausing) known.reading.begin().catch(() => undefined);
      };
      if (last !== undefined && refusedAt === undefined && isWithin(FRESH_MS, known.at, now())) {
        if (!isWithin(known.renewMs, known.at, now())) readBehind();
        return ok(last.profile);
      }
      if (pause?.fault === 'unreachable') {
        // A pause that ended long ago means nothing: the store may have been back for hours.
        if (isServed(known) && isWithin(pause.ms + FRESH_MS, pause.at, now())) {
          readBehind();
          return withoutRead(known, log);
        }
        if (isPausing && refusedAt !== undefined) return withoutRead(known, log);
      }
      try {
        const found = isPausing && pause.fault === 'invalid' ? err(pause.fault) : await latestOf(known);
        if (!found.ok && found.error === 'invalid') log?.('PROFILE_INVALID');
        return found;
      } catch {
        return withoutRead(known, log);
      }
    },
    forget(profile, usedSince) {
      const known = tenants.get(profile.tenantId);
      if (known?.last === undefined) return false;
      // It was replaced while the request was under way.
      if (!isOf(known.last.profile, profile)) return true;
      if (known.confirmedAt === undefined || !isWithin(REFUSED_MS, known.confirmedAt, now()))
        known.refusedAt = now();
      return (readAt.get(profile) ?? usedSince) < usedSince;
    },
  };
}

/** Returns whether two profiles have the same credential. */
function isOf(one: ServiceProfile, other: ServiceProfile): boolean {
  return one.credential.reveal() === other.credential.reveal();
}

/** The credentials that may follow `Bearer` (RFC 6750 section 2.1). */
const BEARER = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Checks the parameters of a tenant's profile. */
export function profileOf(
  parameters: ProfileParameters,
  tenantId: string,
  rules: ProfileRules,
): Result<ServiceProfile, ProfileFault> {
  const { PLATFORM_TENANT, PLATFORM_JWT, PLATFORM_URL = '', ANALYSIS_POLICY_ID } = parameters;
  if (PLATFORM_TENANT !== tenantId || PLATFORM_JWT === undefined) return err('missing');
  const baseUrl = approvedUrl(PLATFORM_URL, rules);
  if (baseUrl === undefined || !BEARER.test(PLATFORM_JWT)) return err('invalid');
  return ok({
    tenantId,
    baseUrl,
    credential: secret(PLATFORM_JWT),
    ...(ANALYSIS_POLICY_ID === undefined ? {} : { analysisPolicyId: ANALYSIS_POLICY_ID }),
    ...(parameters.RESULTS_KC_COMPONENTS === 'supported' ? { takesKcComponents: true } : {}),
  });
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function approvedUrl(text: string, { approvedHosts, stage }: ProfileRules): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  const approved =
    (url.protocol === 'https:' && approvedHosts.includes(url.host)) ||
    (url.protocol === 'http:' && stage === 'local' && LOOPBACK.test(url.hostname));
  return approved ? url.href.replace(/\/+$/, '') : undefined;
}
