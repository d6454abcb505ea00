import { formatInstant } from '#shared/kernel/instant.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { ManifestTrust } from '#shared/release/manifest.ts';
import type { ObjectVersions, VersionedObject } from '#shared/stores/object-versions.ts';
import { compareReceipt, type ObjectWrite } from './compare-receipts.ts';
import { openReport } from './report.ts';

export interface ReceiptRestore {
  readonly objects: ObjectVersions;
  readonly bucket: string;
  /** Epoch milliseconds. */
  readonly to: number;
  readonly trust: ManifestTrust;
  readonly isDryRun: boolean;
  readonly print: (line: string) => void;
}

const MAX_CONCURRENT_READS = 16;

/**
 * Reads every object of the bucket of receipts, and writes again what was deleted or damaged, from the last sound version of that time. Throws
 * what S3 throws.
 * @returns err: one sentence when something could not be repaired
 */
export async function restoreReceipts(restore: ReceiptRestore): Promise<Result<undefined, string>> {
  const { objects, bucket, to, trust, isDryRun, print } = restore;
  print(`Comparing every object of ${bucket} with its versions of ${formatInstant(to)} and before.`);
  const report = openReport<ObjectWrite>({
    isDryRun,
    print,
    write: ({ key, content, over }) => objects.write(key, content, over),
  });
  const compare = async (some: readonly VersionedObject[]): Promise<void> => {
    const found = await Promise.all(some.map((object) => compareReceipt({ objects, to, trust }, object)));
    for (const findings of found) await report.add(findings);
  };
  let waiting: VersionedObject[] = [];
  for await (const object of objects.objects()) {
    waiting.push(object);
    if (waiting.length < MAX_CONCURRENT_READS) continue;
    await compare(waiting);
    waiting = [];
  }
  await compare(waiting);
  return report.end('objects');
}
