import { Arn, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { variablesOfGrants, type Grant, type GrantVariable } from '#shared/contract/grants.ts';
import { allow, grantStatements, profilesPath, statementsByGrant } from '#shared/stage/permissions.ts';
import type { ResourceArns, Statement } from '#shared/stage/permissions.ts';
import { acknowledgeWildcards } from './acknowledge.ts';
import type { StoreReferences } from '../references.ts';
import type { StageName } from '#shared/stage/stages.ts';

/** The resources that grants can refer to. */
export interface GrantedResources extends StoreReferences {
  /** The base URL of receipt links; absent in a stack without the API of the receipts, where no function creates links. */
  readonly receiptsUrl?: string;
  /** The public addresses that the canary calls; absent in other stacks than its own. */
  readonly sandboxUrl?: string;
  readonly masteryUrl?: string;
}

/** Returns the IAM statements and environment variables of a function's grants. */
export function renderAccess(
  scope: Construct,
  grants: readonly Grant[],
  stage: StageName,
  resources: GrantedResources,
): {
  readonly statements: readonly Statement[];
  readonly environment: Readonly<Record<string, string>>;
} {
  const values: Readonly<Record<GrantVariable, string | undefined>> = {
    RECORDS_TABLE: resources.records.name,
    CONTROL_TABLE: resources.control.name,
    SETTINGS_TABLE: resources.settings.name,
    IMPROVEMENT_TABLE: resources.improvement.name,
    IMPROVEMENT_QUEUE_URL: resources.runs.url,
    RECEIPTS_BUCKET: resources.receipts.name,
    RECEIPTS_URL: resources.receiptsUrl,
    KEY_ARN: resources.keyArn,
    SANDBOX_URL: resources.sandboxUrl,
    MASTERY_URL: resources.masteryUrl,
  };
  const parameter = (path: string): string =>
    Arn.format({ service: 'ssm', resource: 'parameter', resourceName: path.slice(1) }, Stack.of(scope));
  const { partition, region, account } = Stack.of(scope);
  const arns: ResourceArns = {
    ...resources,
    parameter,
    other: (service, resource, place = {}) =>
      `arn:${partition}:${service}:${place.region ?? region}:${place.accountless === true ? '' : account}:${resource}`,
  };
  const statements: Readonly<Partial<Record<Grant, readonly Statement[]>>> = statementsByGrant(stage, arns);
  for (const grant of grants) {
    const reason = wildcardReasons[grant];
    if (reason === undefined) continue;
    acknowledgeWildcards(
      scope,
      (statements[grant] ?? []).flatMap(({ Resource }) => Resource),
      reason,
    );
  }
  return {
    statements: [
      ...grantStatements(grants, stage, arns),
      ...(grants.includes('profiles:read') ? formerStatements(scope, stage, arns) : []),
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

const receiptsWildcard =
  'An object of the receipts is named by its tenant and its own digest, which no role can know before it is made.';

/** Why these grants use a wildcard resource. */
const wildcardReasons: Readonly<Partial<Record<Grant, string>>> = {
  'receipts:read': receiptsWildcard,
  'receipts:write': receiptsWildcard,
  'stage:watch':
    'CloudFormation, API Gateway and SNS give random parts to ids, a manifest is named by its digest, and quotas are no resource; all actions only read.',
  'ring:rotate':
    'The notes of the retired keys of one purpose: a key’s number is known only when it is retired.',
};

/**
 * Returns what the versions of the former release, which read service profiles from Systems Manager, need of a role: they share it while a deployment
 * moves the callers, and after a return to them. Delete this in the release after the next one.
 */
function formerStatements(
  scope: Construct,
  stage: StageName,
  { keyArn, parameter }: ResourceArns,
): readonly Statement[] {
  const profiles = parameter(`${profilesPath(stage)}/*`);
  acknowledgeWildcards(
    scope,
    [profiles],
    'The profiles of one stage: a tenant is known only when its token is verified or its run is read, so the role covers them all.',
  );
  return [
    allow(profiles, ['ssm:GetParameters']),
    allow(keyArn, ['kms:Decrypt'], { StringLike: { 'kms:EncryptionContext:PARAMETER_ARN': profiles } }),
  ];
}

/** Returns a statement as the CDK takes it. */
export function rendered(statement: Statement): PolicyStatement {
  return PolicyStatement.fromJson(statement);
}
