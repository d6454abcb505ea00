import { Arn, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { keyPurposesOf, variablesOfGrants } from '#shared/contract/grants.ts';
import type { Grant, GrantVariable } from '#shared/contract/grants.ts';
import type { StoreReferences } from '../stacks/records-and-keys.ts';
import type { StageName } from '../stage-config/stages.ts';

/** What a function may touch and how it learns where that is. */
export interface Access {
  readonly statements: readonly PolicyStatement[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Where service profiles are kept: `<path>/<base64url(tenantId)>/PLATFORM_{TENANT,JWT,URL}`. */
export function profilesPath(stage: StageName): string {
  return `/${stage}/profiles`;
}

/**
 * The statements and variables of a route's grants: the actions that its code calls, on the resources that it names, and with KMS only
 * under the encryption contexts of the purposes that it uses. A function that leaks its credentials can decrypt nothing else.
 */
export function accessOf(
  scope: Construct,
  grants: readonly Grant[],
  stage: StageName,
  stores: StoreReferences,
): Access {
  const statements: PolicyStatement[] = [];
  const places: Readonly<Record<GrantVariable, string>> = {
    RECORDS_TABLE: stores.records.name,
    CONTROL_TABLE: stores.control.name,
    SETTINGS_TABLE: stores.settings.name,
    PROFILES_PATH: profilesPath(stage),
  };
  const decrypts = (context: Record<string, Record<string, unknown>>): PolicyStatement =>
    new PolicyStatement({ actions: ['kms:Decrypt'], resources: [stores.keyArn], conditions: context });

  if (grants.includes('records:read')) {
    statements.push(new PolicyStatement({ actions: ['dynamodb:GetItem'], resources: [stores.records.arn] }));
  }
  if (grants.includes('control:write')) {
    statements.push(
      new PolicyStatement({
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
        resources: [stores.control.arn],
      }),
    );
  }
  const purposes = keyPurposesOf(grants);
  if (purposes.length > 0) {
    statements.push(
      new PolicyStatement({
        actions: ['dynamodb:Query'],
        resources: [stores.settings.arn],
        conditions: {
          'ForAllValues:StringEquals': {
            'dynamodb:LeadingKeys': purposes.map((purpose) => `key#${purpose}`),
          },
        },
      }),
      decrypts({
        StringEquals: { 'kms:EncryptionContext:stage': stage, 'kms:EncryptionContext:purpose': purposes },
      }),
    );
  }
  if (grants.includes('profiles:read')) {
    const profiles = Arn.format(
      { service: 'ssm', resource: 'parameter', resourceName: `${profilesPath(stage).slice(1)}/*` },
      Stack.of(scope),
    );
    statements.push(
      new PolicyStatement({ actions: ['ssm:GetParameters'], resources: [profiles] }),
      // Parameter Store opens a SecureString with the caller's own permission and binds it to the parameter's ARN.
      decrypts({ StringLike: { 'kms:EncryptionContext:PARAMETER_ARN': profiles } }),
    );
  }
  return {
    statements,
    environment: Object.fromEntries(
      variablesOfGrants(grants).map((variable) => [variable, places[variable]]),
    ),
  };
}
