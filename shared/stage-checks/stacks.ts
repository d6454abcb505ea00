import type { CloudFormation } from '@aws-sdk/client-cloudformation';
import { stackIds, stackName, type StackId } from '#shared/stage/stack-names.ts';
import {
  failure,
  good,
  warning,
  type Check,
  type DeployedStack,
  type Finding,
  type Subject,
} from './finding.ts';

/** Returns the stacks of a stage that exist, by name. The site’s is in a region of its own. */
export async function readStacks(
  clientOf: (id: StackId) => CloudFormation,
  stage: string,
): Promise<ReadonlyMap<string, DeployedStack>> {
  const found = new Map<string, DeployedStack>();
  for (const id of stackIds) {
    const name = stackName(stage, id);
    const stack = await readStack(clientOf(id), name);
    if (stack !== undefined) found.set(name, stack);
  }
  return found;
}

async function readStack(client: CloudFormation, name: string): Promise<DeployedStack | undefined> {
  try {
    const { Stacks: [stack] = [] } = await client.describeStacks({ StackName: name });
    return (
      stack && {
        status: stack.StackStatus ?? 'without a status',
        terminationProtection: stack.EnableTerminationProtection === true,
        outputs: new Map(
          stack.Outputs?.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
        ),
      }
    );
  } catch (error) {
    const isAbsent =
      error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist');
    if (isAbsent) return undefined;
    throw error;
  }
}

export const stacks: Check = async (subject) => {
  const { stage } = subject;
  const deployed = await subject.stacks();
  if (deployed.size === 0) return [];
  const { production = false, terminationProtection = production } = stage.config;
  return stackIds.flatMap((id): readonly Finding[] => {
    const name = stackName(stage.name, id);
    const stack = deployed.get(name);
    if (stack === undefined)
      return [
        failure(
          'stack-missing',
          `${name} does not exist, although others of the stage do`,
          `npm run deploy -- -c stage=${stage.name}`,
          name,
        ),
      ];
    const isProtected = stack.terminationProtection || !(terminationProtection || id === 'records-and-keys');
    return [
      statusOf(id, name, stack),
      ...(isProtected
        ? []
        : [
            failure(
              'stack-unprotected',
              `${name} has no termination protection`,
              `npm run doctor -- --stage ${stage.name} --fix`,
              name,
            ),
          ]),
    ];
  });
};

function statusOf(id: StackId, name: string, { status }: DeployedStack): Finding {
  const message = `${name} is ${status}`;
  const failed = (meaning: string, remedy: string): Finding =>
    failure('stack-failed', `${message}: ${meaning}`, remedy, name);
  if (status.endsWith('_IN_PROGRESS'))
    return warning(
      'stack-changing',
      `${message}: a change is under way, or waits for a decision`,
      'wait for it, then run the command again',
      name,
    );
  switch (status) {
    case 'CREATE_COMPLETE':
    case 'UPDATE_COMPLETE':
    case 'IMPORT_COMPLETE':
      return good(message);
    case 'UPDATE_ROLLBACK_COMPLETE':
    case 'IMPORT_ROLLBACK_COMPLETE':
      return warning(
        'stack-rolled-back',
        `${message}: the last deployment failed, and the one before it is in use`,
        `read why: aws cloudformation describe-stack-events --stack-name ${name}`,
        name,
      );
    case 'UPDATE_ROLLBACK_FAILED':
      return failed(
        'it can be neither updated nor deleted',
        `aws cloudformation continue-update-rollback --stack-name ${name}`,
      );
    case 'ROLLBACK_COMPLETE':
      return failed('its first deployment failed', 'deploy again: the CDK deletes it first');
    default:
      return failed(
        'CloudFormation could not finish',
        id === 'records-and-keys'
          ? `docs/deploy.md, “If the first deployment fails”`
          : `aws cloudformation delete-stack --stack-name ${name}, then deploy again`,
      );
  }
}

/** Returns whether the stores are complete: tables, bucket and key can be used. */
export async function hasStores({ stage, stacks: read }: Subject): Promise<boolean> {
  const stores = (await read()).get(stackName(stage.name, 'records-and-keys'));
  return stores !== undefined && /^(CREATE|UPDATE|UPDATE_ROLLBACK)_COMPLETE$/.test(stores.status);
}
