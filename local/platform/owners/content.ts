import * as operations from '#shared/platform/operations.ts';
import { refuse, serve, type OwnerRoute } from '../route.ts';
import { serveEdition, serveImmutable } from '../serve-edition.ts';

/** Content: blueprints of test specs, their report criteria and how they align with external assessments, identities of adaptive banks. */
export const contentRoutes: readonly OwnerRoute[] = [
  serve(operations.readTestSpec, {
    identities: ['/itemId', '/caseFrameworkGuid'],
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
    identities: ['/bankId', '/specId'],
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
  serveEdition(
    operations.readReportCriteria,
    ['/testSpecId'],
    ({ tenant, path: { testSpecId = '' }, query }) => {
      const entity = tenant.criteria.get(testSpecId);
      return entity?.version === query['version'] ? entity : undefined;
    },
  ),
  serveEdition(
    operations.readReadinessCrosswalks,
    ['/testSpecId'],
    ({ tenant, path: { testSpecId = '' }, query }) => {
      const entity = tenant.crosswalks.get(testSpecId);
      return entity?.testSpecVersion === query['version'] ? entity : undefined;
    },
  ),
  serveEdition(
    operations.readFormEvidence,
    ['/testSpecId', '/qtiTestId'],
    ({ tenant, path: { testSpecId = '', qtiTestId = '' }, query }) => {
      const entity = tenant.formEvidence.get(qtiTestId);
      return entity?.testSpecId === testSpecId && entity.testSpecVersion === query['version']
        ? entity
        : undefined;
    },
  ),
  serveImmutable(
    operations.readAlignmentSources,
    ['/testSpecId'],
    ({ tenant, path: { testSpecId = '' }, query }) => {
      const entity = tenant.alignmentSources.get(testSpecId);
      return entity?.testSpecVersion === query['version'] ? entity : undefined;
    },
    (entity, suffix) => ({ ...entity, version: `${entity.version}${suffix}` }),
  ),
  serveImmutable(
    operations.readAlignmentCrosswalk,
    ['/crosswalkId', '/testSpecId', '/sourceKey'],
    ({ tenant, path: { testSpecId = '', crosswalkId = '' }, query }) => {
      const entity = tenant.alignmentCrosswalks.get(crosswalkId);
      if (entity?.testSpecId !== testSpecId) return undefined;
      // One of another version than the list that names it is shown under the list's: Content's mistake is for its caller to find.
      const versions = [entity.testSpecVersion, tenant.alignmentSources.get(testSpecId)?.testSpecVersion];
      return versions.includes(query['version']) ? entity : undefined;
    },
    (entity, suffix) => ({ ...entity, version: `${entity.version}${suffix}` }),
  ),
];
