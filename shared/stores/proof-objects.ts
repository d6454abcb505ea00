import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { ManifestReference } from '#shared/release/applied-manifest.ts';
import { isNamed, putObject } from './object-versions.ts';

/** The objects of a release in the bucket of receipts, and their folders. No tenant has such a folder, since its name would have no full stop. */
const proofs = {
  manifest: { folder: 'release.manifests', mediaType: 'application/jose' },
  /** The targets of a rehearsal's receipts. */
  rehearsal: { folder: 'release.rehearsals', mediaType: 'application/json' },
} as const;
type ProofKind = keyof typeof proofs;

/** Returns whether an object of the bucket of receipts is an applied manifest. */
export function isManifestKey(key: string): boolean {
  return key.startsWith(`${proofs.manifest.folder}/`);
}

/** An object is larger than its reader allows. */
export class ObjectTooLargeError extends Error {
  override readonly name = 'ObjectTooLargeError';
}

/**
 * Returns the bytes of an object; undefined if it does not exist. Throws `ObjectTooLargeError` and S3's errors: to a role without `s3:ListBucket` it
 * reports an absent object as AccessDenied.
 * @param location `s3://bucket/key`, the key unencoded
 */
export async function readObject(
  client: S3Client,
  location: string,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(location) ?? [];
  if (bucket === undefined || key === undefined) return undefined;
  const stop = new AbortController();
  try {
    const { Body: body, ContentLength: length } = await client.send(
      new GetObjectCommand({ Bucket: bucket, Key: key }),
      // oxlint-disable-next-line no-restricted-properties -- only the gates command reads proofs, and it has no runtime
      { abortSignal: AbortSignal.any([stop.signal, AbortSignal.timeout(30_000)]) },
    );
    if (length === undefined || length > maxBytes) {
      stop.abort();
      throw new ObjectTooLargeError(`more than ${maxBytes} bytes`);
    }
    return await body?.transformToByteArray();
  } catch (error) {
    if (isNamed(error, 'NoSuchKey')) return undefined;
    throw error;
  }
}

/** Returns the place of a text in a bucket: named by its own digest. */
export function placeOfProof(bucket: string, kind: ProofKind, text: string): ManifestReference {
  const sha256 = sha256Hex(text);
  return { sha256, location: `s3://${bucket}/${proofs[kind].folder}/${sha256}` };
}

/**
 * Stores a text in the bucket of receipts, which never overwrites an object; repeated, it does nothing.
 * @throws Error if its place has other content
 */
export async function keepProof(
  client: S3Client,
  bucket: string,
  kind: ProofKind,
  text: string,
): Promise<void> {
  const { sha256, location } = placeOfProof(bucket, kind, text);
  const { folder, mediaType } = proofs[kind];
  const bytes = Buffer.from(text);
  if (await putObject(client, bucket, `${folder}/${sha256}`, { bytes, mediaType })) return;
  // An identity that may write receipts could have stored other content there.
  const there = await readObject(client, location, bytes.byteLength);
  if (there === undefined || sha256Hex(there) !== sha256)
    throw new Error(`something else lies at ${location}`);
}
