import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { allow, type Statement } from '#shared/stage/permissions.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { acknowledgeWildcards } from './acknowledge.ts';
import { rendered } from './grants.ts';

/** Creates a log group that deletes lines after the stage's retention, and outlives its stack. */
export function logGroup(scope: Construct, id: string, { config }: Stage): LogGroup {
  const group = new LogGroup(scope, id, { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE });
  // The construct's own property takes the CDK's names of periods; the settings contain days.
  (group.node.defaultChild as CfnLogGroup).retentionInDays = config.logRetentionDays;
  return group;
}

export interface OwnFunctionOptions extends Omit<
  lambda.FunctionProps,
  'code' | 'handler' | 'runtime' | 'role'
> {
  /** The first part of the ids of the construct. */
  readonly id: 'Check' | '';
  /** The purpose of its role. */
  readonly purpose: string;
  /** What it may do in addition to logging. */
  readonly statements: readonly Statement[];
  /** The folder of its bundle. */
  readonly asset: string;
}

/** Creates a function with its own log group and role, traced by X-Ray, as every function of ours. */
export function ownFunction(
  within: Construct,
  stage: Stage,
  { id, purpose, statements, asset, ...options }: OwnFunctionOptions,
): lambda.Function {
  const group = logGroup(within, `${id}Logs`, stage);
  const logging = allow(group.logGroupArn, ['logs:CreateLogStream', 'logs:PutLogEvents']);
  const role = new Role(within, `${id}Role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    description: purpose,
    inlinePolicies: { own: new PolicyDocument({ statements: [logging, ...statements].map(rendered) }) },
  });
  acknowledgeWildcards(
    within,
    ['*'],
    'xray:PutTraceSegments, xray:PutTelemetryRecords and, for the watcher alone, lambda:GetAccountSettings take no resource; they are the only actions on *.',
  );
  return new lambda.Function(within, id || 'Function', {
    ...options,
    runtime: lambda.Runtime.NODEJS_24_X,
    architecture: lambda.Architecture.ARM_64,
    code: lambda.Code.fromAsset(asset),
    handler: 'index.handler',
    role,
    logGroup: group,
    tracing: lambda.Tracing.ACTIVE,
  });
}
