import { GetItemCommand, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { DecryptCommand } from '@aws-sdk/client-kms';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetParametersCommand } from '@aws-sdk/client-ssm';
import { describe, expect, it, vi } from 'vitest';
import { storeFaults } from '#local/aws/faults.ts';
import { localBuckets } from '#local/aws/resources.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { isStoreOutage, withStoreBudget } from '#shared/kernel/store-calls.ts';
import { createAwsClients, processRuntime } from '#shared/lambda/process-runtime.ts';
import type { AwsClients, AwsSettings } from '#shared/runtime/runtime.ts';
import { localCredentials, localRegion, localTableName } from '#shared/stage/local-stage.ts';
import { useTestAws } from '#test/support/aws.ts';
import { createClients } from './clients.ts';
import { makeDynamo, makeKms, makeS3, makeSqs, makeSsm } from './make-clients.ts';
import { createReceiptBucket } from './receipt-bucket.ts';

const test = useTestAws();
const { sleep } = processRuntime();

type TimeLimits = NonNullable<AwsSettings['timeLimits']>;

/** Long enough for an answer of the emulator on a machine that is busy, and short enough to wait for several times. */
const SHORT: TimeLimits = { connectMs: 1_000, attemptMs: 300 };
/** Longer than any test. */
const LONG: TimeLimits = { connectMs: 100_000, attemptMs: 100_000 };
const settings = (timeLimits?: TimeLimits): AwsSettings => ({
  endpoint: test.aws.url,
  region: localRegion,
  credentials: localCredentials,
  ...(timeLimits && { timeLimits }),
});
const clientsWith = (timeLimits?: TimeLimits): AwsClients => createAwsClients(() => settings(timeLimits));

const bucket = localBuckets()[0]!.bucketName;
const read = (aws: AwsClients, TableName = localTableName('control')): Promise<unknown> =>
  aws(makeDynamo).send(new GetItemCommand({ TableName, Key: { id: { S: 'x' } } }));

/** One call of each store. */
const calls = {
  control: (aws) => read(aws),
  kms: (aws) => aws(makeKms).send(new DecryptCommand({ CiphertextBlob: new Uint8Array([1]) })),
  ssm: (aws) => aws(makeSsm).send(new GetParametersCommand({ Names: ['/x'] })),
  s3: (aws) => aws(makeS3).send(new GetObjectCommand({ Bucket: bucket, Key: 'x' })),
  sqs: (aws) =>
    aws(makeSqs).send(new SendMessageCommand({ QueueUrl: `${test.aws.url}/x`, MessageBody: 'x' })),
} satisfies Readonly<Record<string, (aws: AwsClients) => Promise<unknown>>>;
const operations = {
  control: ['dynamodb', 'GetItem'],
  kms: ['kms', 'Decrypt'],
  ssm: ['ssm', 'GetParameters'],
  s3: ['s3', 'GetObject'],
  sqs: ['sqs', 'SendMessage'],
} as const;
const stores = Object.keys(calls) as (keyof typeof calls)[];

/** What a call comes to within a function that has so many milliseconds left. */
const failure = (milliseconds: number, call: () => Promise<unknown>): Promise<unknown> =>
  withStoreBudget(sleep, milliseconds, call).then(
    () => undefined,
    (error: unknown) => error,
  );

describe.each(stores)('%s', (store) => {
  const call = calls[store];
  const [service, operation] = operations[store];
  const attempts = (): number => test.aws.calls(service, operation);

  it.each(storeFaults.filter((how) => how !== 'is wrong' && (how !== 'stalls' || store === 'control')))(
    'that %s is an outage after three attempts',
    async (how) => {
      test.aws.faults.break(store, how);
      const before = attempts();
      expect(await failure(60_000, () => call(clientsWith(SHORT)))).toSatisfy(isStoreOutage);
      expect(attempts() - before).toBe(3);
    },
  );

  it('that hangs once is asked again', async () => {
    test.aws.faults.break(store, 'hangs');
    const before = attempts();
    const calling = failure(60_000, () => call(clientsWith({ ...SHORT, attemptMs: 1_000 })));
    await vi.waitFor(() => expect(attempts()).toBe(before + 1));
    test.aws.faults.reset();
    expect(isStoreOutage(await calling)).toBe(false);
    expect(attempts()).toBe(before + 2);
  });

  it('is left at the end of the function’s time', async () => {
    test.aws.faults.break(store, 'hangs');
    expect(await failure(50, () => call(clientsWith(LONG)))).toMatchObject({ name: 'AbortError' });
    expect(await failure(-1, () => call(clientsWith(LONG)))).toSatisfy(isStoreOutage);
  });

  it('is never called without an end', async () => {
    await expect(call(clientsWith())).rejects.toThrow('a store is called outside of an invocation');
  });
});

interface AnyClient {
  readonly config: {
    readonly maxAttempts: () => Promise<number>;
    readonly requestHandler: {
      readonly httpHandlerConfigs: () => Readonly<Record<'requestTimeout' | 'socketTimeout', number>>;
    };
  };
}

it('every client has a time limit to connect and for an attempt, and room for a second one within the three seconds of a reading', async () => {
  const aws = clientsWith();
  // SAFETY: what every client has, though the types of the SDK do not show it.
  const made = [makeDynamo, makeKms, makeS3, makeSqs, makeSsm].map((make) => aws<unknown>(make) as AnyClient);
  await Promise.all(stores.map((store) => failure(60_000, () => calls[store](aws))));
  for (const { config } of made) {
    const { requestHandler, maxAttempts } = config;
    const limits = requestHandler.httpHandlerConfigs();
    expect(limits).toMatchObject({ connectionTimeout: 1_000, throwOnRequestTimeout: true });
    expect([2_000, 5_000]).toContain(limits.requestTimeout);
    expect(limits.socketTimeout).toBe(limits.requestTimeout);
    expect(await maxAttempts()).toBe(3);
  }
});

it('a refusal that no repetition changes is no outage: the deployment is wrong', async () => {
  const error = await failure(60_000, () => read(clientsWith(), 'no-such-table'));
  expect(error).toBeInstanceOf(ResourceNotFoundException);
  test.aws.faults.refuse('GetItem', 'AccessDeniedException', 1);
  expect(await failure(60_000, () => read(clientsWith()))).toMatchObject({ name: 'AccessDeniedException' });
});

it('an object that stops after its beginning is an outage, not a damaged bundle', async () => {
  const bytes = Buffer.from('{"a":1}');
  const sha256 = sha256Hex(bytes);
  await createReceiptBucket(test.s3, bucket).put('tenant', { sha256, mediaType: 'application/json', bytes });
  test.aws.faults.break('s3', 'stalls');
  const aws = clientsWith(SHORT);
  expect(
    await failure(60_000, () => createReceiptBucket(aws(makeS3), bucket).get('tenant', sha256)),
  ).toSatisfy(isStoreOutage);
});

it('a command waits longer, and is told what the store said', async () => {
  const clients = createClients(settings());
  try {
    test.aws.faults.break('ssm', 'is down');
    const calling = clients.ssm.send(new GetParametersCommand({ Names: ['/x'] }));
    await expect(calling).rejects.toMatchObject({ name: 'InternalServerError', $fault: 'server' });
    const { config } = clients.ssm as unknown as AnyClient;
    expect(config.requestHandler.httpHandlerConfigs()).toMatchObject({ requestTimeout: 60_000 });
  } finally {
    clients.destroy();
  }
});
