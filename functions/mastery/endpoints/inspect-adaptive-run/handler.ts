import { inspectAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import { createLambda } from '#shared/http/lambda.ts';
import { inspectRun } from './operation.ts';
import { runDependencies } from '../run-dependencies.ts';

/** Inspects an adaptive run: the pipeline around the operation, with the real dependencies. */
export const handler = createLambda(inspectAdaptiveRun, () => inspectRun(runDependencies()));
