import * as operations from '#shared/platform/operations.ts';
import type { CfPackage } from '#shared/platform/owners/case.ts';
import type { OwnerRoute } from '../route.ts';
import { serveEntity } from '../serve-edition.ts';

/** CASE: standards and knowledge components as CFItems, and the package of each framework. */
export const caseRoutes: readonly OwnerRoute[] = [
  serveEntity(
    operations.readCfItem,
    ['/identifier', '/uri', '/CFDocumentURI/identifier'],
    ({ tenant, path: { sourcedId = '' } }) => tenant.caseItems.get(sourcedId),
    {
      next: (entity) => ({ ...entity, uri: `${entity.uri}?revision=next` }),
      previous: (entity) => ({ ...entity, lastChangeDateTime: '2000-01-01T00:00:00.000Z' }),
      foreign: (other) => other.caseItems.values().next().value,
    },
  ),
  serveEntity(
    operations.readPackage,
    ['/CFDocument/identifier'],
    ({ tenant, path: { sourcedId = '' } }) => tenant.packages.get(sourcedId),
    {
      next: (entity) => changedAt(entity, '2099-01-01T00:00:00.000Z'),
      previous: (entity) => changedAt(entity, '2000-01-01T00:00:00.000Z'),
      foreign: (other) => firstOf(other.packages.entries()),
    },
  ),
];

/** Returns the package as it was, or will be, after a change at another time. */
function changedAt(body: CfPackage, lastChangeDateTime: string): CfPackage {
  return { ...body, CFDocument: { ...body.CFDocument, lastChangeDateTime } };
}

function firstOf<T>(entries: Iterable<readonly [string, T]>): T | undefined {
  for (const [, entity] of entries) return entity;
  return undefined;
}
