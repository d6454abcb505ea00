import { materializeAttemptReport } from '#shared/contract/reports/routes.ts';
import { createLambda } from '#shared/http/lambda.ts';
import { reportDependencies } from '../report-dependencies.ts';
import { materializeAttemptReportOperation } from './operation.ts';

/** Materializes the report of an attempt: the pipeline around the operation, with the real dependencies. */
export const handler = createLambda(materializeAttemptReport, () =>
  materializeAttemptReportOperation(reportDependencies()),
);
