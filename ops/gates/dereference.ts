import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ObjectTooLargeError } from '#shared/stores/proof-objects.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { ManifestReceipt, ReleaseManifest } from '#shared/release/manifest.ts';
import { claimsToBeProof, proofFault } from '#ops/proof/receipt.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';

const MAX_RECEIPT_BYTES = 32 * 1024 * 1024;
const HTTPS_TIMEOUT_MS = 30_000;

/** Where receipts are looked up. */
export interface ReceiptPlaces {
  /** The folder of `file:` receipts; undefined if it is not available. */
  readonly folder: string | undefined;
  readonly fetch: typeof fetch;
  /** The bytes at `s3://…`; throws if there are more than `maxBytes`. Undefined if the object does not exist. Throws what S3 throws. */
  readonly readObject: (location: string, maxBytes: number) => Promise<Uint8Array | undefined>;
}

/** The account of the stage cannot be reached, so nothing in S3 can be read. */
export class UnreachableStageError extends Error {
  override readonly name = 'UnreachableStageError';
}

export interface Dereferenced {
  readonly receipt: ManifestReceipt;
  /** Why it is not valid, as the end of a sentence that begins with its location; undefined if it is valid. */
  readonly fault: string | undefined;
}

/**
 * Looks up every receipt of a verified manifest and compares its bytes with the signed digest [RP-025]. A receipt of `npm run proof` must also
 * be sound, and only a rehearsal manifest may contain one of a rehearsal [RP-032].
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
  if (found !== sha256) return `has been changed: its SHA-256 is ${found}, but the manifest signed ${sha256}`;
  return claimsToBeProof(bytes.value) ? proofFault(bytes.value, proves, rehearsal) : undefined;
}

async function bytesAt(location: string, places: ReceiptPlaces): Promise<Result<Uint8Array, string>> {
  if (location.startsWith('file:')) return bytesOfFile(location.slice('file:'.length), places.folder);
  if (location.startsWith('s3://')) return bytesOfObject(location, places.readObject);
  return bytesOfAddress(location, places.fetch);
}

/** Reads a regular file below the folder, and follows symbolic links. */
export async function bytesOfFile(
  path: string,
  folder: string | undefined,
): Promise<Result<Uint8Array, string>> {
  if (folder === undefined)
    return err(
      'is in the folder of the applied manifest, which is not available here: name it with --receipts DIR',
    );
  try {
    const root = await realpath(folder);
    const file = await realpath(resolve(root, path));
    const below = relative(root, file);
    if (isAbsolute(path) || isAbsolute(below) || below.split(sep)[0] === '..')
      return err('is outside the manifest’s folder');
    // Do not wait for a pipe or a device.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await handle.stat();
    if (!found.isFile()) return err('is not a file');
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
    return bytes === undefined ? err('does not exist') : ok(bytes);
  } catch (error) {
    if (error instanceof ObjectTooLargeError) return err(tooLarge);
    if (error instanceof UnreachableStageError) return err(`cannot be read: ${error.message}`);
    return err(`cannot be read: S3 returned ${error instanceof Error ? error.name : 'an unknown error'}`);
  }
}

async function bytesOfAddress(location: string, get: typeof fetch): Promise<Result<Uint8Array, string>> {
  if (!URL.canParse(location)) return err('is not a URL');
  const { username, password } = new URL(location);
  if (username !== '' || password !== '') return err('must not contain a credential in its URL');
  try {
    const response = await get(location, {
      // The target of a redirect was not signed.
      redirect: 'manual',
      headers: { accept: '*/*', 'accept-encoding': 'identity' },
      signal: AbortSignal.timeout(HTTPS_TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return err(
        response.status >= 300 && response.status < 400
          ? 'redirects to another URL: give the final URL'
          : `returned ${response.status}`,
      );
    }
    return await bodyOf(response);
  } catch (error) {
    const late = error instanceof Error && error.name === 'TimeoutError';
    return err(late ? `did not respond within ${HTTPS_TIMEOUT_MS / 1000} s` : 'cannot be reached');
  }
}

async function bodyOf({ body }: Response): Promise<Result<Uint8Array, string>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // SAFETY: a body's stream is one of bytes, although its type does not declare it.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // Leaving the loop ends the transfer.
    if (length > MAX_RECEIPT_BYTES) return err(tooLarge);
    chunks.push(chunk);
  }
  return ok(Buffer.concat(chunks));
}

const tooLarge = `is larger than ${MAX_RECEIPT_BYTES / 1024 / 1024} MB`;
