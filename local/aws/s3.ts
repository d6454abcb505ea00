import { createHash, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Need } from './policy.ts';
import {
  type AwsError,
  type Caller,
  type Refusal,
  type Restore,
  notCovered,
  restoreAll,
  snapshotOf,
} from './wire.ts';

export interface LocalBucket {
  readonly bucketName: string;
  /** Object Lock, hence versions: no version can be deleted for so many years. */
  readonly lock?: { readonly mode: 'GOVERNANCE' | 'COMPLIANCE'; readonly years: number };
}

export interface S3Request {
  readonly method: string;
  /** The target of the request line, path-style. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

export interface S3Answer {
  readonly status: 200 | 204;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type S3OperationName = 'DeleteObject' | 'GetObject' | 'HeadObject' | 'ListObjectVersions' | 'PutObject';

/** One operation, before its body is looked at. */
export interface S3Call {
  readonly operation: S3OperationName;
  readonly bucket: string;
  /** Empty for an operation on the bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
}

export interface S3Double {
  /** What a request asks for, or the refusal of what is not covered. */
  route(request: Omit<S3Request, 'body'>): Result<S3Call, AwsError>;
  perform(call: S3Call, request: S3Request, caller: Caller): Result<S3Answer, AwsError>;
  snapshot(): Restore;
}

interface StoredObject {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** `x-amz-meta-…` and `x-amz-checksum-…`, as they came. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly checksums: Readonly<Record<string, string>>;
  readonly etag: string;
}

/** A version of an object; without `object` it is a delete marker. */
interface Version {
  readonly id: string;
  /** Epoch milliseconds of a whole second. */
  readonly lastModified: number;
  readonly object?: StoredObject;
  /** Epoch milliseconds. */
  readonly lockedUntil?: number;
}

interface Bucket extends Omit<LocalBucket, 'bucketName'> {
  /** The versions of each key, the newest first; a bucket without Object Lock keeps one. */
  readonly objects: Map<string, readonly [Version, ...Version[]]>;
}

const MAX_KEY_BYTES = 1024;
/** S3 lists at most 1000 versions at once and may list fewer; so few show whether a client reads on. */
const MAX_LISTED = 10;

/** Headers that would change what an operation does: any but these is refused by name. */
const KNOWN_HEADERS: Readonly<Record<S3OperationName, RegExp>> = {
  PutObject:
    /^(if-(none-)?match|content-(type|length|md5)|x-amz-(meta-.+|checksum-(crc32|sha1|sha256)|sdk-checksum-algorithm))$/,
  GetObject: /^x-amz-checksum-mode$/,
  HeadObject: /^x-amz-checksum-mode$/,
  DeleteObject: /^$/,
  ListObjectVersions: /^$/,
};
const BEHAVING_HEADER =
  /^(x-amz-.+|if-.+|range|cache-control|content-(type|length|md5|encoding|disposition|language)|expires)$/;
const SIGNING_HEADER = /^x-amz-(date|content-sha256|security-token|user-agent)$/;

/**
 * Buckets of S3 in memory: PutObject (`If-None-Match: *`, `If-Match`, CRC32, SHA-1 and SHA-256 checksums), GetObject and
 * HeadObject of whole objects, in the REST protocol with the bucket in the path. A bucket with Object Lock has versions too: DeleteObject,
 * ListObjectVersions and GetObject of a version. No right to bypass a lock.
 */
export function createS3(definitions: readonly LocalBucket[], now: () => number): S3Double {
  const buckets = new Map<string, Bucket>(
    definitions.map(({ bucketName, ...rest }) => [bucketName, { ...rest, objects: new Map() }]),
  );

  function newVersion({ lock }: Bucket, object?: StoredObject): Version {
    const lockedUntil = new Date(now());
    lockedUntil.setUTCFullYear(lockedUntil.getUTCFullYear() + (lock?.years ?? 0));
    return {
      id: lock === undefined ? 'null' : randomUUID().replaceAll('-', ''),
      lastModified: Math.floor(now() / 1000) * 1000,
      ...(object === undefined ? {} : { object }),
      ...(object === undefined || lock === undefined ? {} : { lockedUntil: lockedUntil.getTime() }),
    };
  }

  function write(bucket: Bucket, key: string, object?: StoredObject): Version {
    const version = newVersion(bucket, object);
    const older = bucket.lock === undefined ? [] : (bucket.objects.get(key) ?? []);
    bucket.objects.set(key, [version, ...older]);
    return version;
  }

  function put(bucket: Bucket, key: string, request: S3Request): Result<S3Answer, AwsError> {
    const { 'if-none-match': unlessAny, 'if-match': ifEtag, 'content-md5': md5 } = request.headers;
    const received = receivedBody(request);
    if (!received.ok) return received;
    const { bytes, checksums } = received.value;
    if (bucket.lock !== undefined && md5 === undefined && Object.keys(checksums).length === 0) {
      return refuseS3('InvalidRequest');
    }
    const current = bucket.objects.get(key)?.[0].object;
    if (ifEtag !== undefined && current === undefined) return refuseS3('NoSuchKey');
    if (unlessAny === undefined ? ifEtag !== undefined && ifEtag !== current?.etag : current !== undefined) {
      return refuseS3('PreconditionFailed');
    }
    const stored: StoredObject = {
      bytes,
      checksums,
      contentType: request.headers['content-type'] ?? 'binary/octet-stream',
      metadata: headersLike(request.headers, /^x-amz-meta-/),
      etag: `"${hash('md5', bytes, 'hex')}"`,
    };
    const version = write(bucket, key, stored);
    return ok({
      status: 200,
      headers: { etag: stored.etag, ...checksums, ...versionHeaders(bucket, version) },
      body: Buffer.alloc(0),
    });
  }

  function get(
    bucket: Bucket,
    { operation, bucket: name, key, query }: S3Call,
    mode: unknown,
    caller: Caller,
  ): Result<S3Answer, AwsError> {
    const versions = bucket.objects.get(key) ?? [];
    const asked = query.get('versionId');
    const version = asked === null ? versions[0] : versions.find(({ id }) => id === asked);
    if (asked !== null && version === undefined) return refuseS3('NoSuchVersion');
    if (version?.object === undefined) {
      if (asked !== null) return refuseS3('MethodNotAllowed');
      // S3 shows only to a caller who may list the bucket that there is no such object.
      const isListed = caller.may({ action: 's3:ListBucket', resource: bucketArnOf(name) });
      return refuseS3(isListed ? 'NoSuchKey' : 'AccessDenied');
    }
    const { bytes, contentType, etag, metadata, checksums } = version.object;
    return ok({
      status: 200,
      headers: {
        'content-type': contentType,
        'content-length': String(bytes.length),
        etag,
        'last-modified': new Date(version.lastModified).toUTCString(),
        ...metadata,
        ...(mode === 'ENABLED' ? checksums : {}),
        ...versionHeaders(bucket, version),
      },
      body: operation === 'HeadObject' ? Buffer.alloc(0) : bytes,
    });
  }

  /** Without a version only a marker is put on top. A version is deleted permanently, unless it is locked. */
  function remove(bucket: Bucket, key: string, id: string | null): Result<S3Answer, AwsError> {
    if (bucket.lock === undefined) return notCovered('S3 DeleteObject in a bucket without Object Lock');
    const done = (headers: Record<string, string>) =>
      ok({ status: 204, headers, body: Buffer.alloc(0) } as const);
    if (id === null) return done(versionHeaders(bucket, write(bucket, key)));
    const versions = bucket.objects.get(key) ?? [];
    const version = versions.find((candidate) => candidate.id === id);
    if ((version?.lockedUntil ?? 0) > now())
      return refuseS3('AccessDenied', 'Access Denied because object protected by object lock.');
    const [newest, ...older] = versions.filter((candidate) => candidate !== version);
    if (newest === undefined) bucket.objects.delete(key);
    else bucket.objects.set(key, [newest, ...older]);
    return done({});
  }

  return {
    route({ method, url, headers }) {
      const location = locationOf(url);
      const operation = location && operationOf(method, location);
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

    perform(call, request, caller) {
      const { operation, bucket: bucketName, key, query } = call;
      const denied = caller.authorize([needOf[operation](call, request.headers)]);
      if (denied !== undefined) return denied;
      const bucket = buckets.get(bucketName);
      if (bucket === undefined) return refuseS3('NoSuchBucket');
      if (Buffer.byteLength(key) > MAX_KEY_BYTES) return refuseS3('KeyTooLongError');
      if (operation === 'PutObject') return put(bucket, key, request);
      if (operation === 'DeleteObject') return remove(bucket, key, query.get('versionId'));
      if (operation === 'ListObjectVersions') return ok(listed(bucket, query));
      return get(bucket, call, request.headers['x-amz-checksum-mode'], caller);
    },

    snapshot() {
      return restoreAll([...buckets.values()].map(({ objects }) => snapshotOf(objects)));
    },
  };
}

export function bucketArnOf(bucket: string): string {
  return `arn:aws:s3:::${bucket}`;
}

const ofObject =
  (action: string, ofVersion = action) =>
  ({ bucket, key, query }: S3Call, headers: IncomingHttpHeaders): Need => ({
    action: `s3:${query.has('versionId') ? ofVersion : action}`,
    resource: `${bucketArnOf(bucket)}/${key}`,
    context: Object.fromEntries(
      (['if-none-match', 'if-match'] as const).flatMap((name) =>
        headers[name] === undefined ? [] : [[`s3:${name}`, [headers[name]]]],
      ),
    ),
  });

/** What the operations need ("Required permissions for Amazon S3 API operations"). One without a row does not compile. */
const needOf: Readonly<Record<S3OperationName, (call: S3Call, headers: IncomingHttpHeaders) => Need>> = {
  DeleteObject: ofObject('DeleteObject', 'DeleteObjectVersion'),
  GetObject: ofObject('GetObject', 'GetObjectVersion'),
  HeadObject: ofObject('GetObject', 'GetObjectVersion'),
  ListObjectVersions: ({ bucket }) => ({ action: 's3:ListBucketVersions', resource: bucketArnOf(bucket) }),
  PutObject: ofObject('PutObject'),
};

/** The versions of a bucket by key, the newest of a key first, from where the last answer ended. */
function listed({ objects }: Bucket, query: URLSearchParams): S3Answer {
  const [afterKey, afterId] = [query.get('key-marker') ?? '', query.get('version-id-marker')];
  const all = [...objects].toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const rows = all.flatMap(([key, versions]) => versions.map((version, at) => ({ key, version, at })));
  const start = rows.findIndex(
    ({ key, version }) =>
      (key === afterKey && version.id === afterId) || (afterId === null && key > afterKey),
  );
  const page = rows.slice(afterId === null ? start : start + 1).slice(0, start < 0 ? 0 : MAX_LISTED);
  const last = page.at(-1);
  const isTruncated = last !== undefined && last !== rows.at(-1);
  const entries = page.map(({ key, version, at }) => {
    const { id, object, lastModified } = version;
    const tag = object === undefined ? 'DeleteMarker' : 'Version';
    const facts =
      object === undefined ? '' : element('ETag', object.etag) + element('Size', object.bytes.length);
    return `<${tag}>${element('Key', key)}${element('VersionId', id)}${element('IsLatest', at === 0)}${element('LastModified', new Date(lastModified).toISOString())}${facts}</${tag}>`;
  });
  const next = isTruncated
    ? element('NextKeyMarker', last.key) + element('NextVersionIdMarker', last.version.id)
    : '';
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<ListVersionsResult>${element('IsTruncated', isTruncated)}${next}${entries.join('')}</ListVersionsResult>`;
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) };
}

function versionHeaders({ lock }: Bucket, { id, object, lockedUntil }: Version): Record<string, string> {
  if (lock === undefined) return {};
  return {
    'x-amz-version-id': id,
    ...(object === undefined ? { 'x-amz-delete-marker': 'true' } : {}),
    ...(lockedUntil === undefined
      ? {}
      : {
          'x-amz-object-lock-mode': lock.mode,
          'x-amz-object-lock-retain-until-date': new Date(lockedUntil).toISOString(),
        }),
  };
}

export function s3ErrorBody({ type, message }: AwsError): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${element('Code', type)}${element('Message', message)}</Error>`;
}

function element(name: string, value: string | number | boolean): string {
  const escaped = String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<${name}>${escaped}</${name}>`;
}

/** Finds the operation that the query names; the query has only members of its schema. */
function operationOf(
  method: string,
  { key, query }: Pick<S3Call, 'key' | 'query'>,
): S3OperationName | undefined {
  const id = query.get('x-id');
  const names = [...query.keys()].sort().join();
  if (key === '') {
    const isKnown = /^(key-marker,)?(version-id-marker,)?versions$/.test(names);
    return method === 'GET' && isKnown ? 'ListObjectVersions' : undefined;
  }
  if (method === 'PUT' && id === 'PutObject' && names === 'x-id') return 'PutObject';
  const isOfVersion = names === 'versionId,x-id' || names === 'x-id';
  if (method === 'GET' && id === 'GetObject' && isOfVersion) return 'GetObject';
  if (method === 'DELETE' && id === 'DeleteObject' && isOfVersion) return 'DeleteObject';
  return method === 'HEAD' && names === '' ? 'HeadObject' : undefined;
}

function locationOf(url: string): Omit<S3Call, 'operation'> | undefined {
  const [, bucket, key, query] = /^\/([a-z0-9][a-z0-9.-]+)\/?([^?]*)(?:\?(.*))?$/.exec(url) ?? [];
  if (bucket === undefined || key === undefined) return undefined;
  try {
    return { bucket, key: decodeURIComponent(key), query: new URLSearchParams(query) };
  } catch {
    return undefined;
  }
}

/** The object's bytes, after all checks that the request asks for. */
function receivedBody(
  request: S3Request,
): Result<{ readonly bytes: Uint8Array; readonly checksums: Readonly<Record<string, string>> }, AwsError> {
  const { headers } = request;
  const sent = headers['x-amz-content-sha256'] ?? '';
  if (/^[0-9a-f]{64}$/.test(String(sent)) && hash('sha256', request.body, 'hex') !== sent) {
    return refuseS3('XAmzContentSHA256Mismatch');
  }
  if (String(sent).startsWith('STREAMING-')) return notCovered(`S3 PutObject of ${String(sent)}`);
  const { body: bytes } = request;
  const checksums = headersLike(headers, /^x-amz-checksum-/);
  for (const [name, value] of Object.entries(checksums))
    if (checksumOf(name, bytes) !== value) return badDigest(name);
  const md5 = headers['content-md5'];
  if (md5 !== undefined && hash('md5', bytes, 'base64') !== md5) return badDigest('content-md5');
  return ok({ bytes, checksums });
}

function checksumOf(header: string, bytes: Uint8Array): string {
  if (header === 'x-amz-checksum-sha256') return hash('sha256', bytes, 'base64');
  if (header === 'x-amz-checksum-sha1') return hash('sha1', bytes, 'base64');
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum.toString('base64');
}

function hash(algorithm: string, bytes: Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(bytes).digest(encoding);
}

function badDigest(what: string): Refusal {
  return refuseS3('BadDigest', `The ${what} you specified did not match the calculated checksum.`);
}

function headersLike(headers: IncomingHttpHeaders, pattern: RegExp): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    pattern.test(name) && typeof value === 'string' ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

const refusals = {
  AccessDenied: [403, 'Access Denied'],
  BadDigest: [400, 'The checksum you specified did not match the calculated checksum.'],
  InvalidRequest: [
    400,
    'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
  ],
  KeyTooLongError: [400, 'Your key is too long'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  NoSuchBucket: [404, 'The specified bucket does not exist'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchVersion: [404, 'The specified version does not exist.'],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold'],
  XAmzContentSHA256Mismatch: [
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  ],
} as const;

function refuseS3(type: keyof typeof refusals, message: string = refusals[type][1]): Refusal {
  return err({ status: refusals[type][0], type, message });
}
