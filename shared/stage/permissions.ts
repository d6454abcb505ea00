import { canaryCredential, keyPurposesOf, type Grant } from '#shared/contract/grants.ts';
import { COUNT_PREFIX } from '#shared/contract/tenant-rate.ts';
import { keyPurposes, scheduledPurposes } from '#shared/keys/key-ring.ts';
import { gatesPath, manifestParameter } from '#shared/release/applied-manifest.ts';
import { expiryAttributes } from '#shared/stores/tables.ts';
import { certificatesOf, type WatchedSettings } from './checks.ts';
import { stackIds, stackName } from './stack-names.ts';
import { SITE_REGION, type StageConfig } from './stage.ts';

/* What every role may do and what the stores themselves deny: the stacks render these statements, and the local AWS emulator enforces them. */

/** A statement of a policy in the JSON of IAM. */
export interface Statement {
  readonly Sid?: string;
  readonly Effect: 'Allow' | 'Deny';
  /** Only in the policy of a resource. */
  readonly Principal?: { readonly AWS: string };
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: Conditions;
}

type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

type Named = 'records' | 'control' | 'settings' | 'improvement' | 'runs' | 'receipts';

/** The ARNs of a stage's resources. */
export interface ResourceArns extends Readonly<Record<Named, { readonly arn: string }>> {
  readonly keyArn: string;
  /** Returns the ARN of a parameter, or of a path of parameters. */
  readonly parameter: (path: string) => string;
  /** Returns the ARN of another thing, as in `stack/name/*`: of the stage's region unless another is given, and of its account unless ARNs of its kind have none. */
  readonly other: (
    service: string,
    resource: string,
    place?: { readonly region?: string; readonly accountless?: true },
  ) => string;
}

/** Returns the path where operators provision service profiles: `<path>/<base64url(tenantId)>/PLATFORM_{TENANT,JWT,URL}`. */
export function profilesPath(stage: string): string {
  return `/${stage}/profiles`;
}

/** Returns a statement that allows these actions on these resources. */
export function allow(
  resources: string | readonly string[],
  actions: readonly string[],
  conditions?: Conditions,
): Statement {
  const Condition = conditions && { Condition: conditions };
  return { Effect: 'Allow', Action: actions, Resource: [resources].flat(), ...Condition };
}

/** Restricts a statement to items of the settings table with these partition keys. */
function onPartitions(...keys: readonly string[]): Conditions {
  return { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': keys } };
}

/** Restricts a statement to the items that count requests. Functions that only read may change no idempotency record. */
const onCounts: Conditions = {
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${COUNT_PREFIX}*`] },
};

/** Restricts a KMS statement to the encryption context of this stage and these purposes. */
function forPurposes(stage: string, purposes: readonly string[]): Conditions {
  return {
    StringEquals: { 'kms:EncryptionContext:stage': stage, 'kms:EncryptionContext:purpose': purposes },
  };
}

const items = (...operations: readonly string[]) => operations.map((operation) => `dynamodb:${operation}`);
const keyItems = (purposes: readonly string[]) =>
  onPartitions(...purposes.map((purpose) => `key#${purpose}`));

type ByGrant = Readonly<Record<Exclude<Grant, `keys:${string}`>, readonly Statement[]>>;

/** Returns the statements of each grant, except grants of keys, which `grantStatements` combines. */
export function statementsByGrant(
  stage: string,
  { records, control, improvement, runs, receipts, settings, keyArn, parameter, other }: ResourceArns,
): ByGrant {
  const [made, retired] = [`/${stage}/key-ring`, `/${stage}/retired-keys`];
  return {
    'records:read': [allow(records.arn, items('GetItem'))],
    'control:write': [allow(control.arn, items('GetItem', 'PutItem', 'UpdateItem'))],
    'control:count': [allow(control.arn, items('UpdateItem'), onCounts)],
    'improvement:read': [allow(improvement.arn, items('Query'))],
    'improvement:read-part': [allow(improvement.arn, items('GetItem'))],
    // No condition key of IAM separates a PutItem that creates from one that replaces. Only the condition expression of the write does.
    'improvement:create': [allow(improvement.arn, items('PutItem'))],
    'improvement:change': [allow(improvement.arn, items('UpdateItem', 'DeleteItem'))],
    'improvement:queue': [allow(runs.arn, ['sqs:SendMessage'])],
    // No s3:ListBucket: links are created only for existing bundles, and listing would expose the bundles of every tenant.
    'receipts:read': [allow(`${receipts.arn}/*`, ['s3:GetObject'])],
    'receipts:write': [allow(`${receipts.arn}/*`, ['s3:PutObject'])],
    // These need only the variable, no permission.
    'receipts:link': [],
    'sandbox:call': [],
    // Systems Manager decrypts with the account's own key, which needs no permission of the caller.
    'canary:run': [allow(parameter(canaryCredential(stage)), ['ssm:GetParameter'])],
    'release:read': [allow(settings.arn, items('GetItem'), onPartitions('release'))],
    // Its notes: `shared/stores/key-notes.ts`.
    'ring:rotate': [
      allow(settings.arn, items('PutItem', 'Query', 'UpdateItem'), keyItems(scheduledPurposes)),
      allow([made, ...scheduledPurposes.map((purpose) => `${retired}/${purpose}`)].map(parameter), [
        'ssm:GetParametersByPath',
      ]),
      allow(
        scheduledPurposes
          .flatMap((purpose) => [`${made}/${purpose}`, `${retired}/${purpose}/*`])
          .map(parameter),
        ['ssm:PutParameter'],
      ),
    ],
    'ring:wrap': [
      allow(keyArn, ['kms:GenerateDataKeyWithoutPlaintext'], forPurposes(stage, scheduledPurposes)),
    ],
    // Nothing here changes anything, and nothing opens what KMS has wrapped: no kms:Decrypt, no read of the parameters below profilesPath.
    'stage:watch': [
      allow(settings.arn, items('Query'), keyItems(keyPurposes)),
      allow(settings.arn, items('Scan'), {
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': expiryAttributes },
        StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
      }),
      allow([gatesPath(stage), made].map(parameter), ['ssm:GetParametersByPath']),
      allow(parameter(manifestParameter(stage)), ['ssm:GetParameter']),
      allow(`${receipts.arn}/release.manifests/*`, ['s3:GetObject']),
      allow(keyArn, ['kms:DescribeKey']),
      allow(
        stackIds.map((id) =>
          other(
            'cloudformation',
            `stack/${stackName(stage, id)}/*`,
            id === 'documentation' ? { region: SITE_REGION } : {},
          ),
        ),
        ['cloudformation:DescribeStacks'],
      ),
      allow(
        ['/account', '/restapis', `/restapis/*/stages/${stage}`].map((path) =>
          other('apigateway', path, { accountless: true }),
        ),
        ['apigateway:GET'],
      ),
      allow(
        [
          other('sns', `${stackName(stage, 'operations')}-*`),
          other('sns', `${stackName(stage, 'documentation')}-*`, { region: SITE_REGION }),
        ],
        ['sns:ListSubscriptionsByTopic'],
      ),
      allow('*', ['lambda:GetAccountSettings']),
    ],
    'profiles:read': [
      allow(settings.arn, items('GetItem'), {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['profile#*'] },
      }),
      allow(keyArn, ['kms:Decrypt'], forPurposes(stage, ['profile'])),
    ],
  };
}

/**
 * Returns the IAM statements of grants. They allow only the actions that the code calls, on the resources that it names. KMS actions are also
 * restricted to the encryption contexts of the purposes that the function uses, so leaked credentials can decrypt nothing else.
 */
export function grantStatements(
  grants: readonly Grant[],
  stage: string,
  arns: ResourceArns,
): readonly Statement[] {
  const byGrant: Readonly<Partial<Record<Grant, readonly Statement[]>>> = statementsByGrant(stage, arns);
  const purposes = keyPurposesOf(grants);
  return [
    ...grants.flatMap((grant) => byGrant[grant] ?? []),
    ...(purposes.length === 0
      ? []
      : [
          allow(arns.settings.arn, items('Query'), keyItems(purposes)),
          allow(arns.keyArn, ['kms:Decrypt'], forPurposes(stage, purposes)),
        ]),
  ];
}

/** Returns what the watcher may read of the things that the settings of its stage name. */
export function namedStatements(config: WatchedSettings): readonly Statement[] {
  const certificates = certificatesOf(config);
  const topics = Object.values(config.alarmsTopicArn ?? {});
  return [
    ...(certificates.length === 0 ? [] : [allow(certificates, ['acm:DescribeCertificate'])]),
    ...(topics.length === 0 ? [] : [allow(topics, ['sns:ListSubscriptionsByTopic'])]),
  ];
}

/** Returns the statement of a worker: Lambda polls its queue with the worker's role. */
export function pollStatement(queueArn: string): Statement {
  const actions = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'];
  return allow(
    queueArn,
    actions.map((action) => `sqs:${action}`),
  );
}

/** Returns what the check of new versions may do: call them, and read and end the deployments that bring them. */
export function versionCheckStatements(
  versions: readonly string[],
  application: string,
  deploymentGroups: readonly string[],
): readonly Statement[] {
  return [
    allow(versions, ['lambda:InvokeFunction']),
    allow(application, ['codedeploy:GetApplicationRevision']),
    allow(deploymentGroups, ['codedeploy:GetDeployment', 'codedeploy:PutLifecycleEventHookExecutionStatus']),
  ];
}

function deny(Sid: string, Action: readonly string[], Resource: string, Condition?: Conditions): Statement {
  const everyone = { Effect: 'Deny', Principal: { AWS: '*' } } as const;
  return { Sid, ...everyone, Action, Resource: [Resource], ...(Condition && { Condition }) };
}

/**
 * Returns the policy of released records, which are permanent: no command changes or deletes an item, and only the stage's `recordWriters` put one.
 * The policy cannot name its own table, so it names every resource, but is attached to only one.
 */
export function recordsPolicy(recordWriters?: StageConfig['recordWriters']): readonly Statement[] {
  const partiql = ['PartiQLDelete', 'PartiQLInsert', 'PartiQLUpdate'];
  return [
    deny('NothingIsChangedOrDeleted', items('BatchWriteItem', 'DeleteItem', 'UpdateItem', ...partiql), '*'),
    ...(recordWriters === undefined
      ? []
      : [
          deny('OnlyReleaseAndRestoreWrite', items('PutItem'), '*', {
            ArnNotEquals: { 'aws:PrincipalArn': Object.values(recordWriters) },
          }),
        ]),
  ];
}

/**
 * Returns what the policy of the receipts adds to the demand of TLS: If-None-Match writes only an absent object; If-Match lets a restore replace
 * exactly the damaged version that it has read.
 */
export function receiptsPolicy(objects: string): Statement {
  const unconditional = { Null: { 's3:if-none-match': 'true', 's3:if-match': 'true' } };
  return deny('NothingIsWrittenOver', ['s3:PutObject'], objects, unconditional);
}
