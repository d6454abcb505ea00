import { operations } from '#shared/platform/operations.ts';
import { refuse, serve } from '../route.ts';
import type { OwnerRoute } from '../route.ts';

/** CASE: standards and knowledge components as CFItems. */
export const caseRoutes: readonly OwnerRoute[] = [
  serve(operations.resolveMapping, {
    versioned: true,
    handle: ({ tenant, path }) => {
      const entity = tenant.caseItems.get(path['sourcedId'] ?? '');
      return entity === undefined ? refuse(404, 'no such CFItem') : { status: 200, body: entity };
    },
    drift: (body) => ({ ...body, uri: `${body.uri}?revision=next` }),
    stale: ({ tenant, path }) => {
      const entity = tenant.caseItems.get(path['sourcedId'] ?? '');
      if (entity === undefined) return refuse(404, 'no such CFItem');
      return { status: 200, body: { ...entity, lastChangeDateTime: '2000-01-01T00:00:00.000Z' } };
    },
    foreign: (other) => other.caseItems.values().next().value,
  }),
];
