import { operations } from '#shared/platform/operations.ts';
import { refuse, serve } from '../route.ts';
import type { OwnerRoute } from '../route.ts';

/** Content: blueprints of test specs, identities of adaptive banks. */
export const contentRoutes: readonly OwnerRoute[] = [
  serve(operations.readTestSpec, {
    versioned: true,
    handle: ({ tenant, path }) => {
      const entity = tenant.blueprints.get(path['testSpecId'] ?? '');
      return entity === undefined ? refuse(404, 'no such item') : { status: 200, body: entity };
    },
    drift: (body) => ({ ...body, version: `${body.version}-next` }),
    stale: ({ tenant, path }) => {
      const entity = tenant.blueprints.get(path['testSpecId'] ?? '');
      if (entity === undefined) return refuse(404, 'no such item');
      return { status: 200, body: { ...entity, version: `${entity.version}-previous` } };
    },
  }),
  serve(operations.validateAdaptiveBankIdentity, {
    versioned: true,
    handle: ({ tenant, path }) => {
      const entity = tenant.bankMembers.get(path['testBankId'] ?? '');
      return entity === undefined ? refuse(404, 'no such item') : { status: 200, body: entity };
    },
    drift: (body) => ({ ...body, updateVersion: `${body.updateVersion}-next` }),
    stale: ({ tenant, path }) => {
      const entity = tenant.bankMembers.get(path['testBankId'] ?? '');
      if (entity === undefined) return refuse(404, 'no such item');
      return { status: 200, body: { ...entity, updateVersion: `${entity.updateVersion}-previous` } };
    },
  }),
];
