import { readAlignmentReport } from '#shared/contract/reports/routes.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { improvementDependencies, linkDependencies } from '../improvement-dependencies.ts';
import { readAlignmentReportOperation } from './operation.ts';

/** Reads an alignment report: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(readAlignmentReport, () =>
  readAlignmentReportOperation({ ...improvementDependencies(), ...linkDependencies() }),
);
