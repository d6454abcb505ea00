import * as z from 'zod';
import { LARGE, runRead } from '#shared/platform/operation.ts';
import { ownerId, sha256 } from './primitives.ts';

/** Bank: one member of the pool, with its standards and knowledge components [MA-026]. */
export const manifestMember = z.looseObject({
  artifactId: ownerId,
  artifactVersionId: ownerId,
  qtiIdentifier: ownerId,
  caseGuids: z.array(ownerId),
  kcGuids: z.array(ownerId),
});
export type ManifestMember = z.infer<typeof manifestMember>;

/**
 * Bank: the evidence manifest of a generation operation [MA-025]. Until `state` is `succeeded`, root and members may be absent. The reconciliation of
 * the pool checks the content of a terminal manifest, so that each defect has its own response.
 */
export const manifest = z.looseObject({
  tenantId: ownerId,
  operationId: ownerId,
  state: z.enum(['queued', 'running', 'succeeded', 'failed']),
  testSpecId: ownerId,
  testBankId: ownerId,
  root: z
    .looseObject({
      packageId: ownerId,
      packageHash: sha256,
      artifactId: ownerId,
      artifactVersionId: ownerId,
      qtiIdentifier: ownerId,
    })
    .optional(),
  members: z.array(manifestMember).optional(),
});
export type Manifest = z.infer<typeof manifest>;

export const readAdaptivePoolManifest = runRead({
  id: 'bank.read_adaptive_pool_manifest',
  path: '/v1/bank-operations/{operationId}/manifest',
  status: 'bound',
  answer: manifest,
  namedAt: '/body/bankOperationId',
  isPool: true,
  maxAnswerBytes: LARGE,
  rule: 'Terminal and of the same tenant; ETag and hash agree on a repeated read; members and QTI root correspond one to one.',
});
