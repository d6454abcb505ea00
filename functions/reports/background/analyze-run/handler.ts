import { dynamo, s3, sqs } from '#shared/stores/clients.ts';
import { createImprovementQueue } from '#shared/stores/improvement-queue.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { openAnalysisPolicies } from '#shared/stores/open-analysis-policies.ts';
import { openServiceProfiles } from '#shared/stores/open-service-profiles.ts';
import { createReceiptBucket } from '#shared/stores/receipt-bucket.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { lambdaRelease } from '#shared/http/lambda-release.ts';
import { processSurroundings } from '#shared/http/surroundings.ts';
import { platformConnection } from '#shared/platform/connect.ts';
import type { RunDependencies } from '#functions/reports/improvement/work-run.ts';
import { createMessageFunction } from './take-messages.ts';

const surroundings = processSurroundings();

/** Works on the improvement run that a message of the queue names, with the real dependencies. */
export const handler = createMessageFunction(runDependencies, surroundings, () =>
  lambdaRelease(surroundings),
);

function runDependencies(): RunDependencies {
  const { STAGE, IMPROVEMENT_TABLE, IMPROVEMENT_QUEUE_URL, RECEIPTS_BUCKET, RECORDS_TABLE } = readEnvironment(
    ['STAGE', 'IMPROVEMENT_TABLE', 'IMPROVEMENT_QUEUE_URL', 'RECEIPTS_BUCKET', 'RECORDS_TABLE'],
  );
  const profiles = openServiceProfiles(STAGE, process.env);
  return {
    store: createImprovementTable(dynamo(), IMPROVEMENT_TABLE),
    receipts: createReceiptBucket(s3(), RECEIPTS_BUCKET),
    queue: createImprovementQueue(sqs(), IMPROVEMENT_QUEUE_URL),
    policies: openAnalysisPolicies(RECORDS_TABLE, process.env, profiles),
    profiles,
    connect: platformConnection(),
    now: Date.now,
  };
}
