import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { describeFault } from '#shared/release/describe-fault.ts';
import { MAX_MANIFEST_BYTES, verifyManifest } from '#shared/release/manifest.ts';
import type { ManifestUse, ReleaseManifest } from '#shared/release/manifest.ts';
import { readFrom } from '#tools/terminal/file-failure.ts';
import { renderTable } from '#tools/terminal/table.ts';
import { dereferenceAll, type Dereferenced, type ReceiptPlaces } from './dereference.ts';

/** A manifest that verifies, with everything that it refers to. */
export interface CheckedManifest {
  readonly jws: string;
  readonly manifest: ReleaseManifest;
  readonly receipts: readonly Dereferenced[];
}

/** Returns the compact JWS in a file, without the line end that editors add. */
export async function readManifestFile(path: string): Promise<Result<string, string>> {
  const text = await readFrom(path, async () => (await readFile(path, 'utf8')).trim());
  return text.ok && Buffer.byteLength(text.value) > MAX_MANIFEST_BYTES
    ? err(`${path} is larger than ${MAX_MANIFEST_BYTES / 1024} KB, the limit for a manifest`)
    : text;
}

/** Returns the stage that an unverified manifest names; undefined if it is not a manifest. */
export function claimedStage(jws: string): string | undefined {
  const json = parseStrictJson(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString());
  const named = z.object({ stage: z.string() }).safeParse(json.ok ? json.value : undefined);
  return named.success ? named.data.stage : undefined;
}

/** Returns a P-256 public key in a file, as a JWK or in PEM. For a private key it returns the public half. */
export async function readKeyFile(path: string): Promise<Result<JsonWebKey, string>> {
  const text = await readFrom(path, () => readFile(path, 'utf8'));
  if (!text.ok) return text;
  const json = parseStrictJson(text.value);
  try {
    const key = createPublicKey(
      json.ok ? { key: json.value as JsonWebKey, format: 'jwk' } : { key: text.value, format: 'pem' },
    ).export({ format: 'jwk' });
    if (key.crv === 'P-256') return ok(key);
  } catch {
    // Reported below.
  }
  return err(`${path} does not contain a P-256 key: expected a JWK or PEM`);
}

/**
 * Verifies a manifest, then looks up its receipts: nothing that it names is fetched before its signature is verified.
 * @param path its file, for messages and for the `file:` receipts in its folder
 * @returns err: a sentence; an invalid receipt is no error here
 */
export async function checkManifest(
  path: string,
  jws: string,
  use: ManifestUse,
  places: Omit<ReceiptPlaces, 'folder'>,
): Promise<Result<CheckedManifest, string>> {
  const verified = await verifyManifest(jws, use);
  if (!verified.ok) return err(`${path} ${describeFault(verified.error, use.stage)}`);
  const manifest = verified.value;
  const receipts = await dereferenceAll(manifest, { ...places, folder: dirname(path) });
  return ok({ jws, manifest, receipts });
}

export function receiptFaults(receipts: readonly Dereferenced[]): readonly string[] {
  return receipts.flatMap(({ receipt, fault }) =>
    fault === undefined ? [] : [`${receipt.proves}: ${receipt.location} ${fault}`],
  );
}

/** Returns a table: what each receipt proves, OK or no, where it is, and why it is not valid. */
export function renderReceipts(receipts: readonly Dereferenced[]): string {
  const rows = receipts.map(({ receipt, fault }) => [
    receipt.proves,
    fault === undefined ? 'OK' : 'no',
    receipt.location,
    fault === undefined ? receipt.summary : `it ${fault}`,
  ]);
  return renderTable([['proves', 'valid', 'receipt', ''], ...rows]);
}
