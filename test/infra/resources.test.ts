import { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { analyzeRun } from '#shared/contract/background.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { stackIds, stackName } from '#shared/stage/stack-names.ts';
import type { StageConfig } from '#shared/stage/stage.ts';
import { placeholders, stages } from '#shared/stage/stages.ts';
import { isDeployedTable } from '#shared/stores/deployed-table.ts';
import { tables, type TableDefinition } from '#shared/stores/tables.ts';
import { readRecording } from '#ops/cost/recorded.ts';
import { record } from '#test/support/record.ts';
import { prod } from '#test/support/sound-stage.ts';
import {
  appOf,
  deployed,
  everySetting,
  logicalIds,
  otherSettings,
  propertiesOf,
  resourcesOf,
  stage,
  templateOf,
} from './deployed.ts';
import { paidSeries } from './series.ts';

/*
 * What every resource of its type must be like, whatever stage and gates. What cdk-nag (nag.test.ts) and the comparison of deployments
 * (transitions.test.ts) demand is not repeated: TLS, rotation, recovery to a point in time; that data and addresses outlive a change.
 */

const all = deployed();
const other = deployed({ settings: otherSettings });
const every = deployed({ settings: everySetting });
const deployments = [
  ['as it is', all],
  ['with every gate closed', deployed({ gates: [] })],
  ['with every optional resource', every],
] as const;
const { logRetentionDays, throttle } = stage('prod').config;

const closedBucket = {
  BucketEncryption: {
    ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
  },
  OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
  PublicAccessBlockConfiguration: {
    ...{ BlockPublicAcls: true, BlockPublicPolicy: true },
    ...{ IgnorePublicAcls: true, RestrictPublicBuckets: true },
  },
};

/** Refuses X-HTTP-Method-Override, in any form, before anything else. */
const noOverride = {
  Priority: 0,
  Action: { Block: {} },
  Statement: {
    SizeConstraintStatement: {
      FieldToMatch: { SingleHeader: { Name: 'x-http-method-override' } },
      ComparisonOperator: 'GE',
      Size: 0,
      TextTransformations: [{ Priority: 0, Type: 'NONE' }],
    },
  },
};

describe.each(deployments)('a deployment %s', (_, stacks) => {
  it.each<readonly [string, object]>([
    ['AWS::DynamoDB::Table', { BillingMode: 'PAY_PER_REQUEST', SSESpecification: { SSEEnabled: true } }],
    ['AWS::S3::Bucket', closedBucket],
    ['AWS::SQS::Queue', { SqsManagedSseEnabled: true }],
    ['AWS::Logs::LogGroup', { RetentionInDays: logRetentionDays }],
    [
      'AWS::ApiGateway::Stage',
      {
        MethodSettings: [
          {
            // An execution log contains the whole request.
            DataTraceEnabled: false,
            LoggingLevel: 'OFF',
            ThrottlingRateLimit: throttle.ratePerSecond,
            ThrottlingBurstLimit: throttle.burst,
          },
        ],
      },
    ],
    ['AWS::ApiGateway::RestApi', { Mode: 'overwrite', EndpointConfiguration: { Types: ['REGIONAL'] } }],
    ['AWS::WAFv2::WebACL', { DefaultAction: { Allow: {} } }],
    ['AWS::Lambda::Alias', { Name: 'live' }],
  ])('every %s is as it must be', (type, pattern) => {
    const found = resourcesOf(stacks, type);
    expect(found).not.toHaveLength(0);
    for (const { stack, id, properties } of found)
      expect(properties, `${stack} ${id}`).toMatchObject(pattern);
  });

  it('keeps what it must keep when it is deleted, but leaves nothing of a first deployment that failed', () => {
    const policies = stacks.flatMap(({ template }) =>
      Object.values(template.Resources).map(({ Type, DeletionPolicy, UpdateReplacePolicy }) => [
        Type,
        `${DeletionPolicy ?? ''} ${UpdateReplacePolicy ?? ''}`,
      ]),
    );
    expect(new Set(policies.map(([, policy]) => policy))).toStrictEqual(
      new Set([' ', 'RetainExceptOnCreate Retain', 'Delete Delete']),
    );
    for (const kept of ['AWS::DynamoDB::Table', 'AWS::KMS::Key', 'AWS::Logs::LogGroup'])
      expect(policies.filter(([type]) => type === kept).map(([, policy]) => policy)).toStrictEqual(
        policies.filter(([type]) => type === kept).map(() => 'RetainExceptOnCreate Retain'),
      );
    const [receipts] = Object.entries(templateOf(stacks, 'records-and-keys').Resources).filter(
      ([, { Type }]) => Type === 'AWS::S3::Bucket',
    );
    expect(receipts?.[1].DeletionPolicy).toBe('RetainExceptOnCreate');
  });

  it('puts its own firewall before each API and before the site, and none keeps requests or derives metrics from text', () => {
    const associations = resourcesOf(stacks, 'AWS::WAFv2::WebACLAssociation');
    expect(associations).toHaveLength(resourcesOf(stacks, 'AWS::ApiGateway::Stage').length);
    for (const { properties } of associations) {
      const api = /restapis\/(\w*)Api\//.exec(String(properties['ResourceArn']))?.[1];
      expect(properties['WebACLArn']).toBe(`${api === '' ? '' : 'ReceiptsApi'}WebAcl.Arn`);
    }
    const firewalls = propertiesOf(stacks, 'AWS::WAFv2::WebACL');
    const regional = firewalls.filter(({ Scope }) => Scope === 'REGIONAL');
    expect(regional).toHaveLength(associations.length);
    for (const { Rules } of regional) expect(Rules).toContainEqual(expect.objectContaining(noOverride));
    expect(firewalls).toHaveLength(regional.length + 1);
    expect(propertiesOf(stacks, 'AWS::CloudFront::Distribution')).toMatchObject([
      { DistributionConfig: { WebACLId: 'WebAcl.Arn' } },
    ]);
    const text = JSON.stringify(stacks);
    expect(text).not.toContain('"SampledRequestsEnabled":true');
    expect(text).not.toMatch(/AWS::WAFv2::LoggingConfiguration|AWS::Logs::MetricFilter|InsightRule/);
  });

  it('lets X-Ray see the URLs of the mastery engine only, and logs no part of a request that the caller chooses [MA-007]', () => {
    const [apis, accessed] = [
      new Map(
        resourcesOf(stacks, 'AWS::ApiGateway::RestApi').map(({ stack, id, properties }) => [
          `${stack} ${id}`,
          String(properties['Name']).split('-').at(-1),
        ]),
      ),
      resourcesOf(stacks, 'AWS::ApiGateway::Stage'),
    ];
    for (const { stack, properties } of accessed) {
      const api = apis.get(`${stack} ${String(properties['RestApiId'])}`);
      expect(api).toBeDefined();
      expect(properties['TracingEnabled']).toBe(api === 'mastery');
      const { Format } = properties['AccessLogSetting'] as { Format: string };
      expect(JSON.parse(Format)).toStrictEqual({
        ...(api === 'mastery' && { xrayTraceId: '$context.xrayTraceId' }),
        requestId: '$context.requestId',
        integrationRequestId: '$context.integration.requestId',
        time: '$context.requestTimeEpoch',
        method: '$context.httpMethod',
        resourcePath: '$context.resourcePath',
        status: '$context.status',
        responseLength: '$context.responseLength',
        responseLatency: '$context.responseLatency',
        integrationLatency: '$context.integrationLatency',
        integrationStatus: '$context.integrationStatus',
        errorType: '$context.error.responseType',
        wafResponseCode: '$context.wafResponseCode',
      });
    }
  });

  it('lets no role delete or unlock receipts, or change released records', () => {
    const text = JSON.stringify([
      resourcesOf(stacks, 'AWS::IAM::Role'),
      resourcesOf(stacks, 'AWS::IAM::Policy').filter(({ stack }) => !stack.endsWith('documentation')),
    ]);
    expect(text).not.toMatch(
      /s3:(?:\*|Bypass|Delete|Put(?!Object")|Replicate(?:\*|Delete))|dynamodb:(?:Batch|\*)/,
    );
  });
});

it('X-Ray sees no URL that names a learner: those of the mastery engine name policies and calibrations', () => {
  const named = routesOf('mastery').flatMap(({ request: { path, query } }) => [
    ...Object.keys(path.shape),
    ...Object.keys(query.shape),
  ]);
  expect(named.toSorted()).toStrictEqual(['calibrationId', 'policyId']);
});

it('what costs something without traffic is recorded for `npm run cost`', () => {
  const count = (type: string): number => resourcesOf(all, type).length;
  const firewalls = resourcesOf(all, 'AWS::WAFv2::WebACL');
  const resources = {
    'KMS key month': count('AWS::KMS::Key'),
    'WAF web ACL month': firewalls.length,
    'WAF rule month': firewalls.flatMap(({ properties }) => properties['Rules'] as readonly unknown[]).length,
    'Secrets Manager secret month': count('AWS::SecretsManager::Secret'),
    // An alarm is billed for each metric that it looks at.
    'CloudWatch alarm month': resourcesOf(all, 'AWS::CloudWatch::Alarm')
      .map(({ properties: { Metrics = [{}] } }) => Metrics as readonly object[])
      .reduce((sum, metrics) => sum + metrics.filter((metric) => !('Expression' in metric)).length, 0),
    'CloudWatch composite alarm month': count('AWS::CloudWatch::CompositeAlarm'),
    'CloudWatch metric month': paidSeries(),
    'CloudWatch dashboard month': count('AWS::CloudWatch::Dashboard'),
  };
  record({ resources });
  expect(readRecording().resources).toStrictEqual(resources);
  expect(count('AWS::CloudWatch::Alarm') + count('AWS::CloudWatch::CompositeAlarm')).toBeLessThanOrEqual(400);
  expect(paidSeries()).toBeLessThan(300);
});

describe('the tables', () => {
  const definitions: readonly TableDefinition[] = tables;

  it('take at once what the stage asks for', () => {
    const warm = (stacks: typeof all) =>
      resourcesOf(stacks, 'AWS::DynamoDB::Table').flatMap(({ id, properties }) =>
        properties['WarmThroughput'] === undefined ? [] : [[id, properties['WarmThroughput']]],
      );
    expect(warm(all)).toStrictEqual([]);
    expect(warm(every)).toStrictEqual([
      ['Control', { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 8_000 }],
    ]);
  });

  it('have the keys and the purge attribute of their definitions, and names by which commands find them', () => {
    const found = resourcesOf(all, 'AWS::DynamoDB::Table');
    expect(
      Object.fromEntries(
        found.map(({ id, properties }) => [
          id.toLowerCase(),
          [
            properties['KeySchema'],
            properties['TimeToLiveSpecification'],
            properties['DeletionProtectionEnabled'],
          ],
        ]),
      ),
    ).toStrictEqual(
      Object.fromEntries(
        definitions.map(({ name, partitionKey, sortKey, ttl }) => [
          name,
          [
            [
              { AttributeName: partitionKey, KeyType: 'HASH' },
              ...(sortKey === undefined ? [] : [{ AttributeName: sortKey, KeyType: 'RANGE' }]),
            ],
            ttl && { AttributeName: ttl, Enabled: true },
            true,
          ],
        ]),
      ),
    );
    const ids = logicalIds(all, 'AWS::DynamoDB::Table').map(
      (id) => `${stackName('prod', 'records-and-keys')}-${id}-1ABCDEF2GHIJK`,
    );
    for (const { name } of tables)
      expect(ids.filter((id) => isDeployedTable(id, 'prod', name))).toHaveLength(1);
  });

  const release = 'arn:aws:iam::111122223333:role/mastery/release';
  const restore = 'arn:aws:iam::111122223333:role/restore';
  const deny = { Effect: 'Deny', Principal: { AWS: '*' }, Resource: '*' };
  const changes = [
    'BatchWriteItem',
    'DeleteItem',
    'PartiQLDelete',
    'PartiQLInsert',
    'PartiQLUpdate',
    'UpdateItem',
  ];
  it.each([
    ['nobody changes an item', all, []],
    ['only the role that releases writes one', other, [release]],
    ['the role that restores, too', every, [release, restore]],
  ] as const)('that of released records alone has a policy of its own: %s', (_, stacks, roles) => {
    const policies = resourcesOf(stacks, 'AWS::DynamoDB::Table').flatMap(({ id, properties }) =>
      'ResourcePolicy' in properties ? [[id, properties['ResourcePolicy']]] : [],
    );
    const put = {
      ...{ ...deny, Sid: 'OnlyReleaseAndRestoreWrite', Action: 'dynamodb:PutItem' },
      Condition: { ArnNotEquals: { 'aws:PrincipalArn': roles } },
    };
    const Statement = [
      { ...deny, Sid: 'NothingIsChangedOrDeleted', Action: changes.map((action) => `dynamodb:${action}`) },
      ...(roles.length === 0 ? [] : [put]),
    ];
    expect(policies).toStrictEqual([['Records', { PolicyDocument: { Version: '2012-10-17', Statement } }]]);
  });
});

it('the key can have replicas in other regions, or be one, if the stage wants it', () => {
  const found = [all, every, other].map((stacks) => [
    propertiesOf(stacks, 'AWS::KMS::Key').map(({ MultiRegion }) => MultiRegion),
    propertiesOf(stacks, 'AWS::KMS::Alias').map(({ TargetKeyId }) => TargetKeyId),
  ]);
  expect(found).toStrictEqual([
    [[undefined], ['Key.Arn']],
    [[true], ['Key.Arn']],
    [[], ['arn:aws:kms:eu-west-1:111122223333:key/mrk-1234abcd']],
  ]);
});

it('the queue of runs hides a message for six times as long as its worker may take, and gives it up after five times, to a queue that keeps it longer', () => {
  const queues = resourcesOf(all, 'AWS::SQS::Queue').map(({ id, properties }) => [id, properties]);
  const { Runs: runs, DeadLetters: deadLetters } = Object.fromEntries(queues) as Readonly<
    Record<string, Readonly<Record<string, unknown>>>
  >;
  expect(runs?.['VisibilityTimeout']).toBeGreaterThanOrEqual(6 * analyzeRun.lambda.timeoutSeconds);
  expect(runs?.['RedrivePolicy']).toStrictEqual({
    deadLetterTargetArn: 'DeadLetters.Arn',
    maxReceiveCount: 5,
  });
  expect(deadLetters?.['MessageRetentionPeriod']).toBe(14 * 24 * 60 * 60);
  expect(Number(runs?.['MessageRetentionPeriod'])).toBeLessThan(14 * 24 * 60 * 60);
});

describe('the receipts', () => {
  const bucketOf = (stacks: typeof all) => propertiesOf(stacks, 'AWS::S3::Bucket', 'records-and-keys')[0];

  it.each([
    [{ Mode: 'GOVERNANCE', Years: 7 }, all],
    [{ Mode: 'COMPLIANCE', Years: 10 }, other],
  ] as const)(
    'keep each version under Object Lock as the stage demands: %j; nothing expires [RP-211]',
    (lock, stacks) => {
      const bucket = bucketOf(stacks);
      expect(bucket).toMatchObject({
        ObjectLockEnabled: true,
        ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule: { DefaultRetention: lock } },
        VersioningConfiguration: { Status: 'Enabled' },
      });
      expect(bucket).not.toHaveProperty('LifecycleConfiguration');
      expect(bucket).not.toHaveProperty('ReplicationConfiguration');
    },
  );

  it('are copied with their locks to the bucket that a stage names, and their deletions are not', () => {
    const { receiptReplica } = everySetting;
    expect(bucketOf(every)?.['ReplicationConfiguration']).toMatchObject({
      Role: 'ReceiptsReplication.Arn',
      Rules: [
        {
          DeleteMarkerReplication: { Status: 'Disabled' },
          Destination: { Bucket: receiptReplica },
          Status: 'Enabled',
        },
      ],
    });
    const policy = JSON.stringify(resourcesOf(every, 'AWS::IAM::Policy', 'records-and-keys'));
    for (const action of ['GetObjectVersionForReplication', 'GetObjectRetention', 'ReplicateObject'])
      expect(policy).toContain(`"s3:${action}"`);
  });

  it('suffer no call without TLS and no write but of a key that is free or over the version that is named, and the bucket grants nothing [RP-211]', () => {
    const [policy] = propertiesOf(all, 'AWS::S3::BucketPolicy', 'records-and-keys');
    const { Statement } = policy?.['PolicyDocument'] as { Statement: readonly object[] };
    const deny = { Effect: 'Deny', Principal: { AWS: '*' } };
    expect(Statement).toMatchObject([
      {
        ...{ ...deny, Action: 's3:*', Resource: ['Receipts.Arn', 'Receipts.Arn/*'] },
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
      {
        ...{ ...deny, Action: 's3:PutObject', Resource: 'Receipts.Arn/*' },
        Condition: { Null: { 's3:if-none-match': 'true', 's3:if-match': 'true' } },
      },
    ]);
  });
});

describe('a stage', () => {
  const protectedStacks = (name: string, settings: Partial<StageConfig> = {}): readonly string[] =>
    appOf({ stage: stage(name), settings, gates: [] })
      .node.children.filter((child) => Stack.isStack(child))
      .flatMap((found) => (found.terminationProtection ? [found.stackName] : []));
  const allOf = (name: string) => stackIds.map((id) => stackName(name, id));

  it('of production, or that asks for it, has termination protection; the stores always have it', () => {
    expect(protectedStacks('prod')).toStrictEqual(allOf('prod'));
    expect(protectedStacks('staging')).toStrictEqual([stackName('staging', 'records-and-keys')]);
    expect(protectedStacks('staging', { terminationProtection: true })).toStrictEqual(allOf('staging'));
  });

  it.each(Object.keys(stages))(
    '%s has names of its own, and the marker by which a synth knows its account and region',
    (name) => {
      const stacks = deployed({ stage: stage(name) });
      const AliasName = `alias/mastery-reports/${name}`;
      expect(propertiesOf(stacks, 'AWS::KMS::Alias')).toMatchObject([{ AliasName }]);
      const marker = { Name: `/${name}/gates/marker`, Value: name };
      expect(propertiesOf(stacks, 'AWS::SSM::Parameter')).toContainEqual(expect.objectContaining(marker));
    },
  );

  it('says which settings are still to be filled in', () => {
    const unfilled = (changed: Partial<StageConfig>) =>
      placeholders({ name: 'prod', config: { ...prod, ...changed } });
    expect(unfilled({})).toStrictEqual([]);
    expect(unfilled({ problemsUrl: 'https://docs.example/problems' })).toStrictEqual(['problemsUrl']);
    expect(unfilled({ approvedHosts: ['platform.school.org', 'platform.example'] })).toStrictEqual([
      'approvedHosts',
    ]);
    // Only a host is a placeholder: a tenant, a role or a page may be called so.
    const named: Partial<StageConfig> = {
      systemRecordTenants: ['district.example'],
      receiptReplica: 'arn:aws:s3:::receipts.example',
      recordWriters: { release: 'arn:aws:iam::111122223333:role/team.example/release' },
      runbookUrl: 'https://docs.school.org/mastery.example/runbook',
    };
    expect(unfilled(named)).toStrictEqual([]);
    for (const other of [stages.prod.releaseKey, { ...prod.releaseKey, y: prod.releaseKey.x }])
      expect(unfilled({ releaseKey: other })).toStrictEqual(['releaseKey']);
  });
});
