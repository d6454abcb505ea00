import * as operations from '#shared/platform/operations.ts';
import { findAdministration } from '../attempts.ts';
import type { OwnerRoute } from '../route.ts';
import { serveEdition } from '../serve-edition.ts';

/** Administration: the sittings of tests. */
export const administrationRoutes: readonly OwnerRoute[] = [
  serveEdition(
    operations.readAdministration,
    ['/administrationId'],
    ({ tenant, path: { administrationId = '' } }) => findAdministration(tenant, administrationId),
  ),
];
