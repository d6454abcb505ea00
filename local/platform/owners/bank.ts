import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { Manifest } from '#shared/platform/owners/bank.ts';
import * as operations from '#shared/platform/operations.ts';
import { refuse, serve, type OwnerRoute } from '../route.ts';

/** Bank: the evidence manifests of generation operations. */
export const bankRoutes: readonly OwnerRoute[] = [
  serve(operations.readAdaptivePoolManifest, {
    identities: [
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
    versioned: true,
    handle: ({ tenant, path }) => {
      const entity = tenant.manifests.get(path['operationId'] ?? '');
      return entity === undefined ? refuse(404, 'no such operation') : { status: 200, body: entity };
    },
    drift: regenerated,
    stale: ({ tenant, path }) => {
      const entity = tenant.manifests.get(path['operationId'] ?? '');
      if (entity === undefined) return refuse(404, 'no such operation');
      return { status: 200, body: beforeItEnded(entity) };
    },
  }),
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
