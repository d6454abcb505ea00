import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { analyzeRun } from '#shared/contract/background.ts';
import { tables, type TableDefinition } from '#shared/stores/tables.ts';
import { stackIds, stackName } from '#shared/stage/stack-names.ts';
import type { StageConfig } from '#shared/stage/stage.ts';
import { placeholders, stages } from '#shared/stage/stages.ts';
import { appOf, deployed, ofType, stage } from './deployed.ts';
import { schemaDefects } from './resource-schemas.ts';

const { stores } = deployed();
const definitions: readonly TableDefinition[] = tables;

describe('the tables', () => {
  it('are exactly those of shared/stores/tables.ts', () => {
    expect(ofType(stores, 'AWS::DynamoDB::Table')).toHaveLength(definitions.length);
  });

  it.each(definitions)(
    '$name has its keys, its purge attribute and nothing to provision',
    ({ partitionKey, sortKey, ttl }) => {
      stores.template.hasResourceProperties('AWS::DynamoDB::Table', {
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          ...(sortKey === undefined ? [] : [{ AttributeName: sortKey, KeyType: 'RANGE' }]),
        ],
        TimeToLiveSpecification: ttl === undefined ? Match.absent() : { AttributeName: ttl, Enabled: true },
      });
    },
  );

  it.each(ofType(stores, 'AWS::DynamoDB::Table'))(
    '%s can be restored, is encrypted and not deleted by accident',
    (_, table) => {
      expect(table).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        Properties: {
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          SSESpecification: { SSEEnabled: true },
        },
      });
    },
  );
});

describe('the table of released records', () => {
  const release = 'arn:aws:iam::111122223333:role/mastery/release';
  const restore = 'arn:aws:iam::111122223333:role/restore';
  const refusals = (recordWriters?: StageConfig['recordWriters']): unknown => {
    const { name, config } = stage('prod');
    const own = deployed({
      gates: [],
      stage: { name, config: { ...config, ...(recordWriters && { recordWriters }) } },
    });
    return ofType(own.stores, 'AWS::DynamoDB::Table').map(
      ([, { Properties }]) =>
        JSON.parse(
          JSON.stringify(Properties['ResourcePolicy'] ?? null).replaceAll('dynamodb:', ''),
        ) as unknown,
    );
  };
  const everyone = { Effect: 'Deny', Principal: { AWS: '*' }, Resource: '*' };
  const unchanged = {
    ...everyone,
    Sid: 'NothingIsChangedOrDeleted',
    Action: ['BatchWriteItem', 'DeleteItem', 'PartiQLDelete', 'PartiQLInsert', 'PartiQLUpdate', 'UpdateItem'],
  };
  const put = (...roles: readonly string[]): object => ({
    ...everyone,
    Sid: 'OnlyReleaseAndRestoreWrite',
    Action: 'PutItem',
    Condition: { ArnNotEquals: { 'aws:PrincipalArn': roles } },
  });

  it.each([
    ['nobody changes an item', undefined, []],
    ['only the role that releases writes one', { release }, [put(release)]],
    ['the role that restores, too', { release, restore }, [put(release, restore)]],
  ] as const)('is protected by its own policy, and no other table has one: %s', (_, writers, refused) => {
    expect(refusals(writers)).toStrictEqual([
      { PolicyDocument: { Version: '2012-10-17', Statement: [unchanged, ...refused] } },
      null,
      null,
      null,
    ]);
  });
});

describe('the key', () => {
  it('rotates, has an alias and stays when the stack goes', () => {
    const [key] = ofType(stores, 'AWS::KMS::Key');
    expect(key?.[1]).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: { EnableKeyRotation: true },
    });
    stores.template.hasResourceProperties('AWS::KMS::Alias', { AliasName: 'alias/mastery-reports/prod' });
    expect(key?.[1].Properties).not.toHaveProperty('MultiRegion');
  });

  it('can have replicas in other regions, or be one, if the stage wants it', () => {
    const prod = stage('prod');
    const of = (key: StageConfig['key'] & string) =>
      deployed({ stage: { ...prod, config: { ...prod.config, key } } }).stores;
    of('multi-region').template.hasResourceProperties('AWS::KMS::Key', {
      MultiRegion: true,
      EnableKeyRotation: true,
    });
    const arn = 'arn:aws:kms:eu-west-1:111122223333:key/mrk-1234abcd';
    const replica = of(arn);
    expect(ofType(replica, 'AWS::KMS::Key')).toStrictEqual([]);
    replica.template.hasOutput('KeyArn', { Value: arn });
    replica.template.hasResourceProperties('AWS::KMS::Alias', {
      AliasName: 'alias/mastery-reports/prod',
      TargetKeyId: arn,
    });
  });
});

describe('the queue of runs', () => {
  const queues = ofType(stores, 'AWS::SQS::Queue').map(([id, { Properties }]) => ({
    id,
    ...z
      .object({
        MessageRetentionPeriod: z.number(),
        SqsManagedSseEnabled: z.literal(true),
        VisibilityTimeout: z.number().optional(),
        RedrivePolicy: z
          .object({
            deadLetterTargetArn: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }),
            maxReceiveCount: z.number(),
          })
          .optional(),
      })
      .parse(Properties),
  }));
  const runs = queues.find(({ RedrivePolicy }) => RedrivePolicy !== undefined);
  const deadLetters = queues.find(({ RedrivePolicy }) => RedrivePolicy === undefined);

  it('hides a message for at least six times as long as its worker may take', () => {
    expect(runs?.VisibilityTimeout).toBeGreaterThanOrEqual(6 * analyzeRun.lambda.timeoutSeconds);
  });

  it('gives a message up after five times, to a queue that keeps it longer than its own would', () => {
    expect(queues).toHaveLength(2);
    expect(runs?.RedrivePolicy).toStrictEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': [deadLetters?.id, 'Arn'] },
      maxReceiveCount: 5,
    });
    expect(deadLetters?.MessageRetentionPeriod).toBe(14 * 24 * 60 * 60);
    expect(deadLetters?.MessageRetentionPeriod).toBeGreaterThan(runs?.MessageRetentionPeriod ?? Infinity);
  });

  it.each(queues.map(({ id }) => id))('%s is spoken to over TLS only', (id) => {
    stores.template.hasResourceProperties('AWS::SQS::QueuePolicy', {
      Queues: [{ Ref: id }],
      PolicyDocument: {
        Statement: [
          {
            Action: 'sqs:*',
            Effect: 'Deny',
            Principal: { AWS: '*' },
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          },
        ],
      },
    });
  });
});

describe('the receipts', () => {
  const [[bucketId, bucket] = []] = ofType(stores, 'AWS::S3::Bucket');
  const objects = { 'Fn::Join': ['', [{ 'Fn::GetAtt': [bucketId, 'Arn'] }, '/*']] };

  it('are encrypted, in versions, closed to the public and outlive the stack', () => {
    expect(ofType(stores, 'AWS::S3::Bucket')).toHaveLength(1);
    expect(bucket).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      },
    });
  });

  it('keep each version under Object Lock for the years of the stage; nothing expires [RP-211]', () => {
    const prod = stage('prod');
    const bucketOf = (receiptRetention: StageConfig['receiptRetention']) =>
      ofType(
        deployed({ stage: { ...prod, config: { ...prod.config, receiptRetention } } }).stores,
        'AWS::S3::Bucket',
      )[0]?.[1].Properties;
    for (const [setting, retention] of [
      [{ years: 7 }, { Mode: 'GOVERNANCE', Years: 7 }],
      [
        { years: 10, mode: 'COMPLIANCE' },
        { Mode: 'COMPLIANCE', Years: 10 },
      ],
    ] as const)
      expect(bucketOf(setting)).toMatchObject({
        ObjectLockEnabled: true,
        ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule: { DefaultRetention: retention } },
        VersioningConfiguration: { Status: 'Enabled' },
      });
    expect(bucket?.Properties).not.toHaveProperty('LifecycleConfiguration');
  });

  it('are copied with their locks to the bucket that a stage names, and their deletions are not', () => {
    expect(bucket?.Properties).not.toHaveProperty('ReplicationConfiguration');
    const prod = stage('prod');
    const replica = 'arn:aws:s3:::receipts-elsewhere';
    const of = deployed({ stage: { ...prod, config: { ...prod.config, receiptReplica: replica } } }).stores;
    const [[roleId] = []] = ofType(of, 'AWS::IAM::Role');
    const Role = { 'Fn::GetAtt': [roleId, 'Arn'] };
    const rule = {
      DeleteMarkerReplication: { Status: 'Disabled' },
      Destination: { Bucket: replica },
      Status: 'Enabled',
    };
    of.template.hasResourceProperties('AWS::S3::Bucket', {
      ReplicationConfiguration: { Role, Rules: [Match.objectLike(rule)] },
    });
    const policy = JSON.stringify(ofType(of, 'AWS::IAM::Policy'));
    for (const action of ['GetObjectVersionForReplication', 'GetObjectRetention', 'ReplicateObject'])
      expect(policy).toContain(`"s3:${action}"`);
    expect(policy).not.toMatch(/s3:(\*|Replicate\*|ReplicateDelete|Delete|Put)/);
    expect(schemaDefects(of.resources)).toStrictEqual([]);
  });

  it('are deleted and unlocked by no role of the deployment', () => {
    const template = JSON.stringify(
      [stores, ...deployed().services.values()].map(({ resources }) => resources),
    );
    expect(template).toContain('s3:PutObject');
    expect(template).not.toMatch(/s3:(Delete|Bypass|PutObject[RL]|PutBucketObjectLock)/);
  });

  it.each([
    ['no call without TLS', ['s3:*'], { Bool: { 'aws:SecureTransport': 'false' } }],
    [
      'no write but of a key that is free or over the version that is named',
      ['s3:PutObject'],
      { Null: { 's3:if-none-match': 'true', 's3:if-match': 'true' } },
    ],
  ])('suffer %s, from nobody [RP-211]', (_, actions, condition) => {
    const { Statement } = z
      .object({ PolicyDocument: z.object({ Statement: z.array(z.looseObject({ Action: z.unknown() })) }) })
      .parse(ofType(stores, 'AWS::S3::BucketPolicy')[0]?.[1].Properties).PolicyDocument;
    const found = Statement.filter(
      ({ Action }) => JSON.stringify([Action].flat()) === JSON.stringify(actions),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ Effect: 'Deny', Principal: { AWS: '*' } });
    expect(found[0]?.['Condition']).toStrictEqual(condition);
    const bucketItself = { 'Fn::GetAtt': [bucketId, 'Arn'] };
    expect(found[0]?.['Resource']).toStrictEqual(actions[0] === 's3:*' ? [bucketItself, objects] : objects);
  });

  it('are granted to nobody by the bucket itself', () => {
    expect(JSON.stringify(ofType(stores, 'AWS::S3::BucketPolicy'))).not.toContain('"Allow"');
  });
});

describe('what other stacks read', () => {
  it('is the same whatever the gates and routes, so that a closed gate never deadlocks', () => {
    for (const others of [
      { routes: [] },
      { gates: [] },
      { gates: ['A', 'D'] },
      { gates: ['D', 'F'] },
    ] as const)
      expect(deployed(others).stores.template.toJSON()).toStrictEqual(stores.template.toJSON());
    expect(stores.outputs).toStrictEqual([
      'RecordsTableName',
      'RecordsTableArn',
      'ControlTableName',
      'ControlTableArn',
      'SettingsTableName',
      'SettingsTableArn',
      'ImprovementTableName',
      'ImprovementTableArn',
      'KeyArn',
      'RunQueueName',
      'RunQueueArn',
      'RunQueueUrl',
      'DeadLetterQueueName',
      'DeadLetterQueueArn',
      'DeadLetterQueueUrl',
      'ReceiptsBucketName',
      'ReceiptsBucketArn',
    ]);
  });
});

it('leave the marker by which a synth knows the stage’s account and region', () => {
  for (const name of Object.keys(stages))
    deployed({ stage: stage(name) }).stores.template.hasResourceProperties('AWS::SSM::Parameter', {
      Name: `/${name}/gates/marker`,
      Value: name,
    });
});

describe('every stack', () => {
  const protectedStacks = (name: string, changed: Partial<StageConfig> = {}): readonly string[] => {
    const { config, ...of } = stage(name);
    const { app } = appOf({ stage: { ...of, config: { ...config, ...changed } } });
    return app
      .synth()
      .stacks.flatMap(({ stackName: found, terminationProtection }) => (terminationProtection ? [found] : []))
      .toSorted();
  };
  const all = (name: string) => stackIds.map((id) => stackName(name, id)).toSorted();

  it('of a production stage, or of one that asks for it, has termination protection; the stores always have it', () => {
    expect(protectedStacks('prod')).toStrictEqual(all('prod'));
    expect(protectedStacks('staging')).toStrictEqual([stackName('staging', 'records-and-keys')]);
    expect(protectedStacks('staging', { terminationProtection: true })).toStrictEqual(all('staging'));
  });

  it('keeps what it must keep when it is deleted, but leaves nothing of a first deployment that failed', () => {
    const policies = deployed().stacks.flatMap(({ template }) =>
      Object.values(template.Resources).flatMap(({ DeletionPolicy, UpdateReplacePolicy }) =>
        DeletionPolicy === undefined ? [] : [`${DeletionPolicy} ${UpdateReplacePolicy ?? ''}`],
      ),
    );
    expect(new Set(policies)).toStrictEqual(new Set(['RetainExceptOnCreate Retain', 'Delete Delete']));
  });
});

describe('the stages', () => {
  it.each(Object.keys(stages))('%s synthesizes under its own names', (name) => {
    const { stores: own } = deployed({ stage: stage(name) });
    own.template.hasResourceProperties('AWS::KMS::Alias', { AliasName: `alias/mastery-reports/${name}` });
  });

  it('say which settings are still to be filled in', () => {
    const prod = stage('prod');
    const filled = {
      ...prod.config,
      token: { ...prod.config.token, issuer: 'https://id.school.org', jwksUrl: 'https://id.school.org/jwks' },
      approvedHosts: ['platform.school.org'],
      problemsUrl: 'https://docs.school.org/problems',
      runbookUrl: 'https://docs.school.org/runbook',
      alarmsEmail: 'operators@school.org',
      // RFC 7517, appendix A.1.
      releaseKey: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    } as const;
    expect(placeholders({ name: 'prod', config: filled })).toStrictEqual([]);
    expect(
      placeholders({ name: 'prod', config: { ...filled, problemsUrl: 'https://docs.example/problems' } }),
    ).toStrictEqual(['problemsUrl']);
    const hosts = ['platform.school.org', 'platform.example'] as const;
    expect(placeholders({ name: 'prod', config: { ...filled, approvedHosts: hosts } })).toStrictEqual([
      'approvedHosts',
    ]);
    const { releaseKey } = filled;
    for (const other of [prod.config.releaseKey, { ...releaseKey, y: releaseKey.x }])
      expect(placeholders({ name: 'prod', config: { ...filled, releaseKey: other } })).toStrictEqual([
        'releaseKey',
      ]);
  });
});
