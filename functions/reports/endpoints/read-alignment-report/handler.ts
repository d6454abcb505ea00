import { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { improvementDependencies, linkDependencies } from '../support/dependencies.ts';
import { readAlignmentReportOperation } from './operation.ts';

/** Reads an alignment report: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(readAlignmentReport, (runtime) =>
  readAlignmentReportOperation({ ...improvementDependencies(runtime), ...linkDependencies(runtime) }),
);

export const handler = await startFunction(bind, processRuntime());
