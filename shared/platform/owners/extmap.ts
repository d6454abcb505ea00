import * as z from 'zod';
import { readFor } from '#shared/platform/operation.ts';
import { ownerId, sha256 } from './primitives.ts';

/**
 * extmap: the anchor table R90, with one version for all its points. A source point names the external source to which a vertical scale is anchored;
 * `sourceRef` is null until the source is verified. The table contains no rank, and none is read [MA-032].
 */
export const anchorTable = z.looseObject({
  tenantId: ownerId,
  tableVersion: ownerId,
  sourcePoints: z.array(
    z.looseObject({
      source: ownerId,
      checksum: sha256,
      licenseScope: z.string().nullable(),
      sourceRef: ownerId.nullable(),
    }),
  ),
});
export type AnchorTable = z.infer<typeof anchorTable>;

export const verifyAnchor = readFor('anchor')({
  id: 'extmap.verify_anchor',
  service: 'anchor',
  path: '/extmap/v1/r90',
  status: 'bound',
  answer: anchorTable,
  rule: 'The table has the version, and in it the source point, that the calibration’s anchor names, with a non-null source ref; no rank is read.',
});
