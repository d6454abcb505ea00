import { createHash } from 'node:crypto';
import {
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type { S3Client } from '@aws-sdk/client-s3';

export interface ObjectVersion {
  readonly id: string;
  readonly etag: string;
  /** Epoch milliseconds of a whole second. */
  readonly writtenAt: number;
}

export interface VersionedObject {
  readonly key: string;
  /** The newest first. */
  readonly versions: readonly ObjectVersion[];
  /** Epoch milliseconds; undefined unless a delete marker hides the versions. */
  readonly deletedAt: number | undefined;
}

export interface ObjectContent {
  readonly bytes: Uint8Array;
  readonly mediaType: string | undefined;
}

/** A bucket with versions. Every function throws S3's errors. */
export interface ObjectVersions {
  /** Lists every object with a remaining version or delete marker. Needs `s3:ListBucketVersions`. */
  objects(): AsyncIterable<VersionedObject>;
  /** Needs `s3:GetObjectVersion`. */
  read(key: string, version: ObjectVersion): Promise<ObjectContent>;
  /**
   * Writes a new version if the object is absent, or over exactly the given one. Needs `s3:PutObject`.
   * @returns false if the object has changed meanwhile, or competing writes of it continue
   */
  write(key: string, content: ObjectContent, over: ObjectVersion | undefined): Promise<boolean>;
}

/** How often a write is tried against competing writes, for which S3 asks to try again, before it fails. */
const MAX_WRITES = 3;

export function createObjectVersions(client: S3Client, bucket: string): ObjectVersions {
  return {
    objects: () => objectsOf(client, bucket),
    async read(key, { id }) {
      const { Body: body, ContentType: mediaType } = await client.send(
        new GetObjectCommand({ Bucket: bucket, Key: key, VersionId: id }),
      );
      return { bytes: (await body?.transformToByteArray()) ?? new Uint8Array(), mediaType };
    },
    async write(key, content, over) {
      try {
        return await putObject(client, bucket, key, content, over);
      } catch (error) {
        if (isNamed(error, 'ConditionalRequestConflict')) return false;
        throw error;
      }
    },
  };
}

/**
 * Writes an object if it is absent, or over exactly the given version of it. S3 compares the bytes with their SHA-256 on arrival. Needs
 * `s3:PutObject`, and throws S3's errors: `ConditionalRequestConflict` if competing writes continue.
 * @returns false if there is another object, or none any more
 */
export async function putObject(
  client: S3Client,
  bucket: string,
  key: string,
  { bytes, mediaType }: ObjectContent,
  over?: ObjectVersion,
): Promise<boolean> {
  const command = new PutObjectCommand({
    Bucket: bucket,
    Key: key,
    Body: bytes,
    ContentType: mediaType,
    // The reference of PutObject requires the name of the algorithm for an object with a retention period.
    ChecksumAlgorithm: 'SHA256',
    ChecksumSHA256: createHash('sha256').update(bytes).digest('base64'),
    ...(over === undefined ? { IfNoneMatch: '*' } : { IfMatch: over.etag }),
  });
  for (let write = 1; ; write += 1) {
    try {
      await client.send(command);
      return true;
    } catch (error) {
      if (isNamed(error, 'PreconditionFailed', ...(over === undefined ? [] : ['NoSuchKey']))) return false;
      if (write >= MAX_WRITES || !isNamed(error, 'ConditionalRequestConflict')) throw error;
    }
  }
}

export function isNamed(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof S3ServiceException && names.includes(error.name);
}

async function* objectsOf(client: S3Client, bucket: string): AsyncGenerator<VersionedObject> {
  const listed = new Map<string, { versions: ObjectVersion[]; deletedAt: number | undefined }>();
  const of = (key: string) => {
    const known = listed.get(key) ?? { versions: [], deletedAt: undefined };
    listed.set(key, known);
    return known;
  };
  let next: { readonly KeyMarker?: string | undefined; readonly VersionIdMarker?: string | undefined } = {};
  do {
    const page = await client.send(new ListObjectVersionsCommand({ Bucket: bucket, ...next }));
    for (const { Key: key = '', VersionId: id = '', ETag: etag = '', LastModified: at } of page.Versions ??
      [])
      of(key).versions.push({ id, etag, writtenAt: at?.getTime() ?? 0 });
    for (const { Key: key = '', IsLatest: isLatest, LastModified: at } of page.DeleteMarkers ?? [])
      if (isLatest === true) of(key).deletedAt = at?.getTime();
    next = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
    for (const [key, object] of listed) {
      // More versions of the last key may follow on the next page.
      if (key === next.KeyMarker) continue;
      listed.delete(key);
      yield { key, ...object };
    }
  } while (next.KeyMarker !== undefined);
}
