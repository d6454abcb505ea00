import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DescribeKeyCommand } from '@aws-sdk/client-kms';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { ParameterAlreadyExists, PutParameterCommand } from '@aws-sdk/client-ssm';
import { describe, expect, it } from 'vitest';
import {
  localBucketName,
  localCredentials,
  localKeyAlias,
  localQueueName,
  localQueueUrl,
} from '#shared/stage/local-stage.ts';
import { localTables } from '#local/aws/resources.ts';
import { useTestAws } from '#test/support/aws.ts';
import { callRaw } from '#test/support/raw-call.ts';

const test = useTestAws();

const listTables = {
  'x-amz-target': 'DynamoDB_20120810.ListTables',
  'content-type': 'application/x-amz-json-1.0',
  authorization: `AWS4-HMAC-SHA256 Credential=${localCredentials.accessKeyId}/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
};

const listed = (headers: Record<string, string> = {}) =>
  callRaw(test.aws.url, '/', {
    method: 'POST',
    headers: Object.entries({ ...listTables, ...headers }),
    body: '{}',
  });

describe('the AWS emulator as a server', () => {
  it('listens on the loopback interface only and answers no other host name: a browser page cannot reach it by DNS rebinding', async () => {
    const { hostname, port } = new URL(test.aws.url);
    expect(hostname).toBe('127.0.0.1');
    expect((await listed()).status).toBe(200);
    for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      expect((await listed({ host })).status, host).toBe(200);
    for (const host of ['evil.example', `127.0.0.1.evil.example:${port}`, 'localhost', 'localhost:1'])
      expect((await listed({ host })).status, host).toBe(421);
  });

  it.each([
    ['UnrecognizedClientException', 'authorization', 'AWS4-HMAC-SHA256 Credential=AKIAREAL/20300101/x/y/z'],
    ['UnknownOperationException', 'x-amz-target', 'AWSStepFunctions.StartExecution'],
    ['UnknownOperationException', 'x-amz-target', 'DynamoDB_20300101.ListTables'],
    ['UnknownOperationException', 'x-amz-target', 'DynamoDB_20120810.ExportTableToPointInTime'],
    ['UnknownOperationException', 'x-amz-target', 'DynamoDB_20120810.toString'],
    ['UnknownOperationException', 'content-type', 'application/cbor'],
  ])(
    'refuses what is not its own, credentials included, as they may be real ones: %s for %s %s',
    async (error, name, value) => {
      const answer = await listed({ [name]: value });
      expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(error) as string });
    },
  );

  it.each([
    [
      'cloudformation',
      '/',
      'Action=DescribeChangeSet&StackName=s&ChangeSetName=c&NextToken=x',
      'NextToken is not one',
    ],
    ['apigateway', '/account', '{', 'no patchOperations'],
    ['acm', '/', '{}', 'no CertificateArn'],
  ])('refuses a request to %s that it cannot read', async (service, url, body, reason) => {
    test.aws.account.changeSets.set('s/c', { status: 'CREATE_COMPLETE', changes: [] });
    const headers = {
      ...listTables,
      authorization: listTables.authorization.replace('dynamodb', service),
      'x-amz-target': 'CertificateManager.DescribeCertificate',
    };
    const method = service === 'apigateway' ? 'PATCH' : 'POST';
    const answer = await callRaw(test.aws.url, url, { method, headers: Object.entries(headers), body });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(reason);
  });

  it('throttles an operation as often as told', async () => {
    test.aws.faults.throttle('GetItem', 2);
    const get = () =>
      test.dynamo.send(
        new GetItemCommand({ TableName: 'local-settings', Key: { pk: { S: 'a' }, sk: { S: 'b' } } }),
      );
    for (let call = 0; call < 2; call += 1) {
      await expect(get()).rejects.toMatchObject({ name: 'ProvisionedThroughputExceededException' });
    }
    await expect(get()).resolves.toBeDefined();
    test.aws.faults.throttle('DescribeKey', 1);
    const describeKey = () => test.kms.send(new DescribeKeyCommand({ KeyId: localKeyAlias }));
    await expect(describeKey()).rejects.toMatchObject({ name: 'ThrottlingException' });
    await expect(describeKey()).resolves.toBeDefined();
  });
});

it('overwrites a parameter only when told to', async () => {
  const put = (Value: string, Overwrite?: boolean) =>
    test.ssm.send(new PutParameterCommand({ Name: '/kept', Value, Type: 'String', Overwrite }));
  await put('first');
  await expect(put('second')).rejects.toBeInstanceOf(ParameterAlreadyExists);
  expect((await put('third', true)).Version).toBe(2);
});

describe('the environment of a handler', () => {
  it('leads every client to the emulator, whatever profile and endpoints the developer has', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'aws-environment-'));
    const config = path.join(folder, 'config');
    await writeFile(config, '[profile real]\nregion = eu-west-1\nendpoint_url = http://127.0.0.1:9\n');
    const credentials = path.join(folder, 'credentials');
    await writeFile(credentials, '[real]\naws_access_key_id = AKIAREAL\naws_secret_access_key = real\n');
    const program = `
      import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
      import { DescribeKeyCommand } from '@aws-sdk/client-kms';
      import { GetObjectCommand } from '@aws-sdk/client-s3';
      import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
      import { GetParameterCommand } from '@aws-sdk/client-ssm';
      import { dynamo, kms, s3, ssm } from '#shared/stores/clients.ts';
      import { makeSqs } from '#shared/stores/make-clients.ts';
      const { TableNames } = await dynamo().send(new ListTablesCommand({}));
      const { KeyMetadata } = await kms().send(new DescribeKeyCommand({ KeyId: '${localKeyAlias}' }));
      const { Parameter } = await ssm().send(new GetParameterCommand({ Name: '/where' }));
      const { Attributes } = await makeSqs({}).send(
        new GetQueueAttributesCommand({ QueueUrl: '${localQueueUrl(test.aws.url)}', AttributeNames: ['QueueArn'] }));
      const { Body } = await s3().send(new GetObjectCommand({ Bucket: '${localBucketName}', Key: 'where' }));
      console.log(JSON.stringify([
        TableNames.length, KeyMetadata.AWSAccountId, Parameter.Value, Attributes.QueueArn, await Body.transformToString()]));`;
    await test.s3.send(
      new PutObjectCommand({ Bucket: localBucketName, Key: 'where', Body: 'here too', IfNoneMatch: '*' }),
    );
    await test.ssm.send(new PutParameterCommand({ Name: '/where', Value: 'here', Type: 'String' }));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--no-warnings', '-e', program],
      {
        cwd: path.join(import.meta.dirname, '../..'),
        env: {
          PATH: process.env['PATH'],
          HOME: folder,
          AWS_PROFILE: 'real',
          AWS_CONFIG_FILE: config,
          AWS_SHARED_CREDENTIALS_FILE: credentials,
          AWS_SESSION_TOKEN: 'real',
          AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true',
          ...test.env,
        },
      },
    );
    expect(JSON.parse(stdout)).toEqual([
      localTables().length,
      '000000000000',
      'here',
      `arn:aws:sqs:us-east-1:000000000000:${localQueueName}`,
      'here too',
    ]);
  });
});
