import { CfnOutput, Duration, Fn, RemovalPolicy, Stack, type App } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  Table,
  TableEncryption,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Alias, Key, type IKey } from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { queueDays, tables, type TableDefinition } from '#shared/stores/tables.ts';
import { bucketParameter, gatesPath, markerName } from '#shared/release/applied-manifest.ts';
import { receiptsPolicy, recordsPolicy } from '#shared/stage/permissions.ts';
import { acknowledge, acknowledgeWildcards } from '../constructs/acknowledge.ts';
import { rendered } from '../constructs/grants.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { keyAlias, stackProps } from '../names.ts';
import { RUN_HIDDEN, type QueueReference, type StoreReference, type StoreReferences } from '../references.ts';

/**
 * Creates tables, receipts, the queue of runs and the key: everything of a deployment that outlives its code. Nothing in it depends on a gate or a
 * route, so the outputs are always the same, and closing a gate cannot deadlock.
 */
export function recordsAndKeys(app: App, stage: Stage): Stack {
  const stack = new Stack(app, 'RecordsAndKeys', {
    ...stackProps(stage, 'records-and-keys'),
    description:
      'Mastery reports: tables, receipts, the queue of runs and the key. Contains no learner data.',
    // The tables survive a mistake even on a trial stage.
    terminationProtection: true,
  });

  for (const definition of tables as readonly TableDefinition[]) {
    const table = new Table(stack, pascal(definition.name), {
      partitionKey: { name: definition.partitionKey, type: AttributeType.STRING },
      ...(definition.sortKey !== undefined && {
        sortKey: { name: definition.sortKey, type: AttributeType.STRING },
      }),
      ...(definition.ttl !== undefined && { timeToLiveAttribute: definition.ttl }),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: TableEncryption.AWS_MANAGED,
      ...warmThroughputOf(stage, definition.name),
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      ...(definition.name === 'records' && {
        resourcePolicy: new iam.PolicyDocument({
          statements: recordsPolicy(stage.config.recordWriters).map(rendered),
        }),
      }),
    });
    const { tableName: Name, tableArn: Arn } = table;
    outputs(stack, `${pascal(definition.name)}Table`, definition.holds, { Name, Arn });
  }

  const { key: choice } = stage.config;
  const replica = choice === 'multi-region' ? undefined : choice;
  const key: IKey =
    replica !== undefined
      ? Key.fromKeyArn(stack, 'Key', replica)
      : new Key(stack, 'Key', {
          alias: keyAlias(stage),
          description: `Wraps the data keys of the key ring and the service profiles of ${stage.name}; each use names its purpose in the encryption context.`,
          enableKeyRotation: true,
          ...(choice !== undefined && { multiRegion: true }),
          removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        });
  if (replica !== undefined) new Alias(stack, 'KeyAlias', { aliasName: keyAlias(stage), targetKey: key });
  new CfnOutput(stack, 'KeyArn', { value: key.keyArn });

  new StringParameter(stack, 'GatesMarker', {
    parameterName: `${gatesPath(stage.name)}/${markerName}`,
    stringValue: stage.name,
    description: 'Shows that the stores of this stage are deployed here. No command writes it.',
  });

  runQueue(stack);
  receiptBucket(stack, stage);
  return stack;
}

function warmThroughputOf(
  { config }: Stage,
  table: TableDefinition['name'],
): Pick<TableProps, 'warmThroughput'> {
  const units = config.warmThroughput?.[table];
  return units === undefined
    ? {}
    : { warmThroughput: { readUnitsPerSecond: units.reads, writeUnitsPerSecond: units.writes } };
}

/**
 * Creates the queue of improvement runs, and that of failed messages. A message only names a run, and the sweeper sends every open run again: both
 * queues are deleted with the stack.
 */
function runQueue(stack: Stack): void {
  const common = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };
  const deadLetters = new Queue(stack, 'DeadLetters', {
    ...common,
    retentionPeriod: Duration.days(queueDays.deadLetters),
  });
  const runs = new Queue(stack, 'Runs', {
    ...common,
    retentionPeriod: Duration.days(queueDays.runs),
    visibilityTimeout: RUN_HIDDEN,
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
  });
  acknowledge(deadLetters, {
    'Serverless-SQSRedrivePolicy':
      'This is where the redrive policy of the queue of runs leads; nothing takes messages from here but an operator.',
  });
  for (const [id, queue, holds] of [
    ['RunQueue', runs, 'improvement runs to be worked on'],
    ['DeadLetterQueue', deadLetters, 'improvement runs that failed five times'],
  ] as const)
    outputs(stack, id, holds, { Name: queue.queueName, Arn: queue.queueArn, Url: queue.queueUrl });
}

/**
 * Creates the bucket of receipt bundles, and of the manifests that releases depend on. An object is named by its own digest and written once. Object
 * Lock keeps every version for the years of the stage: a delete only hides it, and `npm run restore` brings it back. No lifecycle rule deletes
 * anything. Encrypted with S3's own keys: a KMS key would cost one call per bundle, and losing it would lose every receipt.
 */
function receiptBucket(stack: Stack, stage: Stage): void {
  const { receiptReplica, receiptRetention } = stage.config;
  const replica =
    receiptReplica === undefined ? undefined : s3.Bucket.fromBucketArn(stack, 'Replica', receiptReplica);
  const replicationRole =
    replica &&
    new iam.Role(stack, 'ReceiptsReplication', { assumedBy: new iam.ServicePrincipal('s3.amazonaws.com') });
  const bucket = new s3.Bucket(stack, 'Receipts', {
    encryption: s3.BucketEncryption.S3_MANAGED,
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    versioned: true,
    objectLockEnabled: true,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    // Delete markers are not copied: an object deleted here stays visible there.
    ...(replicationRole && {
      replicationRole,
      replicationRules: [
        { id: 'receipts', priority: 1, destination: replica, deleteMarkerReplication: false },
      ],
    }),
  });
  const { mode = 'GOVERNANCE', years } = receiptRetention;
  // The construct's own property takes only days.
  (bucket.node.defaultChild as s3.CfnBucket).objectLockConfiguration = {
    objectLockEnabled: 'Enabled',
    rule: { defaultRetention: { mode, years } },
  };
  if (replicationRole) allowReplication(replicationRole, bucket, replica);
  bucket.addToResourcePolicy(rendered(receiptsPolicy(bucket.arnForObjects('*'))));
  acknowledge(bucket, {
    'AwsSolutions-S1':
      'Server access logs would hold the object keys, in which tenants stand; the access log of the receipts API has every download.',
  });
  const { bucketName: Name, bucketArn: Arn } = bucket;
  outputs(stack, 'ReceiptsBucket', 'immutable receipt bundles of improvement runs', { Name, Arn });
  // For the operator who applies a manifest: unlike a table's, the name of a bucket does not always show its stack.
  new StringParameter(stack, 'ReceiptsBucketParameter', {
    parameterName: bucketParameter(stage.name),
    stringValue: bucket.bucketName,
  });
}

/** Lets S3 copy every new version, with its lock, but not delete there, which the CDK's own grant would allow. */
function allowReplication(role: iam.Role, bucket: s3.Bucket, replica: s3.IBucket): void {
  const allow = (resource: string, ...actions: string[]) =>
    role.addToPolicy(new iam.PolicyStatement({ actions, resources: [resource] }));
  const [originals, copies] = [bucket.arnForObjects('*'), replica.arnForObjects('*')];
  allow(bucket.bucketArn, 's3:GetReplicationConfiguration', 's3:ListBucket');
  allow(
    originals,
    's3:GetObjectVersionForReplication',
    's3:GetObjectVersionAcl',
    's3:GetObjectVersionTagging',
    's3:GetObjectRetention',
    's3:GetObjectLegalHold',
  );
  allow(copies, 's3:ReplicateObject', 's3:ReplicateTags');
  acknowledgeWildcards(
    role,
    [originals, copies],
    'S3 copies every object of the bucket of receipts, whose names are unknown before they are written.',
  );
}

/** Returns that stack's outputs for another one. `Fn::GetStackOutput` reads them at deployment: a weak reference, which never blocks the producer. */
export function storeReferences(stack: Stack): StoreReferences {
  const output = (name: string): string => Fn.getStackOutput(stack.stackName, name);
  const reference = (id: string): StoreReference => ({
    name: output(`${id}Name`),
    arn: output(`${id}Arn`),
  });
  const queue = (id: string): QueueReference => ({ ...reference(id), url: output(`${id}Url`) });
  return {
    records: reference('RecordsTable'),
    control: reference('ControlTable'),
    settings: reference('SettingsTable'),
    improvement: reference('ImprovementTable'),
    keyArn: output('KeyArn'),
    runs: queue('RunQueue'),
    deadLetters: queue('DeadLetterQueue'),
    receipts: reference('ReceiptsBucket'),
  };
}

/** Adds the outputs of a store for other stacks: `<id>Name`, whose description states the content, `<id>Arn` and so on. */
function outputs(stack: Stack, id: string, holds: string, values: Readonly<Record<string, string>>): void {
  for (const [part, value] of Object.entries(values))
    new CfnOutput(stack, `${id}${part}`, { value, ...(part === 'Name' && { description: holds }) });
}

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
