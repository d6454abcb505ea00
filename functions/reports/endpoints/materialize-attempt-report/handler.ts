import { materializeAttemptReport } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createLambda } from '#shared/lambda/lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { reportDependencies } from '../support/dependencies.ts';
import { materializeAttemptReportOperation } from './operation.ts';

/** Materializes the report of an attempt: the pipeline around the operation, bound to a runtime. */
export const bind = createLambda(materializeAttemptReport, (runtime) =>
  materializeAttemptReportOperation(reportDependencies(runtime)),
);

export const handler = await startFunction(bind, processRuntime());
