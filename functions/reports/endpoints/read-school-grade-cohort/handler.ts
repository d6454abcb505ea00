import { readSchoolGradeCohort } from '#shared/contract/reports/routes/read-school-grade-cohort.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { reportDependencies } from '../support/dependencies.ts';
import { readSchoolGradeCohortOperation } from './operation.ts';

/** Reads the cohort report of a grade of a school: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(readSchoolGradeCohort, (runtime) =>
  readSchoolGradeCohortOperation(reportDependencies(runtime)),
);

export const handler = await startFunction(bind, processRuntime());
