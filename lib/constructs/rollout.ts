import { join } from 'node:path';
import { ArnFormat, Duration, Lazy, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { CfnApplication, CfnDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { isRoute, versionCheck } from '#shared/contract/functions.ts';
import type { DeployedFunction, DeploymentName } from '#shared/contract/functions.ts';
import { METRIC_NAMESPACE, RELEASE_FAULTS } from '#shared/observability/log-codes.ts';
import { allow, versionCheckStatements } from '#shared/stage/permissions.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { functionName, LIVE, versionCheckName } from '../names.ts';
import { acknowledge, acknowledgeWildcards } from './acknowledge.ts';
import { liveDimensions, metricOf } from './alarms.ts';
import { deployedFunction } from './deployed-function.ts';
import { rendered, type GrantedResources } from './grants.ts';
import { ownFunction } from './own-function.ts';

/** The alias `live` of a function, which every caller calls. */
export type LiveFunction = lambda.Alias & lambda.IFunction;

/**
 * Creates a function, releases the version of its code and settings, and returns what every caller calls.
 * @param resources undefined for a function without grants
 */
type Release = (row: DeployedFunction, resources: GrantedResources | undefined) => LiveFunction;

/** How many functions of a stack are moved to their new versions at once. A check takes two executions, and a new account has ten. */
const AT_ONCE = 2;

/** Returns whether learners wait for a function: with a canary step, it takes minutes to move one. */
const learnersWait = (row: DeployedFunction): boolean => isRoute(row) && row.learnersWait === true;

/** Returns functions in the order in which they are released: what takes minutes comes last, so that nothing else waits for it. */
export function inReleaseOrder<Row extends DeployedFunction>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => Number(learnersWait(one)) - Number(learnersWait(other)));
}

/**
 * Returns the function that releases new versions of a stack's functions: CodeDeploy moves the alias `live` of a function to its new version after
 * the version has passed the check, and moves it back if the deployment fails. With a canary step, the functions that learners wait for get a tenth
 * of their calls first, and are rolled back if the new version fails. Each waits for the one that was released two before it.
 * @param rows the functions of the stack
 * @param assets the folder of the bundles
 */
export function rollout(
  scope: Construct,
  stage: Stage,
  name: DeploymentName,
  rows: readonly DeployedFunction[],
  assets: string,
): Release {
  const within = new Construct(scope, 'Rollout');
  const application = new CfnApplication(within, 'Application', { computePlatform: 'Lambda' });
  const names = rows.map((row) => functionName(stage, row));
  const targets = names.map((each) => arnOf(within, 'lambda', 'function', each));
  const check = versionCheckFunction(within, stage, name, application, names, assets);
  const role = new Role(within, 'Role', {
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
    description: `Moves the aliases of the ${name} functions to their new versions`,
    inlinePolicies: {
      deploy: new PolicyDocument({
        statements: [
          allow(
            targets.flatMap((target) => [target, `${target}:${LIVE}`]),
            ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'],
          ),
          allow(check.functionArn, ['lambda:InvokeFunction']),
          allow('*', ['cloudwatch:DescribeAlarms']),
        ].map(rendered),
      }),
    },
  });
  acknowledge(role, {
    'AwsSolutions-IAM5[Resource::*]':
      'cloudwatch:DescribeAlarms takes no single alarm that CodeDeploy asks for.',
  });

  const aliases: lambda.CfnAlias[] = [];
  return (row, resources) => {
    const built = deployedFunction(scope, stage, row, resources, assets);
    const { canaryMinutes } = stage.config;
    const isCanary = canaryMinutes !== undefined && learnersWait(row);
    const deployments = new CfnDeploymentGroup(built, 'Deployments', {
      applicationName: application.ref,
      // The check finds the function by this name.
      deploymentGroupName: functionName(stage, row),
      serviceRoleArn: role.roleArn,
      deploymentStyle: { deploymentType: 'BLUE_GREEN', deploymentOption: 'WITH_TRAFFIC_CONTROL' },
      deploymentConfigName: `CodeDeployDefault.Lambda${isCanary ? `Canary10Percent${canaryMinutes}Minutes` : 'AllAtOnce'}`,
      // Without a step all calls move within seconds: an alarm would see nothing of the new version, and one of the former version would stop its
      // repair.
      ...(isCanary && {
        alarmConfiguration: {
          enabled: true,
          alarms: [{ name: failingVersionAlarm(built, stage, row).alarmName }],
        },
      }),
      autoRollbackConfiguration: {
        enabled: true,
        events: ['DEPLOYMENT_FAILURE', ...(isCanary ? ['DEPLOYMENT_STOP_ON_ALARM'] : [])],
      },
    });
    const alias = new lambda.Alias(built, 'Live', {
      aliasName: LIVE,
      // SAFETY: the CDK declares the role of a version as present in one place and as optional in the other, as for an alias below.
      version: built.currentVersion as lambda.Version & lambda.IVersion,
    });
    const own = alias.node.defaultChild as lambda.CfnAlias;
    const before = aliases.at(-AT_ONCE);
    if (before !== undefined) own.addResourceDependency(before);
    aliases.push(own);
    own.cfnOptions.updatePolicy = {
      codeDeployLambdaAliasUpdate: {
        applicationName: application.ref,
        deploymentGroupName: deployments.ref,
        beforeAllowTrafficHook: check.functionName,
      },
    };
    return alias as LiveFunction;
  };
}

/**
 * Creates an alarm for a new version of a function that ends without a response, or logs a line that blames the release. Each version has its own alarm:
 * one that is still on because of the former version would stop the deployment that repairs it.
 *
 * It goes off for one bad minute of the last five, since a minute's figures come up to three minutes late. It fills in none: "if your metrics are being
 * published with a slight delay, and the most recent minute never has data […] FILL replaces that missing data point with the requested value. That causes
 * the latest data point for the metric to always be the FILL value, which can result in the alarm being stuck in either OK state or ALARM state" (CloudWatch
 * user guide, "Using metric math"). The SUM of an array of series has a point wherever one of them has.
 */
function failingVersionAlarm(built: lambda.Function, stage: Stage, row: DeployedFunction): cloudwatch.Alarm {
  const { currentVersion: version } = built;
  const period = Duration.minutes(1);
  const sum = (namespace: string, name: string, dimensions: Record<string, string>) =>
    metricOf(namespace, name, dimensions, cloudwatch.Stats.SUM, period);
  const alarm = new cloudwatch.Alarm(built, 'NewVersionFails', {
    alarmDescription: `The new version of ${row.operationId} fails. Impact: CodeDeploy moves its callers back to the former version. What to do: ${stage.config.runbookUrl}#deployment-went-back`,
    metric: new cloudwatch.MathExpression({
      expression: 'SUM([failed, lines])',
      label: 'failed invocations and lines that blame the release',
      period,
      usingMetrics: {
        failed: sum('AWS/Lambda', 'Errors', {
          ...liveDimensions(stage, row),
          ExecutedVersion: version.version,
        }),
        lines: sum(METRIC_NAMESPACE, RELEASE_FAULTS.name, {
          stage: stage.name,
          operation: row.operationId,
          function_version: version.version,
        } satisfies Record<(typeof RELEASE_FAULTS)['dimensions'][number], string>),
      },
    }),
    threshold: 0,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: 5,
    datapointsToAlarm: 1,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  });
  // The id of a version derives from its content, and is known only at the end of the synth.
  const { logicalId } = version.node.defaultChild as lambda.CfnVersion;
  (alarm.node.defaultChild as cloudwatch.CfnAlarm).overrideLogicalId(
    Lazy.uncachedString({ produce: (context) => `${String(context.resolve(logicalId))}Fails` }),
  );
  return alarm;
}

/** Returns an ARN whose last part follows a colon. */
function arnOf(scope: Construct, service: string, resource: string, resourceName: string): string {
  const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
  return Stack.of(scope).formatArn({ service, resource, resourceName, arnFormat });
}

/** Creates the function that CodeDeploy calls before it moves an alias: it may call the stack's versions and report its findings. */
function versionCheckFunction(
  within: Construct,
  stage: Stage,
  name: DeploymentName,
  application: CfnApplication,
  names: readonly string[],
  assets: string,
): lambda.Function {
  const versions = names.map((each) => arnOf(within, 'lambda', 'function', `${each}:*`));
  acknowledgeWildcards(
    within,
    versions,
    'The number of a new version is known only when it is published, and a permission only for it would come too late.',
  );
  acknowledge(within, {
    'Serverless-LambdaDLQ': 'CodeDeploy calls it and waits for its report: a deployment without one fails.',
  });
  return ownFunction(within, stage, {
    id: 'Check',
    functionName: versionCheckName(stage, name),
    description: 'Calls a new version before its callers do, and reports to CodeDeploy whether it works',
    asset: join(assets, versionCheck.operationId),
    memorySize: 256,
    // It repeats its calls for ten minutes while a store does not respond. CodeDeploy waits for an hour.
    timeout: Duration.minutes(15),
    purpose: `Checks new versions of the ${name} functions`,
    statements: versionCheckStatements(
      versions,
      arnOf(within, 'codedeploy', 'application', application.ref),
      names.map((each) => arnOf(within, 'codedeploy', 'deploymentgroup', `${application.ref}/${each}`)),
    ),
    environment: {
      STAGE: stage.name,
      LOG_LEVEL: stage.config.logLevel,
      ...(stage.config.canary && { CANARY_TENANT: stage.config.canary.tenantId }),
    },
  });
}
