import { Arn, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { scheduledPurposes } from '#shared/keys/key-ring.ts';
import { keyPurposesOf, variablesOfGrants, type Grant, type GrantVariable } from '#shared/contract/grants.ts';
import { profilesPath } from '../names.ts';
import { acknowledgeWildcards } from './acknowledge.ts';
import type { StoreReferences } from '../references.ts';
import type { StageName } from '#shared/stage/stages.ts';

/** The resources that grants can refer to. */
export interface Places extends StoreReferences {
  /** The base URL of receipt links; absent in a stack without the API of the receipts, where no function creates links. */
  readonly receiptsUrl?: string;
}

/**
 * Returns the IAM statements and environment variables of a function's grants. The statements allow only the actions that its code calls, on the
 * resources that it names. KMS actions are also restricted to the encryption contexts of the purposes that the function uses, so leaked credentials
 * can decrypt nothing else.
 */
export function accessOf(
  scope: Construct,
  grants: readonly Grant[],
  stage: StageName,
  places: Places,
): {
  readonly statements: readonly PolicyStatement[];
  readonly environment: Readonly<Record<string, string>>;
} {
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
  const allowed: Readonly<Partial<Record<Grant, readonly PolicyStatement[]>>> = statementsBy(
    Stack.of(scope),
    stage,
    places,
  );
  for (const grant of grants) {
    const reason = wildcardReasons[grant];
    if (reason === undefined) continue;
    acknowledgeWildcards(
      scope,
      (allowed[grant] ?? []).flatMap(({ resources }) => resources),
      reason,
    );
  }
  const purposes = keyPurposesOf(grants);
  return {
    statements: [
      ...grants.flatMap((grant) => allowed[grant] ?? []),
      ...(purposes.length === 0
        ? []
        : [
            allow(
              places.settings.arn,
              ['dynamodb:Query'],
              ofItems(...purposes.map((purpose) => `key#${purpose}`)),
            ),
            allow(places.keyArn, ['kms:Decrypt'], ofPurposes(stage, purposes)),
          ]),
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

const ofReceipts =
  'An object of the receipts is named by its tenant and its own digest, which no role can know before it is made.';

/** Why these grants use a wildcard resource. */
const wildcardReasons: Readonly<Partial<Record<Grant, string>>> = {
  'receipts:read': ofReceipts,
  'receipts:write': ofReceipts,
  'ring:rotate':
    'The notes of the retired keys of one purpose: a key’s number is known only when it is retired.',
  'profiles:read':
    'The profiles of one stage: a tenant is known only when its token is verified or its run is read, so the role covers them all.',
};

type Conditions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Returns a statement that allows these actions on these resources. */
export function allow(
  resources: string | readonly string[],
  actions: readonly string[],
  conditions: Conditions = {},
): PolicyStatement {
  return new PolicyStatement({ actions: [...actions], resources: [...[resources].flat()], conditions });
}

/** Restricts a statement to items of the settings table with these partition keys. */
function ofItems(...keys: readonly string[]): Conditions {
  return { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': keys } };
}

/** Restricts a KMS statement to the encryption context of this stage and these purposes. */
function ofPurposes(stage: StageName, purposes: readonly string[]): Conditions {
  return {
    StringEquals: { 'kms:EncryptionContext:stage': stage, 'kms:EncryptionContext:purpose': purposes },
  };
}

/** Returns the statements of each grant, except grants of keys, which `accessOf` combines. */
function statementsBy(
  stack: Stack,
  stage: StageName,
  { records, control, improvement, runs, receipts, settings, keyArn }: Places,
): Readonly<Record<Exclude<Grant, `keys:${string}`>, readonly PolicyStatement[]>> {
  const parameter = (path: string): string =>
    Arn.format({ service: 'ssm', resource: 'parameter', resourceName: path.slice(1) }, stack);
  const profiles = parameter(`${profilesPath(stage)}/*`);
  const items = (...operations: readonly string[]) => operations.map((operation) => `dynamodb:${operation}`);
  return {
    'records:read': [allow(records.arn, items('GetItem'))],
    'control:write': [allow(control.arn, items('GetItem', 'PutItem', 'UpdateItem'))],
    'improvement:read': [allow(improvement.arn, items('GetItem', 'Query'))],
    'improvement:write': [
      allow(improvement.arn, items('GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')),
    ],
    'improvement:queue': [allow(runs.arn, ['sqs:SendMessage'])],
    // No s3:ListBucket: links are created only for existing bundles, and listing would expose the bundles of every tenant.
    'receipts:read': [allow(`${receipts.arn}/*`, ['s3:GetObject'])],
    'receipts:write': [allow(`${receipts.arn}/*`, ['s3:PutObject'])],
    // Needs only the variable, no permission.
    'receipts:link': [],
    'release:read': [allow(settings.arn, items('GetItem'), ofItems('release'))],
    'ring:rotate': [
      allow(
        settings.arn,
        items('PutItem', 'Query', 'UpdateItem'),
        ofItems(...scheduledPurposes.map((purpose) => `key#${purpose}`)),
      ),
      allow(keyNotePaths(stage).map(parameter), ['ssm:GetParametersByPath', 'ssm:PutParameter']),
    ],
    'ring:wrap': [
      allow(keyArn, ['kms:GenerateDataKeyWithoutPlaintext'], ofPurposes(stage, scheduledPurposes)),
    ],
    'profiles:read': [
      allow(profiles, ['ssm:GetParameters']),
      // Parameter Store decrypts a SecureString with the caller's permissions, under the parameter's ARN as encryption context.
      allow(keyArn, ['kms:Decrypt'], { StringLike: { 'kms:EncryptionContext:PARAMETER_ARN': profiles } }),
    ],
  };
}

/** Returns the parameters to which a key rotation writes its notes (`shared/stores/key-notes.ts`), and the paths that it lists. */
function keyNotePaths(stage: StageName): readonly string[] {
  const retired = scheduledPurposes.map((purpose) => `/${stage}/retired-keys/${purpose}`);
  return [
    `/${stage}/key-ring`,
    ...scheduledPurposes.map((purpose) => `/${stage}/key-ring/${purpose}`),
    ...retired,
    ...retired.map((path) => `${path}/*`),
  ];
}
