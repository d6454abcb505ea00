import { readEquivalence } from '#shared/contract/reports/routes/read-equivalence.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { reportDependencies } from '../support/dependencies.ts';
import { readEquivalenceOperation } from './operation.ts';

/** Reads whether a form measures like its parallel forms: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(readEquivalence, (runtime) =>
  readEquivalenceOperation(reportDependencies(runtime)),
);

export const handler = await startFunction(bind, processRuntime());
