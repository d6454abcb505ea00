import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createLambda } from '#shared/lambda/lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { inspectRun } from './operation.ts';
import { runDependencies } from '../support/dependencies.ts';

/** Inspects an adaptive run: the pipeline around the operation, bound to a runtime. */
export const bind = createLambda(inspectAdaptiveRun, (runtime) => inspectRun(runDependencies(runtime)));

export const handler = await startFunction(bind, processRuntime());
