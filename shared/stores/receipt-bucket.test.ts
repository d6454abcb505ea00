import { createHash } from 'node:crypto';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { localBucketName } from '#shared/stage/local-stage.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import { useTestAws } from '#test/support/aws.ts';
import { keepProof, placeOfProof } from './proof-objects.ts';
import { createReceiptBucket } from './receipt-bucket.ts';

const test = useTestAws();

const receipts = () => createReceiptBucket(test.s3, localBucketName);

function bundleOf(text: string): Bundle {
  const bytes = Buffer.from(text);
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex'), mediaType: 'application/json' };
}

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

describe('the bucket of receipts', () => {
  it('gives back exactly the bytes whose digest it is asked for [RP-211]', async () => {
    const bundle = bundleOf('{"of":"all sorts, ü"}');
    await receipts().put('tenant', bundle);
    expect(text(await receipts().get('tenant', bundle.sha256))).toBe('{"of":"all sorts, ü"}');
    const { ContentType, Metadata } = await test.s3.send(
      new HeadObjectCommand({ Bucket: localBucketName, Key: `tenant/${bundle.sha256}` }),
    );
    expect({ ContentType, Metadata }).toEqual({ ContentType: 'application/json', Metadata: {} });
  });

  it('writes a bundle once, however often and however many at once', async () => {
    const bundle = bundleOf('{"once":true}');
    await Promise.all(Array.from({ length: 5 }, () => receipts().put('tenant', bundle)));
    await receipts().put('tenant', bundle);
    expect(text(await receipts().get('tenant', bundle.sha256))).toBe('{"once":true}');
  });

  it('names the algorithm of its checksum, which S3 requires of an object with a retention period', async () => {
    const sent: unknown[] = [];
    test.s3.middlewareStack.add(
      (next) => (args) => {
        sent.push(Object.entries((args.request as { headers: Record<string, string> }).headers));
        return next(args);
      },
      { step: 'build', priority: 'low', name: 'sent' },
    );
    const bundle = bundleOf('{"under":"lock"}');
    await receipts().put('tenant', bundle);
    test.s3.middlewareStack.remove('sent');
    expect(sent).toEqual([
      expect.arrayContaining([
        ['x-amz-sdk-checksum-algorithm', 'SHA256'],
        ['x-amz-checksum-sha256', Buffer.from(bundle.sha256, 'hex').toString('base64')],
      ]),
    ]);
  });

  it('writes nothing under a digest that is not that of the bytes [RP-211]', async () => {
    const bundle = bundleOf('{"right":1}');
    for (const sha256 of [bundleOf('{}').sha256, bundle.sha256.toUpperCase(), '', '../x']) {
      await expect(receipts().put('tenant', { ...bundle, sha256 }), sha256).rejects.toThrow(TypeError);
      expect(await receipts().get('tenant', sha256), sha256).toBeUndefined();
    }
  });

  it('hands no bytes out that are not those of the digest [RP-211]', async () => {
    const { sha256 } = bundleOf('{"original":1}');
    await test.s3.send(
      new PutObjectCommand({
        Bucket: localBucketName,
        Key: `tenant/${sha256}`,
        Body: '{"original":2}',
        IfNoneMatch: '*',
      }),
    );
    await expect(receipts().get('tenant', sha256)).rejects.toThrow('not the bytes');
  });

  it('finds a bundle for its own tenant only, whatever the ids look like', async () => {
    const bundle = bundleOf('{"whose":"a/b"}');
    const tenants = ['a/b', 'a%2Fb', 'a', '..', '.', 'ü', `${'x'.repeat(250)}/../y`];
    for (const tenant of tenants) {
      expect(await receipts().get(tenant, bundle.sha256), tenant).toBeUndefined();
      await receipts().put(tenant, bundle);
      expect(await receipts().get(tenant, bundle.sha256), tenant).toBeDefined();
    }
    // Nothing that a client would take for a path.
    await expect(
      test.s3.send(new HeadObjectCommand({ Bucket: localBucketName, Key: `%2E%2E/${bundle.sha256}` })),
    ).resolves.toBeDefined();
    for (const nobody of ['', '\ud800']) {
      expect(await receipts().get(nobody, bundle.sha256)).toBeUndefined();
      await expect(receipts().put(nobody, bundle)).rejects.toThrow(TypeError);
    }
  });

  it('writes again when another writer was under way, but not for ever', async () => {
    const bundle = bundleOf('{"contended":true}');
    test.aws.faults.conflict(3);
    await expect(receipts().put('tenant', bundle)).rejects.toMatchObject({
      name: 'ConditionalRequestConflict',
    });
    test.aws.faults.conflict(2);
    await receipts().put('tenant', bundle);
    expect(await receipts().get('tenant', bundle.sha256)).toBeDefined();
  });
});

it('a proof is kept once, and never taken for what somebody else has put in its place', async () => {
  const keep = (text: string) => keepProof(test.s3, localBucketName, 'rehearsal', text);
  await keep('proof');
  await keep('proof');
  const Key = placeOfProof(localBucketName, 'rehearsal', 'other').location.split('/').slice(3).join('/');
  await test.s3.send(new PutObjectCommand({ Bucket: localBucketName, Key, Body: 'false', IfNoneMatch: '*' }));
  await expect(keep('other')).rejects.toThrow('something else lies');
});
