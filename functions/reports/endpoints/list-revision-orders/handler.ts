import { openKeyRing } from '#shared/stores/open-key-ring.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { improvementDependencies, openPolicies } from '../improvement-dependencies.ts';
import { listRevisionOrdersOperation } from './operation.ts';

/** Lists the orders of an improvement run: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(listRevisionOrders, () => {
  const { STAGE, SETTINGS_TABLE } = readEnvironment(['STAGE', 'SETTINGS_TABLE']);
  const dependencies = improvementDependencies();
  return listRevisionOrdersOperation({
    ...dependencies,
    policies: openPolicies(dependencies),
    keys: openKeyRing(STAGE, SETTINGS_TABLE, ['cursor'], Date.now),
  });
});
