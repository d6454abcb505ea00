import { devNull } from 'node:os';
import { tables, type TableDefinition } from '#shared/stores/tables.ts';

/** The name of the stage that `npm start` runs on this machine. */
export const localStage = 'local';

/** The account and region that the AWS emulator claims to be. */
export const localAccount = '000000000000';
export const localRegion = 'us-east-1';

export const localKeyAlias = 'alias/mastery-reports/local';

export const localBucketName = `${localStage}-receipts`;

export const localQueueName = `${localStage}-improvement`;

/**
 * An operator's credentials. Besides them the emulator accepts only those of the local functions, so that a call signed with a developer's real ones is
 * noticed.
 */
export const localCredentials = { accessKeyId: 'LOCALDOUBLE', secretAccessKey: 'local-double' } as const;

/**
 * Returns environment variables with which every AWS SDK client calls only the emulator at `url`: a default endpoint for services without their own
 * here, and no profile, credentials file or instance metadata that leads to a real account. Set them before the first client is created. The emulator
 * knows the caller by the access key.
 */
export function awsEnvironment(
  url: string,
  accessKeyId: string = localCredentials.accessKeyId,
): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL: url,
    AWS_ENDPOINT_URL_DYNAMODB: url,
    AWS_ENDPOINT_URL_KMS: url,
    AWS_ENDPOINT_URL_S3: url,
    AWS_ENDPOINT_URL_SQS: url,
    AWS_ENDPOINT_URL_SSM: url,
    AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'false',
    AWS_USE_FIPS_ENDPOINT: 'false',
    AWS_USE_DUALSTACK_ENDPOINT: 'false',
    AWS_REGION: localRegion,
    AWS_DEFAULT_REGION: localRegion,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
    AWS_SESSION_TOKEN: '',
    // A named profile would take precedence over the two lines above.
    AWS_PROFILE: '',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

/** Returns the url of the queue of improvement runs in the emulator at `awsUrl`. */
export function localQueueUrl(awsUrl: string): string {
  return `${awsUrl}/${localAccount}/${localQueueName}`;
}

/** Returns which variable names which local table (`SETTINGS_TABLE`: `local-settings`), for a function's environment. */
export function tableEnvironment(): Readonly<Record<(typeof tables)[number]['variable'], string>> {
  const entries = tables.map((table) => [table.variable, localTableName(table.name)]);
  // SAFETY: there is one entry per table.
  return Object.fromEntries(entries) as Record<(typeof tables)[number]['variable'], string>;
}

export function localTableName(table: TableDefinition['name']): string {
  return `${localStage}-${table}`;
}
