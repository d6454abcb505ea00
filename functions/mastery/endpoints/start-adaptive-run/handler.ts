import { startAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import { createLambda } from '#shared/http/lambda.ts';
import { startRun } from './operation.ts';
import { runDependencies } from '../run-dependencies.ts';

/** Starts an adaptive run: the pipeline around the operation, with the real dependencies. */
export const handler = createLambda(startAdaptiveRun, () => startRun(runDependencies()));
