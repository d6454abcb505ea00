import { s3 } from '#shared/stores/clients.ts';
import { openKeyRing } from '#shared/stores/open-key-ring.ts';
import { createReceiptBucket } from '#shared/stores/receipt-bucket.ts';
import { readReceipt } from '#shared/contract/background.ts';
import { readEnvironment, variablesOfBackground } from '#shared/http/environment.ts';
import { streamedFunction } from '#shared/http/lambda-function.ts';
import { lambdaRelease } from '#shared/http/lambda-release.ts';
import { processSurroundings } from '#shared/http/surroundings.ts';
import { createReceiptFunction } from './operation.ts';
import type { ReceiptDependencies } from './operation.ts';

const surroundings = processSurroundings();

export const handler = streamedFunction(
  createReceiptFunction(surroundings, receiptDependencies, () => lambdaRelease(surroundings)),
);

function receiptDependencies(): ReceiptDependencies {
  const { STAGE, SETTINGS_TABLE, RECEIPTS_BUCKET } = readEnvironment(
    [...variablesOfBackground(readReceipt)],
    surroundings.environment,
  );
  return {
    keys: openKeyRing(STAGE, SETTINGS_TABLE, ['receipt-link'], surroundings.now),
    store: createReceiptBucket(s3(), RECEIPTS_BUCKET),
  };
}
