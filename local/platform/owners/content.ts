import * as operations from '#shared/platform/operations.ts';
import type { OwnerRoute } from '../route.ts';
import { serveEdition, serveEntity, serveImmutable } from '../serve-edition.ts';

/** Content: blueprints of test specs, their report criteria and how they align with external assessments, identities of adaptive banks. */
export const contentRoutes: readonly OwnerRoute[] = [
  serveEntity(
    operations.readTestSpec,
    ['/itemId', '/caseFrameworkGuid'],
    ({ tenant, path: { testSpecId = '' } }) => tenant.blueprints.get(testSpecId),
    {
      next: (entity) => ({ ...entity, version: `${entity.version}-next` }),
      previous: (entity) => ({ ...entity, version: `${entity.version}-previous` }),
    },
  ),
  serveEntity(
    operations.validateAdaptiveBankIdentity,
    ['/bankId', '/specId'],
    ({ tenant, path: { testBankId = '' } }) => tenant.bankMembers.get(testBankId),
    {
      next: (entity) => ({ ...entity, updateVersion: `${entity.updateVersion}-next` }),
      previous: (entity) => ({ ...entity, updateVersion: `${entity.updateVersion}-previous` }),
    },
  ),
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
