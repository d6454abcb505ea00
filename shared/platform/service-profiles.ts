import { createRecent } from '#shared/kernel/recent.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
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
 * approved, or its credential cannot be a Bearer token. `unreachable`: the parameter store did not respond, so the same request may succeed later.
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

/** The store of profiles. Rejects if it cannot be read. */
export interface ProfileParameterReader {
  read(tenantId: string): Promise<ProfileParameters>;
}

export interface ServiceProfiles {
  /** Returns the profile of the verified tenant. Never calls the platform. */
  resolve(tenantId: string): Promise<Result<ServiceProfile, ProfileFault>>;
  /**
   * Reads a credential that the platform has refused anew for the next request.
   * @param usedSince epoch milliseconds at which the refused request arrived
   * @returns whether the credential had been cached before that request, so that the same request may succeed with a new one; the same for every
   * request that asks
   */
  forget(profile: ServiceProfile, usedSince: number): boolean;
}

export interface ServiceProfilesOptions {
  /** Profiles by tenant. */
  readonly reader?: ProfileParameterReader | undefined;
  /** The single profile of the environment: it serves its own tenant, and precedes the reader's. */
  readonly single?: ProfileParameters;
  /** The hosts that a profile may name, with their ports unless those are https's own. */
  readonly approvedHosts: readonly string[];
  /** Only the stage `local` may use plain http, and only to this machine. */
  readonly stage: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export const LIFETIME = 5 * 60_000;
const MAX_PROFILES = 1_000;

/**
 * Creates the profiles by verified tenant, cached for five minutes per container; failures are not cached. The profile's own tenant must equal the
 * requested one, so that no call uses another tenant's credential [MA-009].
 */
export function createServiceProfiles(options: ServiceProfilesOptions): ServiceProfiles {
  const { reader, single = {}, now } = options;
  const kept = createRecent<ServiceProfile | undefined>(MAX_PROFILES);
  /** Epoch milliseconds, even for forgotten profiles, which requests may still use. */
  const readAt = new WeakMap<ServiceProfile, number>();

  async function load(tenantId: string): Promise<Result<ServiceProfile, ProfileFault>> {
    if (single.PLATFORM_TENANT === tenantId) return profileOf(single, tenantId, options);
    try {
      return profileOf((await reader?.read(tenantId)) ?? {}, tenantId, options);
    } catch {
      return err('unreachable');
    }
  }

  return {
    async resolve(tenantId) {
      const hit = kept.get(tenantId);
      if (hit !== undefined && now() < (readAt.get(hit) ?? 0) + LIFETIME) return ok(hit);
      const loaded = await load(tenantId);
      if (loaded.ok) {
        readAt.set(loaded.value, now());
        kept.set(tenantId, loaded.value);
      }
      return loaded;
    },
    forget(profile, usedSince) {
      kept.set(profile.tenantId, undefined);
      return (readAt.get(profile) ?? usedSince) < usedSince;
    },
  };
}

/** The credentials that may follow `Bearer` (RFC 6750 section 2.1). */
const BEARER = /^[A-Za-z0-9\-._~+/]+=*$/;

function profileOf(
  parameters: ProfileParameters,
  tenantId: string,
  options: ServiceProfilesOptions,
): Result<ServiceProfile, ProfileFault> {
  const { PLATFORM_TENANT, PLATFORM_JWT, PLATFORM_URL = '', ANALYSIS_POLICY_ID } = parameters;
  if (PLATFORM_TENANT !== tenantId || PLATFORM_JWT === undefined) return err('missing');
  const baseUrl = approvedUrl(PLATFORM_URL, options);
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

function approvedUrl(text: string, { approvedHosts, stage }: ServiceProfilesOptions): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  const approved =
    (url.protocol === 'https:' && approvedHosts.includes(url.host)) ||
    (url.protocol === 'http:' && stage === 'local' && LOOPBACK.test(url.hostname));
  return approved ? url.href.replace(/\/+$/, '') : undefined;
}
