import * as operations from '#shared/platform/operations.ts';
import { refuse, serve, type OwnerRoute } from '../route.ts';
import { SINGLETON } from '../tenant-state.ts';

/** extmap: the anchor table. */
export const extmapRoutes: readonly OwnerRoute[] = [
  serve(operations.verifyAnchor, {
    identities: ['/sourcePoints/0/source'],
    versioned: true,
    handle: ({ tenant }) => {
      const table = tenant.anchorTables.get(SINGLETON.anchorTable);
      return table === undefined ? refuse(404, 'no such table') : { status: 200, body: table };
    },
    drift: (body) => ({
      ...body,
      tableVersion: `${body.tableVersion}-next`,
    }),
    stale: ({ tenant }) => {
      const table = tenant.anchorTables.get(SINGLETON.anchorTable);
      if (table === undefined) return refuse(404, 'no such table');
      return {
        status: 200,
        body: {
          ...table,
          tableVersion: `${table.tableVersion}-previous`,
          // Before its verification a source point has no reference.
          sourcePoints: table.sourcePoints.map((point) => ({ ...point, sourceRef: null })),
        },
      };
    },
  }),
];
