import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { isStoreOutage } from '#shared/kernel/store-calls.ts';
import type { ProfileFault, ServiceProfiles } from '#shared/platform/service-profiles.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import { systemReaders } from './system-readers.ts';

const provisioned: Pick<ServiceProfiles, 'resolve'> = {
  resolve: (tenantId) =>
    Promise.resolve(ok({ tenantId, baseUrl: 'https://platform.example', credential: secret('x') })),
};

function faulty(fault: ProfileFault): Pick<ServiceProfiles, 'resolve'> {
  return { resolve: () => Promise.resolve(err(fault)) };
}

describe('systemReaders', () => {
  it('authorizes the listed tenants and nobody else, whatever profiles there are [MA-104]', async () => {
    const mayRead = systemReaders('tenant-1,tenant-2', provisioned);
    expect([
      await mayRead('tenant-2'),
      await mayRead('tenant-3'),
      await mayRead('tenant-1,tenant-2'),
    ]).toEqual([true, false, false]);
  });

  it.each([undefined, ''])(
    'without a list (%j) authorizes every tenant with a service profile [MA-104]',
    async (list) => {
      expect(await systemReaders(list, provisioned)('tenant-1')).toBe(true);
      expect(await systemReaders(list, faulty('invalid'))('tenant-1')).toBe(true);
      expect(await systemReaders(list, faulty('missing'))('tenant-1')).toBe(false);
    },
  );

  it('does not guess while the profiles cannot be read', async () => {
    await expect(systemReaders(undefined, faulty('unreachable'))('tenant-1')).rejects.toSatisfy(
      isStoreOutage,
    );
  });
});
