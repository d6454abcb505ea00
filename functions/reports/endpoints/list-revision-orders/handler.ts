import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import { openAnalysisPolicies } from '#shared/lambda/open-analysis-policies.ts';
import { openKeyRing } from '#shared/lambda/open-key-ring.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { improvementDependencies } from '../support/dependencies.ts';
import { listRevisionOrdersOperation } from './operation.ts';

/** Lists the orders of an improvement run: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(listRevisionOrders, (runtime) => {
  const dependencies = improvementDependencies(runtime);
  return listRevisionOrdersOperation({
    ...dependencies,
    policies: openAnalysisPolicies(runtime, dependencies.profiles),
    keys: openKeyRing(runtime, ['cursor']),
  });
});

export const handler = await startFunction(bind, processRuntime());
