import { compactVerify, importJWK } from 'jose';
import type { JWK } from 'jose';
import * as z from 'zod';
import { provable } from '#shared/contract/gates.ts';
import { instant, sha256, text } from '#shared/contract/reports/primitives.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';

/** The protected header's `typ` of a prerequisite manifest. */
export const MANIFEST_TYPE = 'release-manifest+jws';

/** A manifest has to fit into the item that functions read, beside the flags. */
export const MAX_MANIFEST_BYTES = 256 * 1024;

/** One proof that something is ready for release: where it lies, and the SHA-256 of its bytes. */
const receipt = z.strictObject({
  proves: z.enum(provable),
  /** `https://…`, `s3://bucket/key`, or `file:` with a path beside the manifest. */
  location: z.string().regex(/^(https:\/\/|s3:\/\/|file:)[^\s]+$/),
  sha256,
  summary: text,
});
export type ManifestReceipt = z.infer<typeof receipt>;

/** The prerequisite manifest: who signs it answers for every receipt in it (docs/release.md). */
export const releaseManifest = z.strictObject({
  manifestVersion: z.literal(1),
  /** The one stage that it is good for. */
  stage: text,
  /** A rehearsal opens nothing but a local stage. */
  rehearsal: z.boolean(),
  issuedAt: instant,
  /** From then on it proves nothing. */
  expiresAt: instant,
  receipts: z.array(receipt).max(100),
});
export type ReleaseManifest = z.infer<typeof releaseManifest>;

/**
 * Why a manifest proves nothing. `malformed`: no compact JWS of this kind around a manifest. `unsigned`: not signed with the stage's trusted
 * key. `expired`, `not-yet-issued`, `other-stage`: good at another time or place. `rehearsal`: made for trying out.
 */
export type ManifestFault =
  'malformed' | 'unsigned' | 'expired' | 'not-yet-issued' | 'other-stage' | 'rehearsal';

/** How far ahead of ours the clock of who signs may be. */
const CLOCK_SKEW_MS = 60_000;

export interface ManifestUse {
  /** The stage's trusted key: a public P-256 key. */
  readonly key: JWK;
  readonly stage: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Verifies a manifest, a compact JWS (RFC 7515) with ES256, before anything of it is believed. */
export async function verifyManifest(
  jws: string,
  { key, stage, now }: ManifestUse,
): Promise<Result<ReleaseManifest, ManifestFault>> {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jws)) return err('malformed');
  let payload: Uint8Array;
  try {
    const verified = await compactVerify(jws, await importJWK(key, 'ES256'), { algorithms: ['ES256'] });
    if (verified.protectedHeader.typ !== MANIFEST_TYPE) return err('malformed');
    payload = verified.payload;
  } catch {
    return err('unsigned');
  }
  const json = parseStrictJson(new TextDecoder().decode(payload));
  const manifest = releaseManifest.safeParse(json.ok ? json.value : undefined);
  if (!manifest.success) return err('malformed');
  const { issuedAt, expiresAt, rehearsal } = manifest.data;
  if (manifest.data.stage !== stage) return err('other-stage');
  if (rehearsal && stage !== 'local') return err('rehearsal');
  if (Date.parse(issuedAt) > now + CLOCK_SKEW_MS) return err('not-yet-issued');
  if (Date.parse(expiresAt) <= now) return err('expired');
  return ok(manifest.data);
}
