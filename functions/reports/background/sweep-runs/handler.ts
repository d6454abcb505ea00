import { sweepRuns } from '#shared/contract/background.ts';
import type { ScheduledHandler } from '#functions/reports/background/invocation.ts';
import { createImprovementQueue } from '#shared/stores/improvement-queue.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { makeDynamo, makeSqs } from '#shared/stores/make-clients.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { openRelease } from '#shared/lambda/open-release.ts';
import { proveStores } from '#shared/lambda/prove-stores.ts';
import { checkable, type Checkable } from '#shared/lambda/version-check.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { createSweepFunction, type SweepStores } from './sweep-runs.ts';

/** Sweeps the improvement runs that have not ended, bound to a runtime. */
export function bind(runtime: Runtime): Checkable<ScheduledHandler> {
  const open = () => openStores(runtime);
  return checkable(
    runtime,
    (tenantId) => proveStores(sweepRuns, runtime, tenantId),
    createSweepFunction(open, runtime, () => openRelease(runtime)),
  );
}

export const handler = bind(processRuntime());

function openStores(runtime: Runtime): SweepStores {
  const { environment, aws } = runtime;
  const { IMPROVEMENT_TABLE, IMPROVEMENT_QUEUE_URL } = readEnvironment(
    ['IMPROVEMENT_TABLE', 'IMPROVEMENT_QUEUE_URL'],
    environment,
  );
  return {
    store: createImprovementTable(aws(makeDynamo), IMPROVEMENT_TABLE, runtime),
    queue: createImprovementQueue(aws(makeSqs), IMPROVEMENT_QUEUE_URL),
  };
}
