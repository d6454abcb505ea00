import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { reportDependencies } from '../support/dependencies.ts';
import { readAttemptReportOperation } from './operation.ts';

/** Reads the report of an attempt: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(readAttemptReport, (runtime) =>
  readAttemptReportOperation(reportDependencies(runtime)),
);

export const handler = await startFunction(bind, processRuntime());
