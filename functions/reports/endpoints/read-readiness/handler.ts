import { readReadiness } from '#shared/contract/reports/routes.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { reportDependencies } from '../report-dependencies.ts';
import { readReadinessOperation } from './operation.ts';

/** Reads what an attempt implies for external tests: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(readReadiness, () => readReadinessOperation(reportDependencies()));
