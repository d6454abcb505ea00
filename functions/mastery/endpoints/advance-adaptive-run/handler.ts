import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createLambda } from '#shared/lambda/lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { advanceRun } from './operation.ts';
import { runDependencies } from '../support/dependencies.ts';

/** Advances an adaptive run: the pipeline around the operation, bound to a runtime. */
export const bind = createLambda(advanceAdaptiveRun, (runtime) => advanceRun(runDependencies(runtime)));

export const handler = await startFunction(bind, processRuntime());
