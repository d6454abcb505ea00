import * as operations from '#shared/platform/operations.ts';
import type { CfPackage } from '#shared/platform/owners/case.ts';
import { refuse, serve, type OwnerAnswer, type OwnerRefusal, type OwnerRoute } from '../route.ts';
import type { TenantState } from '../tenant-state.ts';

/** CASE: standards and knowledge components as CFItems, and the package of each framework. */
export const caseRoutes: readonly OwnerRoute[] = [
  serve(operations.readCfItem, {
    identities: ['/identifier', '/uri', '/CFDocumentURI/identifier'],
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
  serve(operations.readPackage, {
    identities: ['/CFDocument/identifier'],
    versioned: true,
    handle: ({ tenant, path }) => packageIn(tenant, path['sourcedId'] ?? ''),
    drift: (body) => changedAt(body, '2099-01-01T00:00:00.000Z'),
    stale: ({ tenant, path }) => {
      const current = packageIn(tenant, path['sourcedId'] ?? '');
      if ('refused' in current) return current;
      return { status: 200, body: changedAt(current.body, '2000-01-01T00:00:00.000Z') };
    },
    foreign: (other) => firstOf(other.packages.entries()),
  }),
];

function packageIn(tenant: TenantState, sourcedId: string): OwnerAnswer<CfPackage> | OwnerRefusal {
  const entity = tenant.packages.get(sourcedId);
  return entity === undefined ? refuse(404, 'no such CFPackage') : { status: 200, body: entity };
}

/** Returns the package as it was, or will be, after a change at another time. */
function changedAt(body: CfPackage, lastChangeDateTime: string): CfPackage {
  return { ...body, CFDocument: { ...body.CFDocument, lastChangeDateTime } };
}

function firstOf<T>(entries: Iterable<readonly [string, T]>): T | undefined {
  for (const [, entity] of entries) return entity;
  return undefined;
}
