import { readClassCohort } from '#shared/contract/reports/routes.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { reportDependencies } from '../report-dependencies.ts';
import { readClassCohortOperation } from './operation.ts';

/** Reads the cohort report of a class: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(readClassCohort, () =>
  readClassCohortOperation(reportDependencies()),
);
