import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import {
  APIGatewayClient,
  BadRequestException,
  GetAccountCommand,
  UpdateAccountCommand,
} from '@aws-sdk/client-api-gateway';
import {
  AttachRolePolicyCommand,
  CreateRoleCommand,
  EntityAlreadyExistsException,
  IAMClient,
} from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SSMClient } from '@aws-sdk/client-ssm';
import { figure } from '#ops/cost/report.ts';
import { readRecording } from '#ops/cost/recorded.ts';
import { trafficOf } from '#ops/cost/traffic.ts';
import { wallsOf } from '#ops/cost/walls.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import { stackIds, stackRegion } from '#shared/stage/stack-names.ts';
import { placeholders } from '#shared/stage/stages.ts';
import { readGateParameter } from '#shared/stores/gate-parameters.ts';
import { projectRoot } from '#tools/bundling/build.ts';
import { failure, good, warning, type Check, type Finding, type Subject } from './finding.ts';

/* What a deployment needs before it begins. */

const bundles: Check = () => {
  const missing = deployedFunctions.filter(
    ({ operationId }) => !existsSync(join(projectRoot, 'build/functions', operationId, 'index.mjs')),
  );
  return missing.length === 0
    ? [good(`Node ${process.versions.node}; ${deployedFunctions.length} functions are bundled`)]
    : [warning(`${missing.length} functions are not bundled yet; a deployment does it`, 'npm run build')];
};

const settings: Check = ({ stage }) => {
  const open = placeholders(stage);
  return open.length === 0
    ? [good('every setting is filled in')]
    : [
        failure(
          `placeholder settings: ${open.join(', ')}`,
          'fill them in in shared/stage/stages.ts (docs/deploy.md, step 2)',
        ),
      ];
};

/** The version of the bootstrap stack that the CDK of this project asks for. */
const BOOTSTRAP_VERSION = 6;

/** A stage has stacks in its region and, with the site, in another. */
const bootstrap: Check = async ({ stage, place }) => {
  const regions = [...new Set(stackIds.map((id) => stackRegion(id, place.region)))];
  return Promise.all(
    regions.map(async (region): Promise<Finding> => {
      const version = await readGateParameter(
        new SSMClient({ ...place, region }),
        '/cdk-bootstrap/hnb659fds/version',
      );
      const remedy = `npx cdk bootstrap -c stage=${stage.name} -c gates=`;
      if (version === undefined)
        return failure(`account and region ${region} are not bootstrapped for the CDK`, remedy);
      if (!/^\d+$/.test(version))
        return failure(
          `${region}: the version of the CDK bootstrap is not a number: ${JSON.stringify(version)}`,
          remedy,
        );
      const message = `${region}: CDK bootstrap version ${version}`;
      return Number(version) >= BOOTSTRAP_VERSION
        ? good(message)
        : failure(`${message} is older than ${BOOTSTRAP_VERSION}`, remedy);
    }),
  );
};

const LOG_ROLE = 'mastery-reports-api-gateway-logs';

const logRole: Check = async (subject) => {
  const { stage, place } = subject;
  const found = await new APIGatewayClient(place).send(new GetAccountCommand({}));
  return found.cloudwatchRoleArn
    ? [good(`API Gateway writes logs as ${found.cloudwatchRoleArn}`)]
    : [
        {
          ...failure(
            'API Gateway has no role for logs in this account and region, so no API can be deployed',
            `npm run doctor -- --stage ${stage.name} --fix`,
          ),
          mend: () => createLogRole(subject),
        },
      ];
};

/** IAM makes a new role known within seconds. */
const ROLE_ATTEMPTS = 12;
const ROLE_PAUSE_MS = 5_000;

/** One role per account for all its stages: no stack owns it, since a stack that goes would take it from the others. */
async function createLogRole({ place, pause }: Subject): Promise<Result<string, string>> {
  const partition = place.region.startsWith('cn-')
    ? 'aws-cn'
    : place.region.startsWith('us-gov-')
      ? 'aws-us-gov'
      : 'aws';
  const mayAssume = {
    Effect: 'Allow',
    Principal: { Service: 'apigateway.amazonaws.com' },
    Action: 'sts:AssumeRole',
  };
  const iam = new IAMClient(place);
  try {
    await iam.send(
      new CreateRoleCommand({
        RoleName: LOG_ROLE,
        Description: 'API Gateway writes logs to CloudWatch (one role per account)',
        AssumeRolePolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: [mayAssume] }),
      }),
    );
  } catch (error) {
    if (!(error instanceof EntityAlreadyExistsException)) throw error;
  }
  const policy = 'policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs';
  await iam.send(
    new AttachRolePolicyCommand({ RoleName: LOG_ROLE, PolicyArn: `arn:${partition}:iam::aws:${policy}` }),
  );
  const role = `arn:${partition}:iam::${place.account}:role/${LOG_ROLE}`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await new APIGatewayClient(place).send(
        new UpdateAccountCommand({
          patchOperations: [{ op: 'replace', path: '/cloudwatchRoleArn', value: role }],
        }),
      );
      return ok(`API Gateway writes logs as ${role}`);
    } catch (error) {
      if (!(error instanceof BadRequestException) || attempt === ROLE_ATTEMPTS) throw error;
      await pause(ROLE_PAUSE_MS);
    }
  }
}

const DAY_MS = 86_400_000;
/** ACM renews a certificate 60 days before its end: one this close to it was not renewed. */
const CERTIFICATE_DAYS = 30;

const certificates: Check = async ({ stage, place, now }) => {
  const arns = [...JSON.stringify(stage.config).matchAll(/"(arn:[^":]+:acm:[^"]+)"/g)].map(
    ([, arn = '']) => arn,
  );
  return Promise.all(
    arns.map(async (arn): Promise<Finding> => {
      const [, , , region = place.region] = arn.split(':');
      const { Certificate: { Status: status = 'without a status', NotAfter: end } = {} } =
        await new ACMClient({
          ...place,
          region,
        }).send(new DescribeCertificateCommand({ CertificateArn: arn }));
      const days = end === undefined ? 0 : Math.floor((end.getTime() - now) / DAY_MS);
      if (status !== 'ISSUED' || days <= 0)
        return failure(
          `the certificate ${arn} is ${status === 'ISSUED' ? 'no longer valid' : status}`,
          'validate or renew it in ACM',
        );
      const message = `the certificate ${arn} is valid for ${days} days`;
      return days >= CERTIFICATE_DAYS ? good(message) : warning(message, 'see in ACM why it was not renewed');
    }),
  );
};

/** The share of a limit from which on a stage should have more of it: other stages of the account use it too, and a second can be busier than estimated. */
const NARROW = 0.7;

const quotas: Check = async ({ stage, place }) => {
  const { expected } = stage.config;
  if (expected === undefined)
    return stage.config.production === true
      ? [
          warning(
            'the stage does not say what traffic it expects, so no quota was compared with it',
            'set expected in shared/stage/stages.ts (docs/scale.md)',
          ),
        ]
      : [];
  const [
    { throttleSettings: { rateLimit } = {} },
    { AccountLimit: { UnreservedConcurrentExecutions: executions } = {} },
  ] = await Promise.all([
    new APIGatewayClient(place).send(new GetAccountCommand({})),
    new LambdaClient(place).send(new GetAccountSettingsCommand({})),
  ]);
  if (rateLimit === undefined || executions === undefined)
    return [
      failure(
        `${rateLimit === undefined ? 'API Gateway' : 'Lambda'} returned no quota: whether the expected traffic fits is unknown`,
        'look at the quotas in the console of Service Quotas',
      ),
    ];
  const traffic = { ...trafficOf(0), runs: expected.runsPerMonth, reports: expected.reportsPerMonth };
  const walls = wallsOf(traffic, readRecording(), stage.config, {
    concurrentExecutions: executions,
    apiRequestsPerSecond: rateLimit,
  });
  return walls.map(({ name, used, limit, unit, movedBy }): Finding => {
    const message = `${name}: the expected traffic uses ${figure(used)} of ${figure(limit)} ${unit} in its busiest second`;
    if (used < NARROW * limit) return good(message);
    const remedy = `change what moves it: ${movedBy.replaceAll('`', '')} (docs/scale.md)`;
    return used < limit ? warning(message, remedy) : failure(message, remedy);
  });
};

/** By the name in the report, in its order. */
export const accountChecks = {
  build: bundles,
  settings,
  bootstrap,
  'log role': logRole,
  certificate: certificates,
  quotas,
} satisfies Readonly<Record<string, Check>>;
