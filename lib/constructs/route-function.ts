import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route } from '#shared/contract/route.ts';
import { prefix } from '../stacks/stack-props.ts';
import type { StoreReferences } from '../stacks/records-and-keys.ts';
import type { Stage } from '../stage-config/stages.ts';
import { acknowledge } from './acknowledge.ts';
import { accessOf, profilesPath } from './grants.ts';
import { retention } from './retention.ts';

/** The deployed name of a route's function: alarms and dashboards find it by this. */
export function functionName(stage: Stage, route: Route): string {
  return `${prefix(stage)}-${route.operationId}`;
}

/**
 * The function of one route: memory, time and permissions as its row says, its own log group and role, and only the variables that it
 * reads.
 * @param assets the folder with `<operationId>/index.mjs`, as `tools/build.ts` writes it
 */
export function routeFunction(
  scope: Construct,
  stage: Stage,
  route: Route,
  stores: StoreReferences,
  assets: string,
): LambdaFunction {
  const { config } = stage;
  const within = new Construct(scope, route.operationId);
  const logGroup = new LogGroup(within, 'Logs', {
    retention: retention[config.logRetentionDays],
    removalPolicy: RemovalPolicy.RETAIN,
  });
  const access = accessOf(within, route.lambda.grants, stage.name, stores);
  const role = new Role(within, 'Role', {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    description: `What ${route.operationId} may do: ${route.lambda.grants.join(', ')}`,
    inlinePolicies: {
      logs: new PolicyDocument({
        statements: [
          new PolicyStatement({
            actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
            resources: [logGroup.logGroupArn],
          }),
        ],
      }),
      ...(access.statements.length === 0
        ? {}
        : { grants: new PolicyDocument({ statements: [...access.statements] }) }),
    },
  });
  const reserved = config.reservedConcurrency?.[route.operationId];
  const built = new LambdaFunction(within, 'Function', {
    functionName: functionName(stage, route),
    description: `${route.method} ${route.path}: ${route.summary}`,
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code: Code.fromAsset(join(assets, route.operationId)),
    handler: 'index.handler',
    memorySize: route.lambda.memoryMb,
    timeout: Duration.seconds(route.lambda.timeoutSeconds),
    role,
    logGroup,
    tracing: Tracing.ACTIVE,
    environment: { ...commonEnvironment(stage), ...ownEnvironment(stage, route), ...access.environment },
    ...(reserved === undefined ? {} : { reservedConcurrentExecutions: reserved }),
  });
  acknowledge(within, {
    'AwsSolutions-IAM5[Resource::*]':
      'xray:PutTraceSegments and xray:PutTelemetryRecords take no resource; they are the only actions on *.',
    [`AwsSolutions-IAM5[Resource::${profilesFinding(scope, stage)}]`]:
      'The profiles of one stage: a tenant is known only when its token is verified, so the role covers them all.',
    'Serverless-LambdaDLQ':
      'Only API Gateway invokes this function, and synchronously: there is no event that a queue could keep.',
  });
  return built;
}

/** The resource of the profiles' statement as cdk-nag writes it. */
function profilesFinding(scope: Construct, stage: Stage): string {
  const { account, partition, region } = Stack.of(scope);
  const shown = (value: string, placeholder: string): string =>
    Token.isUnresolved(value) ? placeholder : value;
  return [
    'arn',
    shown(partition, '<AWS::Partition>'),
    'ssm',
    shown(region, '<AWS::Region>'),
    shown(account, '<AWS::AccountId>'),
    `parameter${profilesPath(stage.name)}/*`,
  ].join(':');
}

/** What every function's pipeline reads. */
function commonEnvironment({ name, config }: Stage): Record<string, string> {
  return {
    STAGE: name,
    TOKEN_ISSUER: config.token.issuer,
    TOKEN_AUDIENCE: config.token.audience,
    TOKEN_JWKS_URL: config.token.jwksUrl,
    TOKEN_ALGORITHMS: config.token.algorithms.join(','),
    PROBLEMS_URL: config.problemsUrl,
    LOG_LEVEL: config.logLevel,
  };
}

function ownEnvironment({ config }: Stage, route: Route): Record<string, string> {
  return route.lambda.grants.includes('records:read') && config.systemRecordTenants
    ? { SYSTEM_RECORD_TENANTS: config.systemRecordTenants.join(',') }
    : {};
}
