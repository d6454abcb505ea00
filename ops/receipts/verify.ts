import { basename, join } from 'node:path';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { readFrom } from '#tools/terminal/file-failure.ts';
import type { Paint } from '#tools/terminal/paint.ts';
import { checkEvidence, namedDigests, type Evidence } from './check-evidence.ts';
import { checkReceipt } from './check-receipt.ts';
import { renderChecks, renderReceipt } from './render.ts';

export interface VerifyRuntime {
  readonly readFile: (path: string) => Promise<Uint8Array>;
  /** The files of a folder and of those in it, as paths from it. */
  readonly listFiles: (folder: string) => Promise<readonly string[]>;
  readonly print: (line: string) => void;
  readonly paint: Paint;
}

/**
 * `receipts verify FILE`: prints every check of a receipt bundle, with a folder also those against its artifacts.
 * @returns err: a sentence if a check failed
 */
export async function verifyReceipt(
  { readFile, listFiles, print, paint }: VerifyRuntime,
  path: string,
  folder: string | undefined,
): Promise<Result<undefined, string>> {
  const bytes = await readFrom(path, readFile);
  if (!bytes.ok) return bytes;
  const checked = checkReceipt({ name: basename(path), bytes: bytes.value });
  if (!checked.ok) return err(`${path} ${checked.error}`);
  const { receipt, checks } = checked.value;
  const all = [...checks];
  if (receipt !== undefined && folder !== undefined) {
    const evidence = await gather(folder, namedDigests(receipt));
    if (!evidence.ok) return evidence;
    all.push(...checkEvidence(receipt, evidence.value));
  }
  const failed = all.filter(({ failures }) => failures.length > 0);
  if (receipt !== undefined) for (const line of renderReceipt(receipt, paint)) print(line);
  for (const line of renderChecks(all, paint)) print(line);
  if (folder === undefined && failed.length === 0)
    print('\nA bundle does not contain the observations. To verify its thresholds too, add --artifacts DIR.');
  if (failed.length === 0) return ok(undefined);
  const names = [...new Set(failed.map(({ name }) => name))].join(', ');
  return err(`${path} is not valid: ${failed.length} of ${all.length} checks failed (${names})`);

  /** The files with one of the digests, under any name; no other is kept in memory. */
  async function gather(from: string, digests: ReadonlySet<string>): Promise<Result<Evidence, string>> {
    const files = await readFrom(from, listFiles);
    if (!files.ok) return files;
    const found = new Map<string, Uint8Array>();
    for (const file of files.value) {
      const content = await readFrom(join(from, file), readFile);
      if (!content.ok) return content;
      const sha256 = sha256Hex(content.value);
      if (digests.has(sha256)) found.set(sha256, content.value);
    }
    return ok(found);
  }
}
