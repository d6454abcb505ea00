import { simulateRecovery } from './operation.ts';
import { simulateScoreRecovery } from '#shared/contract/mastery/routes/simulate-score-recovery.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createLambda } from '#shared/lambda/lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { poolDependencies } from '../support/dependencies.ts';

/** Simulates score recovery: the pipeline around the operation, bound to a runtime. */
export const bind = createLambda(simulateScoreRecovery, (runtime) =>
  simulateRecovery(poolDependencies(runtime)),
);

export const handler = await startFunction(bind, processRuntime());
