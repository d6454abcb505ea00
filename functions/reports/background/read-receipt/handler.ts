import { makeS3 } from '#shared/stores/make-clients.ts';
import { createReceiptBucket } from '#shared/stores/receipt-bucket.ts';
import { readEnvironment, variablesOf } from '#shared/http/environment.ts';
import { readReceipt } from '#shared/contract/background.ts';
import {
  checkablePipeline,
  streamedFunction,
  type StreamedFunction,
} from '#shared/lambda/lambda-function.ts';
import { openKeyRing } from '#shared/lambda/open-key-ring.ts';
import { openRelease } from '#shared/lambda/open-release.ts';
import { proveStores } from '#shared/lambda/prove-stores.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { createReceiptFunction, type ReceiptDependencies } from './operation.ts';

/** Serves a receipt bundle to the holder of a link, bound to a runtime. */
export function bind(runtime: Runtime): StreamedFunction {
  const open = () => receiptDependencies(runtime);
  const pipeline = createReceiptFunction(runtime, open, () => openRelease(runtime));
  return streamedFunction(checkablePipeline(readReceipt, runtime, proveStores, pipeline), runtime);
}

export const handler = bind(processRuntime());

function receiptDependencies(runtime: Runtime): ReceiptDependencies {
  const { environment, aws } = runtime;
  const { RECEIPTS_BUCKET } = readEnvironment([...variablesOf(readReceipt)], environment);
  return {
    keys: openKeyRing(runtime, ['receipt-link']),
    store: createReceiptBucket(aws(makeS3), RECEIPTS_BUCKET),
  };
}
