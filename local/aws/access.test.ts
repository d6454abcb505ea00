import {
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { DecryptCommand, GenerateDataKeyWithoutPlaintextCommand, KMSClient } from '@aws-sdk/client-kms';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import {
  GetParametersByPathCommand,
  GetParametersCommand,
  PutParameterCommand,
  SSMClient,
} from '@aws-sdk/client-ssm';
import { afterAll, describe, expect, it } from 'vitest';
import {
  localBucketName,
  localKeyAlias,
  localQueueUrl,
  localRegion,
  localTableName,
} from '#shared/stage/local-stage.ts';
import { allow } from '#shared/stage/permissions.ts';
import { useTestAws } from '#test/support/aws.ts';
import type { LocalRole } from './access.ts';
import { localArns } from './resources.ts';

/** Roles by the access key id of the same name. */
const roles = {
  none: [],
  partition: [
    allow(localArns.settings.arn, ['dynamodb:Query', 'dynamodb:GetItem'], {
      'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['mine'] },
    }),
  ],
  putter: [allow(localArns.settings.arn, ['dynamodb:PutItem'])],
  records: [allow(localArns.records.arn, ['dynamodb:UpdateItem', 'dynamodb:PutItem'])],
  purpose: [
    allow(localArns.keyArn, ['kms:GenerateDataKeyWithoutPlaintext', 'kms:Decrypt'], {
      StringEquals: { 'kms:EncryptionContext:purpose': 'mine' },
    }),
  ],
  parameters: [
    allow(localArns.parameter('/mine'), ['ssm:GetParametersByPath']),
    allow(localArns.parameter('/mine/*'), ['ssm:GetParameters']),
  ],
  secrets: [
    allow(localArns.parameter('/mine/*'), ['ssm:GetParameters']),
    allow(localArns.keyArn, ['kms:Decrypt'], {
      StringLike: { 'kms:EncryptionContext:PARAMETER_ARN': localArns.parameter('/mine/*') },
    }),
  ],
  reader: [allow(`${localArns.receipts.arn}/*`, ['s3:GetObject', 's3:PutObject'])],
  lister: [
    allow(`${localArns.receipts.arn}/*`, ['s3:GetObject']),
    allow(localArns.receipts.arn, ['s3:ListBucket']),
  ],
} as const satisfies Readonly<Record<string, LocalRole['statements']>>;
type RoleName = keyof typeof roles;

const test = useTestAws({
  roles: Object.fromEntries(Object.entries(roles).map(([name, statements]) => [name, { name, statements }])),
});
const opened: { destroy: () => void }[] = [];
afterAll(() => opened.forEach((client) => client.destroy()));

const as = <T extends { destroy: () => void }>(role: string, open: new (settings: object) => T): T => {
  const credentials = { accessKeyId: role, secretAccessKey: 'x' };
  const client = new open({ endpoint: test.aws.url, region: localRegion, credentials, maxAttempts: 1 });
  opened.push(client);
  return client;
};
const dynamo = (role: RoleName) => as(role, DynamoDBClient);
const who = (role: string) =>
  `User: arn:aws:sts::000000000000:assumed-role/${role}/${role} is not authorized to perform: `;
const denied = (role: RoleName, action: string, resource: string) => ({
  message: `${who(role)}${action} on resource: ${resource} because no identity-based policy allows the ${action} action`,
});

const item = (pk: string) => ({ pk: { S: pk }, sk: { S: 'a' } });
const TableName = localTableName('settings');
const getItem = (role: RoleName, pk: string) =>
  dynamo(role).send(new GetItemCommand({ TableName, Key: item(pk) }));
const query = (role: RoleName, pk: string) =>
  dynamo(role).send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: '#p = :p AND sk > :s',
      ExpressionAttributeNames: { '#p': 'pk' },
      ExpressionAttributeValues: { ':p': { S: pk }, ':s': { S: 'a' } },
    }),
  );

describe('a role', () => {
  it('reads the partitions of a table that it names, and no others', async () => {
    for (const read of [getItem, query]) {
      await expect(read('partition', 'mine')).resolves.toBeDefined();
      await expect(read('partition', 'other')).rejects.toMatchObject({ name: 'AccessDeniedException' });
    }
    await expect(getItem('none', 'mine')).rejects.toMatchObject({
      $metadata: { httpStatusCode: 400 },
      name: 'AccessDeniedException',
      ...denied('none', 'dynamodb:GetItem', localArns.settings.arn),
    });
  });

  it('is asked for every part of a transaction, before any is done', async () => {
    const transact = (...TransactItems: NonNullable<TransactWriteItemsCommand['input']['TransactItems']>) =>
      dynamo('putter').send(new TransactWriteItemsCommand({ TransactItems }));
    const Put = { TableName, Item: item('one') };
    const target = { TableName, Key: item('two') };
    await expect(transact({ Put, Delete: undefined })).resolves.toBeDefined();
    for (const [action, part] of [
      ['DeleteItem', { Delete: target }],
      ['UpdateItem', { Update: { ...target, UpdateExpression: 'REMOVE x' } }],
      ['ConditionCheckItem', { ConditionCheck: { ...target, ConditionExpression: 'attribute_exists(pk)' } }],
    ] as const)
      await expect(transact({ Put: { TableName, Item: item(action) } }, part), action).rejects.toMatchObject({
        name: 'AccessDeniedException',
        ...denied('putter', `dynamodb:${action}`, localArns.settings.arn),
      });
    const found = await test.dynamo.send(new GetItemCommand({ TableName, Key: item('DeleteItem') }));
    expect(found.Item).toBeUndefined();
  });

  it('uses a key for the encryption contexts that it names, and for no others', async () => {
    const kms = as('purpose', KMSClient);
    const make = (purpose: string, client = kms) =>
      client.send(
        new GenerateDataKeyWithoutPlaintextCommand({
          KeyId: localKeyAlias,
          KeySpec: 'AES_256',
          EncryptionContext: { purpose, stage: 'local' },
        }),
      );
    const open = (CiphertextBlob: Uint8Array | undefined, purpose: string) =>
      kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: { purpose, stage: 'local' } }));
    const { CiphertextBlob: mine } = await make('mine');
    await expect(open(mine, 'mine')).resolves.toBeDefined();
    await expect(make('other')).rejects.toMatchObject({
      name: 'AccessDeniedException',
      ...denied('purpose', 'kms:GenerateDataKeyWithoutPlaintext', localArns.keyArn),
    });
    const { CiphertextBlob: other } = await make('other', test.kms);
    await expect(open(other, 'other')).rejects.toMatchObject({ name: 'AccessDeniedException' });
    // Before anything about the ciphertext is said.
    await expect(open(mine, 'other')).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });

  it('reads the parameters that it names, and a secret only with its key', async () => {
    const write = (Name: string, more: object) =>
      test.ssm.send(new PutParameterCommand({ Name, Value: 'v', Type: 'String', ...more }));
    const secret = { Type: 'SecureString', KeyId: localKeyAlias };
    await write('/mine/a', {});
    await write('/mine/s', secret);
    await write('/mine/default', { Type: 'SecureString' });
    await write('/other/s', secret);
    const read = (role: RoleName, WithDecryption: boolean, ...Names: string[]) =>
      as(role, SSMClient).send(new GetParametersCommand({ Names, WithDecryption }));
    await expect(read('parameters', false, '/mine/a', '/mine/s')).resolves.toBeDefined();
    // The account's own key serves everyone who may read the parameter.
    await expect(read('parameters', true, '/mine/default')).resolves.toBeDefined();
    await expect(read('parameters', true, '/mine/a', '/mine/s')).rejects.toMatchObject({
      name: 'AccessDeniedException',
      ...denied('parameters', 'kms:Decrypt', localArns.keyArn),
    });
    await expect(read('parameters', false, '/mine/a', '/other/a')).rejects.toMatchObject({
      name: 'AccessDeniedException',
      ...denied('parameters', 'ssm:GetParameters', localArns.parameter('/other/a')),
    });
    await expect(read('secrets', true, '/mine/s')).resolves.toBeDefined();
    const list = (Path: string, WithDecryption = false) =>
      as('parameters', SSMClient).send(new GetParametersByPathCommand({ Path, WithDecryption }));
    await expect(list('/mine')).resolves.toBeDefined();
    await expect(list('/mine', true)).rejects.toMatchObject({ name: 'AccessDeniedException' });
    await expect(list('/other')).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });

  it('without s3:ListBucket is refused an object that does not exist, as S3 refuses it', async () => {
    const get = (role: RoleName) =>
      as(role, S3Client).send(new GetObjectCommand({ Bucket: localBucketName, Key: 'absent' }));
    await expect(get('reader')).rejects.toMatchObject({
      name: 'AccessDenied',
      $metadata: { httpStatusCode: 403 },
    });
    await expect(get('lister')).rejects.toMatchObject({ name: 'NoSuchKey' });
    await expect(get('none')).rejects.toMatchObject({
      name: 'AccessDenied',
      $metadata: { httpStatusCode: 403 },
      ...denied('none', 's3:GetObject', `${localArns.receipts.arn}/absent`),
    });
  });

  it('sends no message without the permission to', async () => {
    const QueueUrl = localQueueUrl(test.aws.url);
    const send = as('none', SQSClient).send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }));
    await expect(send).rejects.toMatchObject({
      name: 'AccessDenied',
      ...denied('none', 'sqs:SendMessage', localArns.runs.arn),
    });
  });

  it('that is none of the emulator’s is no caller', async () => {
    await expect(
      as('nobody', DynamoDBClient).send(new GetItemCommand({ TableName, Key: item('a') })),
    ).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    });
  });
});

describe('the policy of a resource', () => {
  it('keeps released records from everyone’s change', async () => {
    const update = { TableName: localTableName('records'), Key: item('one') };
    const write = { Update: { ...update, UpdateExpression: 'SET x = pk' } };
    for (const [client, name] of [
      [dynamo('records'), who('records')],
      [test.dynamo, 'User: arn:aws:iam::000000000000:user/local'],
    ] as const)
      await expect(
        client.send(new TransactWriteItemsCommand({ TransactItems: [write] })),
      ).rejects.toMatchObject({
        name: 'AccessDeniedException',
        message: expect.stringMatching(
          `^${RegExp.escape(name)}.* with an explicit deny in a resource-based policy$`,
        ) as string,
      });
  });

  it('takes no object that would be written over another one', async () => {
    const put = (client: S3Client, more: object) =>
      client.send(new PutObjectCommand({ Bucket: localBucketName, Key: 'k', Body: 'x', ...more }));
    for (const client of [as('reader', S3Client), test.s3])
      await expect(put(client, {})).rejects.toMatchObject({ name: 'AccessDenied' });
    await expect(put(as('reader', S3Client), { IfNoneMatch: '*' })).resolves.toBeDefined();
  });
});

it('what was used and what was denied is known by role', async () => {
  await getItem('partition', 'mine');
  expect(test.aws.access.of('partition').granted).toEqual(
    ['GetItem', 'Query'].map(
      (action) => `dynamodb:${action} ${localArns.settings.arn} dynamodb:LeadingKeys=mine`,
    ),
  );
  expect(test.aws.access.of('partition').used).toContain(
    `dynamodb:GetItem ${localArns.settings.arn} dynamodb:LeadingKeys=mine`,
  );
  const before = test.aws.access.denials();
  const restore = await test.aws.snapshot();
  await expect(getItem('none', 'mine')).rejects.toThrow();
  expect(test.aws.access.denials().at(-1)).toBe(
    denied('none', 'dynamodb:GetItem', localArns.settings.arn).message,
  );
  await query('partition', 'mine');
  expect(test.aws.access.of('partition').used).toHaveLength(2);
  await restore();
  expect(test.aws.access.denials()).toEqual(before);
});
