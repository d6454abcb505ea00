import { join } from 'node:path';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { answersCaller } from '#shared/contract/background.ts';
import { isRoute, type DeployedFunction } from '#shared/contract/functions.ts';
import { grantsOf, isGated, rotatesKeys, watchesStage } from '#shared/contract/grants.ts';
import { RATE_WINDOW_S } from '#shared/contract/tenant-rate.ts';
import { functionName } from '../names.ts';
import { DEFAULT_KEY_ROTATION_DAYS, type StageConfig } from '#shared/stage/stage.ts';
import { watchedSettings } from '#shared/stage/checks.ts';
import { namedStatements } from '#shared/stage/permissions.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { acknowledge } from './acknowledge.ts';
import { renderAccess, type GrantedResources } from './grants.ts';
import { ownFunction } from './own-function.ts';

/**
 * Creates one function: memory, time and permissions as in its row, its own log group and role, and only the variables that it reads. Its trigger is
 * attached elsewhere.
 * @param resources undefined for a function without grants
 * @param assets the folder with `<operationId>/index.mjs`, as `tools/bundling/build.ts` writes it
 */
export function deployedFunction(
  scope: Construct,
  stage: Stage,
  row: DeployedFunction,
  resources: GrantedResources | undefined,
  assets: string,
): LambdaFunction {
  const { config } = stage;
  const { operationId, lambda } = row;
  const within = new Construct(scope, operationId);
  const { run } = config.canary ?? {};
  const grants = grantsOf(row).filter((grant) => grant !== 'canary:run' || run !== undefined);
  if (resources === undefined && grants.length > 0)
    throw new Error(`the resources of the grants of ${operationId} are missing`);
  const access = resources && renderAccess(within, grants, stage.name, resources);
  if (watchesStage(row))
    acknowledge(within, {
      'Serverless-LambdaStarPermissions':
        'lambda:GetAccountSettings takes no resource; every other action of this role names what it reads.',
    });
  const reserved =
    config.reservedConcurrency?.[operationId] ?? (isRoute(row) ? undefined : row.lambda.reservedConcurrency);
  return ownFunction(within, stage, {
    id: '',
    functionName: functionName(stage, row),
    description: isRoute(row) ? `${row.method} ${row.path}: ${row.summary}` : row.summary,
    asset: join(assets, operationId),
    memorySize: lambda.memoryMb,
    timeout: Duration.seconds(lambda.timeoutSeconds),
    purpose: `What ${operationId} may do: ${grants.join(', ') || 'nothing but log'}`,
    statements: [...(access?.statements ?? []), ...(watchesStage(row) ? namedStatements(config) : [])],
    environment: { ...ownEnvironment(stage, row), ...access?.environment },
    // A version that was live stays, so that `live` can return to it at once. One that never became live is deleted: Lambda would not publish the
    // same code again.
    currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    ...(reserved === undefined || reserved === 'none' ? {} : { reservedConcurrentExecutions: reserved }),
  });
}

/** Returns the most requests of one tenant in one window: by default half of what the throttle lets pass on one route. */
function boundOf(config: StageConfig): number {
  return (
    config.requestsPerTenant ?? Math.max(10, Math.floor((config.throttle.ratePerSecond * RATE_WINDOW_S) / 2))
  );
}

/** Returns the variables that a function reads in addition to those of its grants. */
function ownEnvironment({ name, config }: Stage, row: DeployedFunction): Record<string, string> {
  return {
    STAGE: name,
    LOG_LEVEL: config.logLevel,
    // A function that responds to a caller returns problems, and one that serves a route verifies tokens.
    ...((isRoute(row) || answersCaller(row)) && {
      PROBLEMS_URL: config.problemsUrl,
      ...(config.allowedOrigins?.length && { ALLOWED_ORIGINS: config.allowedOrigins.join(',') }),
    }),
    ...(isRoute(row) && {
      TOKEN_ISSUER: config.token.issuer,
      TOKEN_AUDIENCE: config.token.audience,
      TOKEN_JWKS_URL: config.token.jwksUrl,
      TOKEN_ALGORITHMS: config.token.algorithms.join(','),
      REQUESTS_PER_TENANT: String(boundOf(config)),
    }),
    // A function that waits for gates checks the stage's signature on what opens them.
    ...(isGated(row) && { RELEASE_KEY: JSON.stringify(config.releaseKey) }),
    ...(rotatesKeys(row) && {
      KEY_ROTATION_DAYS: String(config.keyRotationDays ?? DEFAULT_KEY_ROTATION_DAYS),
    }),
    ...(watchesStage(row) && { STAGE_SETTINGS: JSON.stringify(watchedSettings(config)) }),
    // A route counts the canary's requests apart from those of learners.
    ...(config.canary !== undefined &&
      ((isRoute(row) && row.learnersWait === true) || row.lambda.grants.includes('canary:run')) && {
        CANARY_TENANT: config.canary.tenantId,
      }),
    ...(config.canary?.run !== undefined &&
      row.lambda.grants.includes('canary:run') && { CANARY_RUN: JSON.stringify(config.canary.run) }),
    ...(row.lambda.grants.includes('profiles:read') && { APPROVED_HOSTS: config.approvedHosts.join(',') }),
    ...(row.lambda.grants.includes('records:read') &&
      config.systemRecordTenants && { SYSTEM_RECORD_TENANTS: config.systemRecordTenants.join(',') }),
  };
}
