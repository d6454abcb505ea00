import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ObjectTooLargeError } from '#shared/stores/proof-objects.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { ManifestReceipt, ReleaseManifest } from '#shared/release/manifest.ts';
import { claimsToBeProof, proofFault } from '#ops/proof/receipt.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';

const MAX_RECEIPT_BYTES = 32 * 1024 * 1024;
const HTTPS_TIMEOUT_MS = 30_000;

/** Where receipts are looked up. */
export interface ReceiptPlaces {
  /** The folder beside which `file:` receipts lie; undefined when there is none to look into. */
  readonly folder: string | undefined;
  readonly fetch: typeof fetch;
  /** The bytes at `s3://…`, at most so many; undefined when nothing is there. Throws what S3 throws. */
  readonly readObject: (location: string, maxBytes: number) => Promise<Uint8Array | undefined>;
}

/** One receipt, looked up. */
export interface Dereferenced {
  readonly receipt: ManifestReceipt;
  /** Why it proves nothing: the end of a sentence that begins with its location. Undefined: it is what the manifest says. */
  readonly fault: string | undefined;
}

/**
 * Looks every receipt of a verified manifest up and holds its bytes to the digest that was signed [RP-025]. One that calls itself a proof of
 * `npm run proof` has to be sound, and no rehearsal unless the manifest is one [RP-032].
 */
export async function dereferenceAll(
  { receipts, rehearsal }: Pick<ReleaseManifest, 'receipts' | 'rehearsal'>,
  places: ReceiptPlaces,
): Promise<readonly Dereferenced[]> {
  const looked: Dereferenced[] = [];
  // One after another: at most one receipt is in memory.
  for (const receipt of receipts) {
    const bytes = await bytesAt(receipt.location, places);
    looked.push({ receipt, fault: faultOf(receipt, rehearsal, bytes) });
  }
  return looked;
}

function faultOf(
  { sha256, proves }: ManifestReceipt,
  rehearsal: boolean,
  bytes: Result<Uint8Array, string>,
): string | undefined {
  if (!bytes.ok) return bytes.error;
  const found = sha256Hex(bytes.value);
  if (found !== sha256) return `is not what was signed: its SHA-256 is ${found}, the manifest says ${sha256}`;
  return claimsToBeProof(bytes.value) ? proofFault(bytes.value, proves, rehearsal) : undefined;
}

async function bytesAt(location: string, places: ReceiptPlaces): Promise<Result<Uint8Array, string>> {
  if (location.startsWith('file:')) return bytesOfFile(location.slice('file:'.length), places.folder);
  if (location.startsWith('s3://')) return bytesOfObject(location, places.readObject);
  return bytesOfAddress(location, places.fetch);
}

/** A regular file below the folder, symbolic links followed. */
export async function bytesOfFile(
  path: string,
  folder: string | undefined,
): Promise<Result<Uint8Array, string>> {
  if (folder === undefined)
    return err('lies beside the manifest that was applied, which is not at hand here');
  try {
    const root = await realpath(folder);
    const file = await realpath(resolve(root, path));
    const below = relative(root, file);
    if (isAbsolute(path) || isAbsolute(below) || below.split(sep)[0] === '..')
      return err('leads out of the manifest’s folder');
    // Whatever else has a name here, a pipe for one, must not be waited for.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await handle.stat();
    if (!found.isFile()) return err('is no file');
    if (found.size > MAX_RECEIPT_BYTES) return err(tooLarge);
    return ok(await handle.readFile());
  } catch (error) {
    return err(`cannot be read: ${fileFailure(error)}`);
  }
}

async function bytesOfObject(
  location: string,
  readObject: ReceiptPlaces['readObject'],
): Promise<Result<Uint8Array, string>> {
  try {
    const bytes = await readObject(location, MAX_RECEIPT_BYTES);
    return bytes === undefined ? err('is not there') : ok(bytes);
  } catch (error) {
    if (error instanceof ObjectTooLargeError) return err(tooLarge);
    return err(`cannot be read: S3 says ${error instanceof Error ? error.name : 'nothing'}`);
  }
}

async function bytesOfAddress(location: string, get: typeof fetch): Promise<Result<Uint8Array, string>> {
  if (!URL.canParse(location)) return err('is no address');
  const { username, password } = new URL(location);
  if (username !== '' || password !== '') return err('has a credential in its address');
  try {
    const response = await get(location, {
      // Where it leads to could change, and was not signed.
      redirect: 'manual',
      headers: { accept: '*/*', 'accept-encoding': 'identity' },
      signal: AbortSignal.timeout(HTTPS_TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return err(
        response.status >= 300 && response.status < 400
          ? 'redirects, and redirects are not followed'
          : `answers ${response.status}`,
      );
    }
    return await bodyOf(response);
  } catch (error) {
    const late = error instanceof Error && error.name === 'TimeoutError';
    return err(late ? `does not answer within ${HTTPS_TIMEOUT_MS / 1000} s` : 'cannot be reached');
  }
}

async function bodyOf({ body }: Response): Promise<Result<Uint8Array, string>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // SAFETY: the type of a body's stream does not say that it is one of bytes.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // Leaving the loop ends the transfer.
    if (length > MAX_RECEIPT_BYTES) return err(tooLarge);
    chunks.push(chunk);
  }
  return ok(Buffer.concat(chunks));
}

const tooLarge = `is larger than ${MAX_RECEIPT_BYTES / 1024 / 1024} MB`;
