import { compactVerify, importJWK, type JWK } from 'jose';
import * as z from 'zod';
import { provable } from '#shared/contract/gates.ts';
import { instant, sha256, text } from '#shared/contract/reports/primitives.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';

/** The protected header's `typ` of a prerequisite manifest. */
export const MANIFEST_TYPE = 'release-manifest+jws';

/** A manifest has to fit into the item that functions read, together with the flags. */
export const MAX_MANIFEST_BYTES = 256 * 1024;

/** One proof of readiness for release: its place, and the SHA-256 of its bytes. */
const receipt = z.strictObject({
  proves: z.enum(provable),
  /** `https://…`, `s3://bucket/key`, or `file:` with a path next to the manifest. */
  location: z.string().regex(/^(https:\/\/|s3:\/\/|file:)[^\s]+$/),
  sha256,
  summary: text,
});
export type ManifestReceipt = z.infer<typeof receipt>;

/** The prerequisite manifest: its signer is responsible for every receipt in it (docs/release.md). */
export const releaseManifest = z.strictObject({
  manifestVersion: z.literal(1),
  /** The one stage for which it is valid. */
  stage: text,
  /** Whether it is a rehearsal, which opens gates only on a local stage. */
  rehearsal: z.boolean(),
  issuedAt: instant,
  /** From then on the manifest proves nothing. */
  expiresAt: instant,
  receipts: z.array(receipt).max(100),
});
export type ReleaseManifest = z.infer<typeof releaseManifest>;

/**
 * Why a manifest proves nothing. `malformed`: no compact JWS of this kind around a manifest. `unsigned`: not signed with the stage's trusted key.
 * `expired`, `not-yet-issued`, `other-stage`: valid at another time or for another stage. `rehearsal`: made for trying out.
 */
export type ManifestFault = 'malformed' | 'unsigned' | 'other-stage' | 'rehearsal' | TimeFault;

/** Faults that a manifest has at one time and not at another. */
type TimeFault = 'expired' | 'not-yet-issued';

/** How far the signer's clock may be ahead of ours. */
const CLOCK_SKEW_MS = 60_000;

/** Whose manifests are trusted, and for which stage. */
export interface ManifestTrust {
  /** The stage's trusted key: a public P-256 key. */
  readonly key: JWK;
  readonly stage: string;
}

export interface ManifestUse extends ManifestTrust {
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Verifies a manifest, a compact JWS (RFC 7515) with ES256, before any of its content is used. */
export async function verifyManifest(
  jws: string,
  { now, ...trust }: ManifestUse,
): Promise<Result<ReleaseManifest, ManifestFault>> {
  const opened = await openManifest(jws, trust);
  if (!opened.ok) return opened;
  const untimely = timeFault(opened.value, now);
  return untimely === undefined ? opened : err(untimely);
}

/** Verifies without the clock, for callers that cache the result and check `timeFault` at each use. Never throws, even for an invalid key. */
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
 * Returns the fault of an opened manifest that depends on the time; undefined while it is valid.
 * @param now epoch milliseconds
 */
export function timeFault(
  { issuedAt, expiresAt }: Pick<ReleaseManifest, 'issuedAt' | 'expiresAt'>,
  now: number,
): TimeFault | undefined {
  if (Date.parse(issuedAt) > now + CLOCK_SKEW_MS) return 'not-yet-issued';
  return Date.parse(expiresAt) <= now ? 'expired' : undefined;
}
