import { createRecent } from '#shared/kernel/recent.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { secret } from './transport/secret.ts';
import type { Secret } from './transport/secret.ts';

/** What the service needs to speak to the platform for one tenant [MA-008]. */
export interface ServiceProfile {
  readonly tenantId: string;
  /** https, without a slash at its end. */
  readonly baseUrl: string;
  readonly credential: Secret;
  /** The released analysis policy that the tenant's improvement runs are analyzed by, if one has been chosen. */
  readonly analysisPolicyId?: string;
  /** The tenant's Results takes KC components. A provisioned fact, since no published operation of Results tells it [MA-035]. */
  readonly takesKcComponents?: true;
}

/**
 * Why there is no usable profile. `missing`: none is provisioned for the tenant, or the one found is of another tenant. `invalid`: its
 * address is not an approved one or its credential cannot be a Bearer token. `unreachable`: the parameter store did not answer, so the same
 * request may succeed later without any change.
 */
export type ProfileFault = 'missing' | 'invalid' | 'unreachable';

/** The parameters of a profile, in the order in which they are written: a new profile is complete once its credential appears. */
export const profileParameters = [
  'PLATFORM_TENANT',
  'PLATFORM_URL',
  /** A released analysis policy; only the reports service asks for it. */
  'ANALYSIS_POLICY_ID',
  /** `supported` where Results takes KC components; only the mastery engine asks for it. */
  'RESULTS_KC_COMPONENTS',
  'PLATFORM_JWT',
] as const;
export type ProfileParameter = (typeof profileParameters)[number];

/** Profile parameters as they are provisioned; a tenant without a profile has none. */
export type ProfileParameters = Readonly<Partial<Record<ProfileParameter, string | undefined>>>;

/** Where profiles are provisioned. Rejects when the store cannot be read. */
export interface ProfileParameterReader {
  read(tenantId: string): Promise<ProfileParameters>;
}

export interface ServiceProfiles {
  /** The profile of the verified tenant; it never makes a call to the platform. */
  resolve(tenantId: string): Promise<Result<ServiceProfile, ProfileFault>>;
  /**
   * The platform has refused the profile's credential: it is read anew for the next request.
   * @param usedSince epoch milliseconds at which the request that was refused arrived
   * @returns whether the credential had been kept from before that request, so that the same request may succeed with a new one; the same
   * however often and by how many requests at once it is asked
   */
  forget(profile: ServiceProfile, usedSince: number): boolean;
}

export interface ServiceProfilesOptions {
  /** Profiles by tenant. */
  readonly reader?: ProfileParameterReader | undefined;
  /** The single-profile form, in the environment: serves its own tenant, before the reader is asked. */
  readonly single?: ProfileParameters;
  /** Hosts, with their ports unless those are https's own, at which profiles may have the platform. */
  readonly approvedHosts: readonly string[];
  /** Only the stage `local` may speak plain http, and only to this machine. */
  readonly stage: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const LIFETIME = 5 * 60_000;
const MAX_PROFILES = 1_000;

/**
 * Profiles by verified tenant, kept for five minutes per container. Failures are never kept. The profile's own tenant must equal the asked
 * one, so that no call is ever made with another tenant's credential [MA-009].
 */
export function createServiceProfiles(options: ServiceProfilesOptions): ServiceProfiles {
  const { reader, single = {}, now } = options;
  const kept = createRecent<ServiceProfile | undefined>(MAX_PROFILES);
  /** Epoch milliseconds; of forgotten ones too, which requests may still hold. */
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

/** RFC 6750 section 2.1: what may stand after `Bearer`. */
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
