import { readSelectionPolicy } from '#shared/contract/mastery/routes/read-selection-policy.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { recordDependencies } from '../support/dependencies.ts';
import { readSelectionPolicyOperation } from './operation.ts';

/** Reads a selection policy: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(readSelectionPolicy, (runtime) =>
  readSelectionPolicyOperation(recordDependencies(runtime)),
);

export const handler = await startFunction(bind, processRuntime());
