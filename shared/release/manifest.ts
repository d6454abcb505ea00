import { compactVerify, importJWK, type JWK } from 'jose';
import * as z from 'zod';
import { provable } from '#shared/contract/gates.ts';
import { instant, sha256, text } from '#shared/contract/reports/primitives.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
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
export type ManifestFault = 'malformed' | 'unsigned' | 'other-stage' | 'rehearsal' | TimeFault;

/** What a manifest can be at one time and not at another. */
type TimeFault = 'expired' | 'not-yet-issued';

/** How far ahead of ours the clock of who signs may be. */
const CLOCK_SKEW_MS = 60_000;

/** Whose manifests count, and where. */
export interface ManifestTrust {
  /** The stage's trusted key: a public P-256 key. */
  readonly key: JWK;
  readonly stage: string;
}

export interface ManifestUse extends ManifestTrust {
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Verifies a manifest, a compact JWS (RFC 7515) with ES256, before anything of it is believed. */
export async function verifyManifest(
  jws: string,
  { now, ...trust }: ManifestUse,
): Promise<Result<ReleaseManifest, ManifestFault>> {
  const opened = await openManifest(jws, trust);
  if (!opened.ok) return opened;
  const untimely = timeFault(opened.value, now);
  return untimely === undefined ? opened : err(untimely);
}

/**
 * The same without a look at the clock, for who keeps what was verified: `timeFault` has to be asked whenever it is used. Never throws: a
 * key that is none has signed nothing.
 */
export async function openManifest(
  jws: string,
  { key, stage }: ManifestTrust,
): Promise<Result<ReleaseManifest, Exclude<ManifestFault, TimeFault>>> {
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
  if (manifest.data.stage !== stage) return err('other-stage');
  if (manifest.data.rehearsal && stage !== 'local') return err('rehearsal');
  return ok(manifest.data);
}

/**
 * What of a manifest that was opened depends on the time; undefined while it is good.
 * @param now epoch milliseconds
 */
export function timeFault(
  { issuedAt, expiresAt }: Pick<ReleaseManifest, 'issuedAt' | 'expiresAt'>,
  now: number,
): TimeFault | undefined {
  if (Date.parse(issuedAt) > now + CLOCK_SKEW_MS) return 'not-yet-issued';
  return Date.parse(expiresAt) <= now ? 'expired' : undefined;
}
