import * as operations from '#shared/platform/operations.ts';
import { refuse, serve, type OwnerRoute } from '../route.ts';

/** What OneRoster stamps on an entity that has just been written: another answer under another ETag. */
const rewritten = { dateLastModified: '2099-01-01T00:00:00.000Z' } as const;

/** OneRoster: users, classes and schools. What is `tobedeleted` is still answered, with that status. */
export const oneRosterRoutes: readonly OwnerRoute[] = [
  serve(operations.readUser, {
    identities: ['/user/sourcedId'],
    versioned: true,
    handle: ({ tenant, path }) => {
      const entity = tenant.users.get(path['sourcedId'] ?? '');
      return entity === undefined ? refuse(404, 'no such user') : { status: 200, body: entity };
    },
    drift: ({ user }) => ({ user: { ...user, ...rewritten } }),
    foreign: (other) => other.users.values().next().value,
  }),
  serve(operations.readClass, {
    identities: ['/class/sourcedId'],
    versioned: true,
    handle: ({ tenant, path }) => {
      const entity = tenant.classes.get(path['sourcedId'] ?? '');
      return entity === undefined ? refuse(404, 'no such class') : { status: 200, body: entity };
    },
    drift: (body) => ({ class: { ...body.class, ...rewritten } }),
    foreign: (other) => other.classes.values().next().value,
  }),
  serve(operations.readSchool, {
    identities: ['/org/sourcedId'],
    versioned: true,
    handle: ({ tenant, path }) => {
      const entity = tenant.schools.get(path['sourcedId'] ?? '');
      return entity === undefined ? refuse(404, 'no such school') : { status: 200, body: entity };
    },
    drift: ({ org }) => ({ org: { ...org, ...rewritten } }),
    foreign: (other) => other.schools.values().next().value,
  }),
];
