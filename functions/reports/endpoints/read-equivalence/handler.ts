import { readEquivalence } from '#shared/contract/reports/routes.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { reportDependencies } from '../report-dependencies.ts';
import { readEquivalenceOperation } from './operation.ts';

/** Reads whether a form measures like its parallel forms: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(readEquivalence, () =>
  readEquivalenceOperation(reportDependencies()),
);
