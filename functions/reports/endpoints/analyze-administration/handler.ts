import { sqs } from '#shared/stores/clients.ts';
import { createImprovementQueue } from '#shared/stores/improvement-queue.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createLambda } from '#shared/http/lambda.ts';
import { improvementDependencies, linkDependencies, openPolicies } from '../improvement-dependencies.ts';
import { analyzeAdministrationOperation } from './operation.ts';

/** Begins an improvement run: the pipeline around the operation, with the real dependencies. */
export const handler = createLambda(analyzeAdministration, () => {
  const { IMPROVEMENT_QUEUE_URL } = readEnvironment(['IMPROVEMENT_QUEUE_URL']);
  const dependencies = improvementDependencies();
  return analyzeAdministrationOperation({
    ...dependencies,
    ...linkDependencies(),
    policies: openPolicies(dependencies),
    queue: createImprovementQueue(sqs(), IMPROVEMENT_QUEUE_URL),
  });
});
