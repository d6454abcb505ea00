import { createHash } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  NoSuchKey,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { ListObjectVersionsCommandInput, PutObjectCommandInput } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, it } from 'vitest';
import { localBucketName, localCredentials } from '#shared/stage/local-stage.ts';
import { localBuckets } from './resources.ts';
import { useTestAws } from '#test/support/aws.ts';
import { callRaw } from '#test/support/raw-call.ts';

/** Each test has keys of its own, so that their order does not matter. */
const Bucket = 'plain';

const START = Date.UTC(2030, 0, 2, 3, 4, 5);
let now = START;
const test = useTestAws({ buckets: [{ bucketName: Bucket }, ...localBuckets()], now: () => now });
afterEach(() => {
  now = START;
});

const put = (
  Key: string,
  Body: string | Uint8Array,
  input: Omit<Partial<PutObjectCommandInput>, 'Body'> = {},
) => test.s3.send(new PutObjectCommand({ Bucket, Key, Body, ...input }));
const textOf = async (Key: string, from = Bucket) =>
  (await test.s3.send(new GetObjectCommand({ Bucket: from, Key }))).Body?.transformToString();
const digest = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('base64');

/** A PutObject that no client of the SDK would send. */
function putRaw(key: string, headers: Record<string, string>, body: string, bucket = Bucket) {
  const authorization = `AWS4-HMAC-SHA256 Credential=${localCredentials.accessKeyId}/20300101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0`;
  return callRaw(test.aws.url, `/${bucket}/${key}?x-id=PutObject`, {
    method: 'PUT',
    headers: Object.entries({ authorization, ...headers }),
    body,
  });
}

describe('the S3 emulator, through the SDK client', () => {
  it('holds the bytes to every checksum that comes with them', async () => {
    const bytes = Buffer.from('held to');
    for (const [member, algorithm] of [
      ['ChecksumSHA256', 'sha256'],
      ['ChecksumSHA1', 'sha1'],
      ['ContentMD5', 'md5'],
    ] as const) {
      const sum = { [member]: digest(algorithm, bytes) };
      const wrong = put(`sum-${member}`, 'other bytes', sum);
      await expect(wrong, member).rejects.toMatchObject({ name: 'BadDigest' });
      await put(`sum-${member}`, bytes, sum);
      expect(await textOf(`sum-${member}`)).toBe('held to');
    }
    const unknown = put('sum-ChecksumCRC32C', bytes, { ChecksumCRC32C: 'AAAAAA==' });
    await expect(unknown).rejects.toMatchObject({ name: 'UnknownOperationException' });
  });

  it('refuses bytes that are not those that were signed, and a streamed body, which it does not cover', async () => {
    const sha = { 'x-amz-content-sha256': '0'.repeat(64) };
    expect((await putRaw('other', sha, 'hello')).text).toContain('XAmzContentSHA256Mismatch');
    for (const streamed of [
      { 'content-encoding': 'aws-chunked' },
      { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' },
    ])
      expect((await putRaw('other', streamed, '0\r\n\r\n')).text).toContain('UnknownOperationException');
    await expect(textOf('other')).rejects.toBeInstanceOf(NoSuchKey);
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
        text: expect.stringContaining('Content-MD5 OR x-amz-checksum-') as string,
      });
      expect((await putRaw('sums', { ...free, ...sum }, 'a', localBucketName)).status).toBe(200);
      const { VersionId, ObjectLockMode, ObjectLockRetainUntilDate } = await head('sums');
      expect(ObjectLockMode).toBe('GOVERNANCE');
      expect(ObjectLockRetainUntilDate).toEqual(new Date('2031-01-02T03:04:05Z'));
      await expect(remove('sums', VersionId)).rejects.toMatchObject({ name: 'AccessDenied' });
      now = Date.UTC(2031, 0, 2, 3, 4, 6);
      await remove('sums', VersionId);
      await expect(textOf('sums', localBucketName)).rejects.toBeInstanceOf(NoSuchKey);
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
      await expect(textOf('v/1', localBucketName)).rejects.toBeInstanceOf(NoSuchKey);
      await expect(put('v/1', 'x', { ...locked, IfMatch })).rejects.toBeInstanceOf(NoSuchKey);
      const rows: string[] = [];
      let pages = 0;
      let from: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> = {};
      do {
        const page = await test.s3.send(new ListObjectVersionsCommand({ ...locked, ...from }));
        for (const { Key, ETag } of page.Versions ?? []) rows.push(`${Key} ${ETag}`);
        for (const { Key } of page.DeleteMarkers ?? []) rows.push(`${Key}`);
        pages += 1;
        from = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
      } while (from.KeyMarker !== undefined);
      const tag = (text: string) => `"${createHash('md5').update(text).digest('hex')}"`;
      const first = Array.from({ length: 12 }, (_, n) => `v/${n} ${tag(`first ${n}`)}`);
      expect(pages).toBe(Math.ceil(rows.length / 10));
      expect(rows.filter((row) => row.startsWith('v/')).sort()).toStrictEqual(
        ['v/1', 'v/5', `v/1 ${tag('second')}`, ...first].sort(),
      );
      const asked = (VersionId: string | undefined) =>
        test.s3.send(new GetObjectCommand({ ...locked, Key: 'v/1', VersionId }));
      await expect(asked(marker)).rejects.toMatchObject({ name: 'MethodNotAllowed' });
      await expect(asked('none')).rejects.toMatchObject({ name: 'NoSuchVersion' });
      await remove('v/1', marker);
      expect(await textOf('v/1', localBucketName)).toBe('second');
    });
  });
});
