import { createImprovementQueue } from '#shared/stores/improvement-queue.ts';
import { makeSqs } from '#shared/stores/make-clients.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createLambda } from '#shared/lambda/lambda.ts';
import { openAnalysisPolicies } from '#shared/lambda/open-analysis-policies.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { improvementDependencies, linkDependencies } from '../support/dependencies.ts';
import { analyzeAdministrationOperation } from './operation.ts';

/** Begins an improvement run: the pipeline around the operation, bound to a runtime. */
export const bind = createLambda(analyzeAdministration, (runtime) => {
  const { environment, aws } = runtime;
  const { IMPROVEMENT_QUEUE_URL } = readEnvironment(['IMPROVEMENT_QUEUE_URL'], environment);
  const dependencies = improvementDependencies(runtime);
  return analyzeAdministrationOperation({
    ...dependencies,
    ...linkDependencies(runtime),
    policies: openAnalysisPolicies(runtime, dependencies.profiles),
    queue: createImprovementQueue(aws(makeSqs), IMPROVEMENT_QUEUE_URL),
  });
});

export const handler = await startFunction(bind, processRuntime());
