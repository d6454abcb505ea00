import { Arn, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { scheduledPurposes } from '#shared/keys/key-ring.ts';
import { keyPurposesOf, variablesOfGrants } from '#shared/contract/grants.ts';
import type { Grant, GrantVariable } from '#shared/contract/grants.ts';
import { profilesPath } from '../names.ts';
import type { StoreReferences } from '../stacks/records-and-keys.ts';
import type { StageName } from '#shared/stage/stages.ts';

/** What a function may touch and how it learns where that is. */
export interface Access {
  readonly statements: readonly PolicyStatement[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Where everything is that a function may be granted. */
export interface Places extends StoreReferences {
  /** `{receipts_url}`; absent in a stack without the API of the receipts, where no function makes links. */
  readonly receiptsUrl?: string;
}

/**
 * The statements and variables of a function's grants: the actions that its code calls, on the resources that it names, and with KMS only
 * under the encryption contexts of the purposes that it uses. A function that leaks its credentials can decrypt nothing else.
 */
export function accessOf(
  scope: Construct,
  grants: readonly Grant[],
  stage: StageName,
  places: Places,
): Access {
  const values: Readonly<Record<GrantVariable, string | undefined>> = {
    RECORDS_TABLE: places.records.name,
    CONTROL_TABLE: places.control.name,
    SETTINGS_TABLE: places.settings.name,
    IMPROVEMENT_TABLE: places.improvement.name,
    IMPROVEMENT_QUEUE_URL: places.runs.url,
    RECEIPTS_BUCKET: places.receipts.name,
    RECEIPTS_URL: places.receiptsUrl,
    PROFILES_PATH: profilesPath(stage),
    KEY_ARN: places.keyArn,
  };
  const allowed = statementsBy(Stack.of(scope), stage, places);
  const purposes = keyPurposesOf(grants);
  return {
    statements: [
      ...grants.flatMap((grant) => (isKeyGrant(grant) ? [] : allowed[grant]())),
      ...(purposes.length === 0 ? [] : keyStatements(purposes, stage, places)),
    ],
    environment: Object.fromEntries(
      variablesOfGrants(grants).map((variable) => {
        const value = values[variable];
        if (value === undefined)
          throw new Error(`there is nothing in this stack that ${variable} could name`);
        return [variable, value];
      }),
    ),
  };
}

type KeyGrant = Extract<Grant, `keys:${string}`>;

function isKeyGrant(grant: Grant): grant is KeyGrant {
  return grant.startsWith('keys:');
}

/** What each grant allows, but for those of keys, which one pair of statements allows together. */
function statementsBy(
  stack: Stack,
  stage: StageName,
  places: Places,
): Readonly<Record<Exclude<Grant, KeyGrant>, () => readonly PolicyStatement[]>> {
  const allow = (resource: string, ...actions: string[]) => [
    new PolicyStatement({ actions, resources: [resource] }),
  ];
  const { records, control, improvement, runs, receipts, settings } = places;
  return {
    'records:read': () => allow(records.arn, 'dynamodb:GetItem'),
    'control:write': () => allow(control.arn, 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'),
    'improvement:read': () => allow(improvement.arn, 'dynamodb:GetItem', 'dynamodb:Query'),
    'improvement:write': () =>
      allow(
        improvement.arn,
        'dynamodb:GetItem',
        'dynamodb:Query',
        'dynamodb:PutItem',
        'dynamodb:UpdateItem',
        'dynamodb:DeleteItem',
      ),
    'improvement:queue': () => allow(runs.arn, 'sqs:SendMessage'),
    // No s3:ListBucket: links are made for bundles that are there, and who could list would see every tenant's.
    'receipts:read': () => allow(`${receipts.arn}/*`, 's3:GetObject'),
    'receipts:write': () => allow(`${receipts.arn}/*`, 's3:PutObject'),
    // An address alone.
    'receipts:link': () => [],
    'release:read': () => [
      new PolicyStatement({
        actions: ['dynamodb:GetItem'],
        resources: [settings.arn],
        conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['release'] } },
      }),
    ],
    'ring:rotate': () => {
      const keys = {
        'ForAllValues:StringEquals': {
          'dynamodb:LeadingKeys': scheduledPurposes.map((purpose) => `key#${purpose}`),
        },
      };
      return [
        new PolicyStatement({
          actions: ['dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
          resources: [settings.arn],
          conditions: keys,
        }),
        new PolicyStatement({
          actions: ['ssm:GetParametersByPath', 'ssm:PutParameter'],
          resources: keyNotePaths(stage).map((path) => parameterArn(stack, path)),
        }),
      ];
    },
    'ring:wrap': () => [
      new PolicyStatement({
        actions: ['kms:GenerateDataKeyWithoutPlaintext'],
        resources: [places.keyArn],
        conditions: {
          StringEquals: {
            'kms:EncryptionContext:stage': stage,
            'kms:EncryptionContext:purpose': scheduledPurposes,
          },
        },
      }),
    ],
    'profiles:read': () => {
      const profiles = parameterArn(stack, `${profilesPath(stage)}/*`);
      return [
        ...allow(profiles, 'ssm:GetParameters'),
        // Parameter Store opens a SecureString with the caller's own permission and binds it to the parameter's ARN.
        decrypts(places, { StringLike: { 'kms:EncryptionContext:PARAMETER_ARN': profiles } }),
      ];
    },
  };
}

/** The parameters in which a rotation notes what it does (`shared/stores/key-notes.ts`), and the folders that it reads. */
export function keyNotePaths(stage: StageName): readonly string[] {
  const retired = scheduledPurposes.map((purpose) => `/${stage}/retired-keys/${purpose}`);
  return [
    `/${stage}/key-ring`,
    ...scheduledPurposes.map((purpose) => `/${stage}/key-ring/${purpose}`),
    ...retired,
    ...retired.map((path) => `${path}/*`),
  ];
}

function parameterArn(stack: Stack, path: string): string {
  return Arn.format({ service: 'ssm', resource: 'parameter', resourceName: path.slice(1) }, stack);
}

function keyStatements(
  purposes: readonly string[],
  stage: StageName,
  places: Places,
): readonly PolicyStatement[] {
  return [
    new PolicyStatement({
      actions: ['dynamodb:Query'],
      resources: [places.settings.arn],
      conditions: {
        'ForAllValues:StringEquals': {
          'dynamodb:LeadingKeys': purposes.map((purpose) => `key#${purpose}`),
        },
      },
    }),
    decrypts(places, {
      StringEquals: { 'kms:EncryptionContext:stage': stage, 'kms:EncryptionContext:purpose': purposes },
    }),
  ];
}

function decrypts({ keyArn }: Places, context: Record<string, Record<string, unknown>>): PolicyStatement {
  return new PolicyStatement({ actions: ['kms:Decrypt'], resources: [keyArn], conditions: context });
}
