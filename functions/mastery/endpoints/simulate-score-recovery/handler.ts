import { simulateRecovery } from './operation.ts';
import { simulateScoreRecovery } from '#shared/contract/mastery/routes.ts';
import { createLambda } from '#shared/http/lambda.ts';
import { poolDependencies } from '../run-dependencies.ts';

/** Simulates score recovery: the pipeline around the operation, with the real dependencies. */
export const handler = createLambda(simulateScoreRecovery, () =>
  simulateRecovery({ ...poolDependencies(), now: Date.now }),
);
