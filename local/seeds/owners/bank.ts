import type { TenantSeed } from '#local/platform/tenant-state.ts';
import { opaque } from '../ids.ts';
import { anchorOf } from '../records.ts';
import { defined, type Tenant } from '../tenant.ts';

/** Returns the manifests of Bank, one for the pool of each bank, and the anchor table of extmap: the verified anchors of all calibrations. */
export function bankEntities({ tenantId, banks }: Tenant): Pick<TenantSeed, 'anchorTable' | 'manifests'> {
  const anchorTable = {
    tenantId,
    tableVersion: anchorOf(tenantId, defined(banks[0])).version,
    sourcePoints: banks.map((bank) => {
      const { source, checksum, licenseScope } = anchorOf(tenantId, bank);
      return { source, checksum, licenseScope, sourceRef: opaque('source-ref', tenantId, bank.directory) };
    }),
  };
  return {
    anchorTable,
    manifests: banks.map(({ operationId, spec, testBankId, root, members }) => ({
      tenantId,
      operationId,
      state: 'succeeded',
      testSpecId: spec.ref.contentTestSpecId,
      testBankId,
      root,
      members: members.map(({ member }) => member),
    })),
  };
}
