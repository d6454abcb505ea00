import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { Manifest } from '#shared/platform/owners/bank.ts';
import * as operations from '#shared/platform/operations.ts';
import type { OwnerRoute } from '../route.ts';
import { serveEntity } from '../serve-edition.ts';

/** Bank: the evidence manifests of generation operations. */
export const bankRoutes: readonly OwnerRoute[] = [
  serveEntity(
    operations.readAdaptivePoolManifest,
    [
      '/operationId',
      '/testSpecId',
      '/testBankId',
      '/root/packageId',
      '/root/artifactId',
      '/root/artifactVersionId',
      '/root/qtiIdentifier',
      '/members/0/artifactVersionId',
      '/members/0/qtiIdentifier',
    ],
    ({ tenant, path: { operationId = '' } }) => tenant.manifests.get(operationId),
    { next: regenerated, previous: beforeItEnded },
  ),
];

/** Returns the same operation with another package. */
function regenerated(entity: Manifest): Manifest {
  if (entity.root === undefined) return { ...entity, state: 'failed' };
  return { ...entity, root: { ...entity.root, packageHash: sha256Hex(entity.root.packageHash) } };
}

/** Returns the manifest while the operation still ran: neither root nor members. */
function beforeItEnded({ tenantId, operationId, testSpecId, testBankId }: Manifest): Manifest {
  return { tenantId, operationId, state: 'running', testSpecId, testBankId };
}
