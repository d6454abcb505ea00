import { readSchoolGradeCohort } from '#shared/contract/reports/routes.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { reportDependencies } from '../report-dependencies.ts';
import { readSchoolGradeCohortOperation } from './operation.ts';

/** Reads the cohort report of a grade of a school: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(readSchoolGradeCohort, () =>
  readSchoolGradeCohortOperation(reportDependencies()),
);
