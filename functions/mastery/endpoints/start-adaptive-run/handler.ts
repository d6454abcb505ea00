import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createLambda } from '#shared/lambda/lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { startRun } from './operation.ts';
import { runDependencies } from '../support/dependencies.ts';

/** Starts an adaptive run: the pipeline around the operation, bound to a runtime. */
export const bind = createLambda(startAdaptiveRun, (runtime) => startRun(runDependencies(runtime)));

export const handler = await startFunction(bind, processRuntime());
