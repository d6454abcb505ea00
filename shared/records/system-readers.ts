import type { Result } from '#shared/kernel/result.ts';
import { StoreOutage } from '#shared/kernel/store-calls.ts';

/**
 * Returns which tenants may read system records [MA-105]: the listed ones, or, without a list, every tenant with a provisioned service profile.
 * Throws if the profiles cannot be read: the visibility of a record must not be guessed.
 * @param list `SYSTEM_RECORD_TENANTS`: tenant ids separated by commas
 */
export function systemReaders(
  list: string | undefined,
  profiles: { readonly resolve: (tenantId: string) => Promise<Result<unknown, string>> },
): (tenantId: string) => Promise<boolean> {
  const listed = list === undefined || list === '' ? undefined : new Set(list.split(','));
  return async (tenantId) => {
    if (listed !== undefined) return listed.has(tenantId);
    const profile = await profiles.resolve(tenantId);
    if (profile.ok) return true;
    if (profile.error === 'unreachable') throw new StoreOutage();
    return profile.error === 'invalid';
  };
}
