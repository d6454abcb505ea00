import * as operations from '#shared/platform/operations.ts';
import type { OwnerRoute } from '../route.ts';
import { serveEntity } from '../serve-edition.ts';

/** What OneRoster stamps on an entity that has just been written: another answer under another ETag. */
const rewritten = { dateLastModified: '2099-01-01T00:00:00.000Z' } as const;

/** OneRoster: users, classes and schools. What is `tobedeleted` is still answered, with that status. */
export const oneRosterRoutes: readonly OwnerRoute[] = [
  serveEntity(
    operations.readUser,
    ['/user/sourcedId'],
    ({ tenant, path: { sourcedId = '' } }) => tenant.users.get(sourcedId),
    {
      next: ({ user }) => ({ user: { ...user, ...rewritten } }),
      foreign: (other) => other.users.values().next().value,
    },
  ),
  serveEntity(
    operations.readClass,
    ['/class/sourcedId'],
    ({ tenant, path: { sourcedId = '' } }) => tenant.classes.get(sourcedId),
    {
      next: (entity) => ({ class: { ...entity.class, ...rewritten } }),
      foreign: (other) => other.classes.values().next().value,
    },
  ),
  serveEntity(
    operations.readSchool,
    ['/org/sourcedId'],
    ({ tenant, path: { sourcedId = '' } }) => tenant.schools.get(sourcedId),
    {
      next: ({ org }) => ({ org: { ...org, ...rewritten } }),
      foreign: (other) => other.schools.values().next().value,
    },
  ),
];
