import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { APIGatewayClient, BadRequestException, UpdateAccountCommand } from '@aws-sdk/client-api-gateway';
import {
  AttachRolePolicyCommand,
  CreateRoleCommand,
  EntityAlreadyExistsException,
  IAMClient,
} from '@aws-sdk/client-iam';
import { SSMClient } from '@aws-sdk/client-ssm';
import { ok, type Result } from '#shared/kernel/result.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import type { CheckName } from '#shared/stage/checks.ts';
import { stackIds, stackRegion } from '#shared/stage/stack-names.ts';
import { placeholders } from '#shared/stage/stages.ts';
import { failure, good, warning } from '#shared/stage-checks/finding.ts';
import { scheduled } from '#shared/stage-checks/scheduled.ts';
import { readGateParameter } from '#shared/stores/gate-parameters.ts';
import { projectRoot } from '#tools/bundling/build.ts';
import type { Check, Subject } from './finding.ts';
import { mending } from './mending.ts';

/* What a deployment needs before it begins. */

const bundles: Check = () => {
  const missing = deployedFunctions.filter(
    ({ operationId }) => !existsSync(join(projectRoot, 'build/functions', operationId, 'index.mjs')),
  );
  return missing.length === 0
    ? [good(`Node ${process.versions.node}; ${deployedFunctions.length} functions are bundled`)]
    : [
        warning(
          'not-bundled',
          `${missing.length} functions are not bundled yet; a deployment does it`,
          'npm run build',
        ),
      ];
};

const settings: Check = ({ stage }) => {
  const open = placeholders(stage);
  return open.length === 0
    ? [good('every setting is filled in')]
    : [
        failure(
          'placeholders',
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
    regions.map(async (region) => {
      const version = await readGateParameter(
        new SSMClient({ ...place, region }),
        '/cdk-bootstrap/hnb659fds/version',
      );
      const remedy = `npx cdk bootstrap -c stage=${stage.name} -c gates=`;
      if (version === undefined)
        return failure(
          'not-bootstrapped',
          `account and region ${region} are not bootstrapped for the CDK`,
          remedy,
        );
      if (!/^\d+$/.test(version))
        return failure(
          'bootstrap-unknown',
          `${region}: the version of the CDK bootstrap is not a number: ${JSON.stringify(version)}`,
          remedy,
        );
      const message = `${region}: CDK bootstrap version ${version}`;
      return Number(version) >= BOOTSTRAP_VERSION
        ? good(message)
        : failure('bootstrap-old', `${message} is older than ${BOOTSTRAP_VERSION}`, remedy);
    }),
  );
};

const LOG_ROLE = 'mastery-reports-api-gateway-logs';

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

/** By the name in the report, in its order. */
export const accountChecks = {
  build: bundles,
  settings,
  bootstrap,
  'log role': mending(scheduled['log role'], { 'log-role-missing': createLogRole }),
  certificate: scheduled.certificate,
  quotas: scheduled.quotas,
} satisfies Readonly<Partial<Record<CheckName, Check>>>;
