import { analyzeRun } from '#shared/contract/background.ts';
import { createImprovementQueue } from '#shared/stores/improvement-queue.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { makeDynamo, makeS3, makeSqs } from '#shared/stores/make-clients.ts';
import { createReceiptBucket } from '#shared/stores/receipt-bucket.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { openAnalysisPolicies } from '#shared/lambda/open-analysis-policies.ts';
import { openRelease } from '#shared/lambda/open-release.ts';
import { openServiceProfiles } from '#shared/lambda/open-service-profiles.ts';
import { proveStores } from '#shared/lambda/prove-stores.ts';
import { checkable, type Checkable } from '#shared/lambda/version-check.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import type { RunDependencies } from '#functions/reports/improvement/work-run.ts';
import { createMessageFunction, type MessageFunction } from './take-messages.ts';

/** Works on the improvement run that a message of the queue names, bound to a runtime. */
export function bind(runtime: Runtime): Checkable<MessageFunction> {
  const open = () => runDependencies(runtime);
  return checkable(
    runtime,
    (tenantId) => proveStores(analyzeRun, runtime, tenantId),
    createMessageFunction(open, runtime, () => openRelease(runtime)),
  );
}

export const handler = bind(processRuntime());

function runDependencies(runtime: Runtime): RunDependencies {
  const { environment, aws, now } = runtime;
  const { IMPROVEMENT_TABLE, IMPROVEMENT_QUEUE_URL, RECEIPTS_BUCKET } = readEnvironment(
    ['IMPROVEMENT_TABLE', 'IMPROVEMENT_QUEUE_URL', 'RECEIPTS_BUCKET'],
    environment,
  );
  const profiles = openServiceProfiles(runtime);
  return {
    store: createImprovementTable(aws(makeDynamo), IMPROVEMENT_TABLE, runtime),
    receipts: createReceiptBucket(aws(makeS3), RECEIPTS_BUCKET),
    queue: createImprovementQueue(aws(makeSqs), IMPROVEMENT_QUEUE_URL),
    policies: openAnalysisPolicies(runtime, profiles),
    profiles,
    connect: createPlatform(runtime),
    now,
  };
}
