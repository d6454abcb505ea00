import { readAttemptReport } from '#shared/contract/reports/routes.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { reportDependencies } from '../report-dependencies.ts';
import { readAttemptReportOperation } from './operation.ts';

/** Reads the report of an attempt: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(readAttemptReport, () =>
  readAttemptReportOperation(reportDependencies()),
);
