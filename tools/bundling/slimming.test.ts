import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localBucketName, localQueueName, localQueueUrl } from '#shared/stage/local-stage.ts';
import type { TestAws } from '#test/support/aws.ts';
import { startTestAws } from '#test/support/aws.ts';
import { bundle } from './bundle.ts';
import { usedErrors } from './slimming.ts';

const root = path.resolve(import.meta.dirname, '../..');

let test: TestAws;
let code: Uint8Array;
beforeAll(async () => {
  test = await startTestAws();
  const probe = { operationId: 'stores', handler: 'test/infra/stores-probe.ts' };
  const built = await bundle(root, [probe], await usedErrors(root));
  if (!built.ok) throw new Error(built.error.join('\n'));
  code = built.value[0]?.code ?? new Uint8Array();
});
afterAll(() => test.close());

describe('a bundle that speaks to S3 and SQS', () => {
  it('holds the operations that it calls and none of the others', () => {
    const text = Buffer.from(code).toString();
    for (const called of ['PutObject', 'GetObject', 'SendMessage']) expect(text).toContain(`"${called}"`);
    for (const other of ['SelectObjectContent', 'ListObjectsV2', 'PurgeQueue', 'QueueDeletedRecently']) {
      expect(text.includes(other), other).toBe(false);
    }
  });

  it('writes, reads and sends, and names an error whose class was left out', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'slimming-'));
    try {
      const file = path.join(folder, 'index.mjs');
      await writeFile(file, code);
      const bytes = '{"of":"a bundle"}';
      const places = {
        bucket: localBucketName,
        queueUrl: localQueueUrl(test.aws.url),
        sha256: createHash('sha256').update(bytes).digest('hex'),
        bytes,
      };
      const program = `
        const { handler } = await import(${JSON.stringify(`file://${file}`)});
        const { bucket, queueUrl, sha256, bytes } = ${JSON.stringify(places)};
        const bundle = { sha256, bytes: Buffer.from(bytes), mediaType: 'application/json' };
        console.log(JSON.stringify(await handler({ bucket, queueUrl, bundle })));`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
        env: test.env,
      });
      expect(JSON.parse(stdout)).toEqual({
        read: bytes,
        absent: true,
        noBucket: 'NoSuchBucket',
        noQueue: 'QueueDoesNotExist',
      });
      expect(await test.aws.queue(localQueueName).receive()).toMatchObject({
        body: '{"tenantId":"tenant","improvementRunId":"run_1"}',
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
