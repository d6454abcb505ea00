import * as operations from '#shared/platform/operations.ts';
import type { OwnerRoute } from '../route.ts';
import { serveEntity } from '../serve-edition.ts';
import { SINGLETON } from '../tenant-state.ts';

/** extmap: the anchor table. */
export const extmapRoutes: readonly OwnerRoute[] = [
  serveEntity(
    operations.verifyAnchor,
    ['/sourcePoints/0/source'],
    ({ tenant }) => tenant.anchorTables.get(SINGLETON.anchorTable),
    {
      next: (table) => ({ ...table, tableVersion: `${table.tableVersion}-next` }),
      previous: (table) => ({
        ...table,
        tableVersion: `${table.tableVersion}-previous`,
        // Before its verification a source point has no reference.
        sourcePoints: table.sourcePoints.map((point) => ({ ...point, sourceRef: null })),
      }),
    },
  ),
];
