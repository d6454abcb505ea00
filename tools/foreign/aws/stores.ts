import {
  CloudFormationClient,
  CreateStackCommand,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation';
import {
  PutBucketVersioningCommand,
  PutObjectLockConfigurationCommand,
  S3Client,
  type ObjectLockConfiguration,
  type VersioningConfiguration,
} from '@aws-sdk/client-s3';
import {
  localBucketName,
  localCredentials,
  localQueueName,
  localRegion,
  localStage,
  localTableName,
} from '#shared/stage/local-stage.ts';
import { tables } from '#shared/stores/tables.ts';

/** A template, as far as it is read here. */
interface Template {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties?: Record<string, unknown> }>
  >;
  readonly Outputs: Readonly<Record<string, { readonly Value: { readonly Ref?: string } }>>;
}

/** The physical names that the local stack expects, by the output that refers to the resource: a deployment leaves them to CloudFormation. */
const names: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...Object.fromEntries(
    tables.map(({ name }) => [
      `${name.charAt(0).toUpperCase()}${name.slice(1)}TableName`,
      { TableName: localTableName(name) },
    ]),
  ),
  RunQueueUrl: { QueueName: localQueueName },
  ReceiptsBucketName: { BucketName: localBucketName },
};

/** Creates tables, queues, bucket, key and parameters of the local stack, from the template of a stage. */
export async function createStores(
  url: string,
  { stage, stores }: { readonly stage: string; readonly stores: string },
): Promise<void> {
  // SAFETY: from the CDK.
  const { Resources, Outputs } = JSON.parse(stores.replaceAll(stage, localStage)) as Template;
  for (const [output, { Value }] of Object.entries(Outputs))
    Object.assign(Resources[Value.Ref ?? '']?.Properties ?? {}, names[output]);
  const client = new CloudFormationClient({
    endpoint: url,
    region: localRegion,
    credentials: localCredentials,
  });
  const StackName = `${localStage}-stores`;
  // Without the parameter of the bootstrap.
  const TemplateBody = JSON.stringify({ Resources, Outputs });
  await client.send(new CreateStackCommand({ StackName, TemplateBody }));
  await waitUntilStackCreateComplete({ client, maxWaitTime: 30, minDelay: 1 }, { StackName });
  await lockBucket(url, localBucketName, stores);
}

/** Sets what moto's CloudFormation leaves out of a bucket: versions and the lock of the template. */
export async function lockBucket(url: string, Bucket: string, stores: string): Promise<void> {
  // SAFETY: from the CDK.
  const { Resources } = JSON.parse(stores) as Template;
  const { VersioningConfiguration, ObjectLockConfiguration } = (Object.values(Resources).find(
    ({ Type }) => Type === 'AWS::S3::Bucket',
  )?.Properties ?? {}) as {
    VersioningConfiguration?: VersioningConfiguration;
    ObjectLockConfiguration?: ObjectLockConfiguration;
  };
  const s3 = new S3Client({ endpoint: url, region: localRegion, credentials: localCredentials });
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
  await s3.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
}
