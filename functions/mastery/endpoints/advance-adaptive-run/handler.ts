import { advanceAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import { createLambda } from '#shared/http/lambda.ts';
import { advanceRun } from './operation.ts';
import { runDependencies } from '../run-dependencies.ts';

/** Advances an adaptive run: the pipeline around the operation, with the real dependencies. */
export const handler = createLambda(advanceAdaptiveRun, () => advanceRun(runDependencies()));
