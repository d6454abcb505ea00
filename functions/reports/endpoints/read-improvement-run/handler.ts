import { readImprovementRun } from '#shared/contract/reports/routes/read-improvement-run.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { improvementDependencies, linkDependencies } from '../support/dependencies.ts';
import { readImprovementRunOperation } from './operation.ts';

/** Reads an improvement run: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(readImprovementRun, (runtime) =>
  readImprovementRunOperation({ ...improvementDependencies(runtime), ...linkDependencies(runtime) }),
);

export const handler = await startFunction(bind, processRuntime());
