import { readClassCohort } from '#shared/contract/reports/routes/read-class-cohort.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { reportDependencies } from '../support/dependencies.ts';
import { readClassCohortOperation } from './operation.ts';

/** Reads the cohort report of a class: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(readClassCohort, (runtime) =>
  readClassCohortOperation(reportDependencies(runtime)),
);

export const handler = await startFunction(bind, processRuntime());
