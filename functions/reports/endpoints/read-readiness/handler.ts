import { readReadiness } from '#shared/contract/reports/routes/read-readiness.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { reportDependencies } from '../support/dependencies.ts';
import { readReadinessOperation } from './operation.ts';

/** Reads what an attempt implies for external tests: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(readReadiness, (runtime) =>
  readReadinessOperation(reportDependencies(runtime)),
);

export const handler = await startFunction(bind, processRuntime());
