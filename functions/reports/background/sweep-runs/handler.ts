import { dynamo, sqs } from '#shared/stores/clients.ts';
import { createImprovementQueue } from '#shared/stores/improvement-queue.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { lambdaRelease } from '#shared/http/lambda-release.ts';
import { processSurroundings } from '#shared/http/surroundings.ts';
import { createSweepFunction } from './take-sweep.ts';

const surroundings = processSurroundings();

/** Sweeps the improvement runs that have not ended, with the real dependencies. */
export const handler = createSweepFunction(stores, surroundings, () => lambdaRelease(surroundings));

function stores(): ReturnType<Parameters<typeof createSweepFunction>[0]> {
  const { IMPROVEMENT_TABLE, IMPROVEMENT_QUEUE_URL } = readEnvironment([
    'IMPROVEMENT_TABLE',
    'IMPROVEMENT_QUEUE_URL',
  ]);
  return {
    store: createImprovementTable(dynamo(), IMPROVEMENT_TABLE),
    queue: createImprovementQueue(sqs(), IMPROVEMENT_QUEUE_URL),
  };
}
