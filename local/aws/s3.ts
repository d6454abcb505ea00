import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { decodeChunks } from './aws-chunked.ts';
import type { AwsError, Restore } from './wire.ts';
import { notCovered, snapshotOf } from './wire.ts';

/** A bucket as the emulator creates it. */
export interface LocalBucket {
  readonly bucketName: string;
  /**
   * Every object is written once: PutObject without `If-None-Match: *` is AccessDenied, as a bucket policy on `s3:if-none-match` makes it.
   */
  readonly immutable?: boolean;
  /** The caller has no `s3:ListBucket`: S3 then refuses the read of an absent object with AccessDenied. */
  readonly unlisted?: boolean;
}

export interface S3Request {
  readonly method: string;
  /** The target as it stands in the request line, path-style. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

export interface S3Answer {
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type S3OperationName = 'GetObject' | 'HeadObject' | 'PutObject';

/** One operation on one object, before its body is looked at. */
export interface S3Call {
  readonly operation: S3OperationName;
  readonly bucket: string;
  readonly key: string;
}

export interface S3Double {
  /** What a request asks for, or the refusal of what is not covered. */
  route(request: Omit<S3Request, 'body'>): Result<S3Call, AwsError>;
  perform(call: S3Call, request: S3Request): Result<S3Answer, AwsError>;
  snapshot(): Restore;
}

interface StoredObject {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** `x-amz-meta-…` and `x-amz-checksum-…`, as they came. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly checksums: Readonly<Record<string, string>>;
  readonly etag: string;
  readonly lastModified: string;
}

interface Bucket {
  readonly immutable: boolean;
  readonly unlisted: boolean;
  readonly objects: Map<string, StoredObject>;
}

const MAX_KEY_BYTES = 1024;

/** Headers that would change what an operation does: any but these is refused by name. */
const KNOWN_HEADERS: Readonly<Record<S3OperationName, RegExp>> = {
  PutObject:
    /^(if-none-match|content-(type|length|md5|encoding)|x-amz-(meta-.+|checksum-(crc32|sha1|sha256)|sdk-checksum-algorithm|decoded-content-length|trailer))$/,
  GetObject: /^x-amz-checksum-mode$/,
  HeadObject: /^x-amz-checksum-mode$/,
};
const BEHAVING_HEADER =
  /^(x-amz-.+|if-.+|range|cache-control|content-(type|length|md5|encoding|disposition|language)|expires)$/;
const SIGNING_HEADER = /^x-amz-(date|content-sha256|security-token|user-agent)$/;

/**
 * Buckets of S3 in memory: PutObject (`If-None-Match: *`, aws-chunked bodies, CRC32, SHA-1 and SHA-256 checksums), GetObject and HeadObject
 * of whole objects, in the REST protocol with the bucket in the path. No policies, no versions, no listing.
 */
export function createS3(definitions: readonly LocalBucket[], now: () => number): S3Double {
  const buckets = new Map<string, Bucket>(
    definitions.map(({ bucketName, immutable = false, unlisted = false }) => [
      bucketName,
      { immutable, unlisted, objects: new Map() },
    ]),
  );

  function put(bucket: Bucket, key: string, request: S3Request): Result<S3Answer, AwsError> {
    const condition = request.headers['if-none-match'];
    if (bucket.immutable && condition === undefined) return refuseS3(403, 'AccessDenied', 'Access Denied');
    const received = receivedBody(request);
    if (!received.ok) return received;
    if (condition !== undefined && bucket.objects.has(key)) {
      return refuseS3(
        412,
        'PreconditionFailed',
        'At least one of the pre-conditions you specified did not hold',
      );
    }
    const { bytes, checksums } = received.value;
    const stored: StoredObject = {
      bytes,
      checksums,
      contentType: request.headers['content-type'] ?? 'binary/octet-stream',
      metadata: headersLike(request.headers, /^x-amz-meta-/),
      etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
      lastModified: new Date(now()).toUTCString(),
    };
    bucket.objects.set(key, stored);
    return ok({ status: 200, headers: { etag: stored.etag, ...checksums }, body: Buffer.alloc(0) });
  }

  return {
    route({ method, url, headers }) {
      const operation = operationOf(method, url);
      const location = locationOf(url);
      if (operation === undefined || location === undefined) return notCovered(`S3 ${method} ${url}`);
      const header = Object.keys(headers).find(
        (name) =>
          BEHAVING_HEADER.test(name) && !SIGNING_HEADER.test(name) && !KNOWN_HEADERS[operation].test(name),
      );
      const condition = headers['if-none-match'];
      if (header !== undefined) return notCovered(`S3 ${operation} with ${header}`);
      if (condition !== undefined && condition !== '*') return notCovered('S3 PutObject with an entity tag');
      return ok({ operation, ...location });
    },

    perform({ operation, bucket: bucketName, key }, request) {
      const bucket = buckets.get(bucketName);
      if (bucket === undefined) {
        return refuseS3(404, 'NoSuchBucket', 'The specified bucket does not exist');
      }
      if (Buffer.byteLength(key) > MAX_KEY_BYTES) {
        return refuseS3(400, 'KeyTooLongError', 'Your key is too long');
      }
      if (operation === 'PutObject') return put(bucket, key, request);
      const stored = bucket.objects.get(key);
      if (stored === undefined) {
        return bucket.unlisted
          ? refuseS3(403, 'AccessDenied', 'Access Denied')
          : refuseS3(404, 'NoSuchKey', 'The specified key does not exist.');
      }
      const { bytes, contentType, etag, lastModified, metadata, checksums } = stored;
      return ok({
        status: 200,
        headers: {
          'content-type': contentType,
          'content-length': String(bytes.length),
          etag,
          'last-modified': lastModified,
          ...metadata,
          ...(request.headers['x-amz-checksum-mode'] === 'ENABLED' ? checksums : {}),
        },
        body: operation === 'HeadObject' ? Buffer.alloc(0) : bytes,
      });
    },

    snapshot() {
      const restores = [...buckets.values()].map(({ objects }) => snapshotOf(objects));
      return () => {
        for (const restore of restores) void restore();
      };
    },
  };
}

/** An error as S3 answers it, in XML. */
export function s3ErrorBody({ type, message }: AwsError): string {
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${escaped(type)}</Code><Message>${escaped(message)}</Message></Error>`;
}

/** The query of a covered operation names it and says nothing else; that of HeadObject is empty. */
function operationOf(method: string, url: string): S3OperationName | undefined {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  if (method === 'PUT' && query === 'x-id=PutObject') return 'PutObject';
  if (method === 'GET' && query === 'x-id=GetObject') return 'GetObject';
  return method === 'HEAD' && query === '' ? 'HeadObject' : undefined;
}

function locationOf(url: string): { readonly bucket: string; readonly key: string } | undefined {
  const [, bucket, rest] = /^\/([a-z0-9][a-z0-9.-]+)\/([^?]+)/.exec(url) ?? [];
  if (bucket === undefined || rest === undefined) return undefined;
  try {
    return { bucket, key: decodeURIComponent(rest) };
  } catch {
    return undefined;
  }
}

/** The object's bytes, after everything has been held to that the request says about them. */
function receivedBody(
  request: S3Request,
): Result<{ readonly bytes: Uint8Array; readonly checksums: Readonly<Record<string, string>> }, AwsError> {
  const { headers } = request;
  const sent = headers['x-amz-content-sha256'] ?? '';
  if (/^[0-9a-f]{64}$/.test(String(sent)) && hash('sha256', request.body, 'hex') !== sent) {
    return refuseS3(
      400,
      'XAmzContentSHA256Mismatch',
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
  }
  const chunked = String(sent).startsWith('STREAMING-');
  if (chunked ? headers['content-encoding'] !== 'aws-chunked' : headers['content-encoding'] !== undefined) {
    return notCovered(`S3 PutObject with content-encoding ${headers['content-encoding'] ?? 'missing'}`);
  }
  const decoded = chunked ? decodeChunks(request.body) : { bytes: request.body, trailers: {} };
  const announced = headers['x-amz-trailer'];
  if (
    decoded === undefined ||
    (chunked && Number(headers['x-amz-decoded-content-length']) !== decoded.bytes.length) ||
    (announced !== undefined && !(String(announced) in decoded.trailers))
  ) {
    return refuseS3(
      400,
      'IncompleteBody',
      'The request body terminated unexpectedly or is not what was announced.',
    );
  }
  const { bytes, trailers } = decoded;
  const checksums = { ...headersLike(headers, /^x-amz-checksum-/), ...trailers };
  for (const [name, value] of Object.entries(checksums)) {
    const computed = checksumOf(name, bytes);
    if (computed === undefined) return notCovered(`S3 PutObject with the trailer ${name}`);
    if (computed !== value) return badDigest(name);
  }
  const md5 = headers['content-md5'];
  if (md5 !== undefined && hash('md5', bytes, 'base64') !== md5) return badDigest('content-md5');
  return ok({ bytes, checksums });
}

function checksumOf(header: string, bytes: Uint8Array): string | undefined {
  if (header === 'x-amz-checksum-sha256') return hash('sha256', bytes, 'base64');
  if (header === 'x-amz-checksum-sha1') return hash('sha1', bytes, 'base64');
  if (header !== 'x-amz-checksum-crc32') return undefined;
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum.toString('base64');
}

function hash(algorithm: string, bytes: Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(bytes).digest(encoding);
}

function badDigest(what: string): ReturnType<typeof refuseS3> {
  return refuseS3(400, 'BadDigest', `The ${what} you specified did not match the calculated checksum.`);
}

function headersLike(headers: IncomingHttpHeaders, pattern: RegExp): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    pattern.test(name) && typeof value === 'string' ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

function refuseS3(
  status: number,
  type: string,
  message: string,
): { readonly ok: false; readonly error: AwsError } {
  return err({ status, type, message });
}
