import { createHash } from 'node:crypto';
import { request } from 'node:http';
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  NoSuchKey,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { PutObjectCommandInput } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { localBucketName, localCredentials } from '#shared/stage/local-stage.ts';
import { localBuckets } from './resources.ts';
import type { TestAws } from '#test/support/aws.ts';
import { startTestAws } from '#test/support/aws.ts';

/** Each test has keys of its own, so that their order does not matter. */
const Bucket = 'plain';

let test: TestAws;
const START = Date.UTC(2030, 0, 2, 3, 4, 5);
let now = START;
beforeAll(async () => {
  test = await startTestAws({
    buckets: [{ bucketName: Bucket }, ...localBuckets()],
    now: () => now,
  });
});
afterEach(() => {
  now = START;
  test.aws.faults.reset();
});
afterAll(() => test.close());

const put = (
  Key: string,
  Body: string | Uint8Array | Readable,
  input: Omit<Partial<PutObjectCommandInput>, 'Body'> = {},
) => test.s3.send(new PutObjectCommand({ Bucket, Key, Body, ...input }));
const get = async (Key: string, from = Bucket) => {
  const { Body, ...rest } = await test.s3.send(new GetObjectCommand({ Bucket: from, Key }));
  return { ...rest, bytes: Buffer.from((await Body?.transformToByteArray()) ?? new Uint8Array()) };
};
const digest = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('base64');

/** A PutObject that no client of the SDK would send. */
function putRaw(key: string, headers: Record<string, string>, body: string | Buffer, bucket = Bucket) {
  const authorization = `AWS4-HMAC-SHA256 Credential=${localCredentials.accessKeyId}/20300101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0`;
  return new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
    const call = request(
      `${test.aws.url}/${bucket}/${key}?x-id=PutObject`,
      { method: 'PUT', headers: { authorization, ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        );
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}
const streamed = (length: number, trailer?: string) => ({
  'content-encoding': 'aws-chunked',
  'x-amz-content-sha256': `STREAMING-UNSIGNED-PAYLOAD${trailer === undefined ? '' : '-TRAILER'}`,
  'x-amz-decoded-content-length': String(length),
  ...(trailer === undefined ? {} : { 'x-amz-trailer': trailer }),
});

describe('the S3 emulator, through the SDK client', () => {
  it('holds the bytes to every checksum that comes with them', async () => {
    const bytes = Buffer.from('held to');
    const right = {
      ChecksumSHA256: digest('sha256', bytes),
      ChecksumSHA1: digest('sha1', bytes),
      ContentMD5: digest('md5', bytes),
    };
    for (const [member, value] of Object.entries(right)) {
      await expect(put(`sum-${member}`, bytes, { [member]: value }), member).resolves.toBeDefined();
      await expect(put(`sum-${member}`, 'other bytes', { [member]: value }), member).rejects.toMatchObject({
        name: 'BadDigest',
      });
    }
    expect((await get('sum-ChecksumSHA256')).bytes.equals(bytes)).toBe(true);
    await expect(put('sum-ChecksumCRC32C', bytes, { ChecksumCRC32C: 'AAAAAA==' })).rejects.toMatchObject({
      name: 'UnknownOperationException',
    });
  });

  it('refuses a streamed body that is not what was announced', async () => {
    const trailer = 'x-amz-checksum-crc32';
    // CRC-32 of `hello` is 0x3610a686.
    const whole = `5\r\nhello\r\n0\r\n${trailer}:NhCmhg==\r\n\r\n`;
    expect(await putRaw('chunks', streamed(5, trailer), whole)).toMatchObject({ status: 200 });
    expect((await get('chunks')).bytes.toString()).toBe('hello');
    expect((await putRaw('chunks', streamed(5, trailer), whole.replace('Nh', 'Mh'))).body).toContain(
      'BadDigest',
    );
    for (const [headers, body] of [
      [streamed(6, trailer), whole],
      [streamed(5, trailer), '5\r\nhello\r\n0\r\n\r\n'],
      [streamed(5), '5\r\nhello\r\n'],
      [streamed(5), 'hello'],
    ] as const) {
      expect((await putRaw('other', headers, body)).body, body).toContain('IncompleteBody');
    }
    const sha = { 'x-amz-content-sha256': '0'.repeat(64) };
    expect((await putRaw('other', sha, 'hello')).body).toContain('XAmzContentSHA256Mismatch');
    await expect(get('other')).rejects.toBeInstanceOf(NoSuchKey);
  });

  describe('with Object Lock', () => {
    const locked = { Bucket: localBucketName };
    const head = async (Key: string) => test.s3.send(new HeadObjectCommand({ ...locked, Key }));
    const remove = (Key: string, VersionId?: string) =>
      test.s3.send(
        new DeleteObjectCommand({ ...locked, Key, ...(VersionId === undefined ? {} : { VersionId }) }),
      );

    it('refuses a write without a checksum, and locks a version for the years of the bucket', async () => {
      const free = { 'if-none-match': '*' };
      const sum = { 'content-md5': digest('md5', Buffer.from('a')) };
      expect(await putRaw('sums', free, 'a', localBucketName)).toMatchObject({
        status: 400,
        body: expect.stringContaining('Content-MD5 OR x-amz-checksum-') as string,
      });
      expect((await putRaw('sums', { ...free, ...sum }, 'a', localBucketName)).status).toBe(200);
      const { VersionId, ObjectLockMode, ObjectLockRetainUntilDate } = await head('sums');
      expect(ObjectLockMode).toBe('GOVERNANCE');
      expect(ObjectLockRetainUntilDate).toEqual(new Date('2031-01-02T03:04:05Z'));
      await expect(remove('sums', VersionId)).rejects.toMatchObject({ name: 'AccessDenied' });
      now = Date.UTC(2031, 0, 2, 3, 4, 6);
      await remove('sums', VersionId);
      await expect(get('sums', localBucketName)).rejects.toMatchObject({ name: 'AccessDenied' });
    });

    it('hides what is deleted, keeps its versions, and lists all of them over several answers', async () => {
      for (let n = 0; n < 12; n += 1) await put(`v/${n}`, `first ${n}`, { ...locked, IfNoneMatch: '*' });
      const { ETag: IfMatch } = await head('v/1');
      await put('v/1', 'second', { ...locked, IfMatch });
      await expect(put('v/1', 'third', { ...locked, IfMatch })).rejects.toMatchObject({
        name: 'PreconditionFailed',
      });
      const { VersionId: marker } = await remove('v/1');
      await remove('v/5');
      await expect(get('v/1', localBucketName)).rejects.toMatchObject({ name: 'AccessDenied' });
      await expect(put('v/1', 'x', { ...locked, IfMatch })).rejects.toBeInstanceOf(NoSuchKey);
      const rows: string[] = [];
      const pages: number[] = [];
      let from: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } = {};
      do {
        const page = await test.s3.send(new ListObjectVersionsCommand({ ...locked, ...from }));
        const { Versions = [], DeleteMarkers = [], NextKeyMarker, NextVersionIdMarker } = page;
        pages.push(Versions.length + DeleteMarkers.length);
        rows.push(
          ...Versions.map(({ Key, ETag }) => `${Key} ${ETag}`),
          ...DeleteMarkers.map(({ Key }) => `${Key}`),
        );
        from = { KeyMarker: NextKeyMarker, VersionIdMarker: NextVersionIdMarker };
      } while (from.KeyMarker !== undefined);
      const tag = (text: string) => `"${createHash('md5').update(text).digest('hex')}"`;
      expect(pages).toHaveLength(Math.ceil(rows.length / 10));
      expect(rows.filter((row) => row.startsWith('v/')).sort()).toStrictEqual(
        [
          'v/1',
          'v/5',
          `v/1 ${tag('second')}`,
          ...Array.from({ length: 12 }, (_, n) => `v/${n} ${tag(`first ${n}`)}`),
        ].sort(),
      );
      const asked = (VersionId: string | undefined) =>
        test.s3.send(new GetObjectCommand({ ...locked, Key: 'v/1', VersionId }));
      await expect(asked(marker)).rejects.toMatchObject({ name: 'MethodNotAllowed' });
      await expect(asked('none')).rejects.toMatchObject({ name: 'NoSuchVersion' });
      await remove('v/1', marker);
      expect((await get('v/1', localBucketName)).bytes.toString()).toBe('second');
    });
  });
});
