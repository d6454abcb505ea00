import {
  ChangeSetNotFoundException,
  CloudFormationClient,
  DescribeStacksCommand,
  paginateDescribeChangeSet,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import type { ResourceChange } from '@aws-sdk/client-cloudformation';
import type { Place } from '#shared/stage/access.ts';
import { stackIds, stackName, stackRegion, type StackId } from '#shared/stage/stack-names.ts';

/** A stack as it is deployed. */
export interface DeployedStack {
  readonly status: string;
  readonly terminationProtection: boolean;
  readonly outputs: ReadonlyMap<string, string>;
}

/** Returns where CloudFormation has a stack of the stage. */
function cloudFormation(place: Place, id: StackId): CloudFormationClient {
  return new CloudFormationClient({ ...place, region: stackRegion(id, place.region) });
}

/** Returns the stacks of a stage that exist, by name. */
export async function readStacks(place: Place, stage: string): Promise<ReadonlyMap<string, DeployedStack>> {
  const found = new Map<string, DeployedStack>();
  for (const id of stackIds) {
    const name = stackName(stage, id);
    const stack = await readStack(cloudFormation(place, id), name);
    if (stack !== undefined) found.set(name, stack);
  }
  return found;
}

async function readStack(client: CloudFormationClient, name: string): Promise<DeployedStack | undefined> {
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
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

export async function protectStack(place: Place, stage: string, id: StackId): Promise<void> {
  await cloudFormation(place, id).send(
    new UpdateTerminationProtectionCommand({
      StackName: stackName(stage, id),
      EnableTerminationProtection: true,
    }),
  );
}

/** Returns every change of a change set that CloudFormation has prepared; undefined: there is none of that name. */
export async function readChangeSet(
  place: Place,
  stack: string,
  name: string,
): Promise<readonly ResourceChange[] | undefined> {
  const changes: ResourceChange[] = [];
  const id = stackIds.find((each) => stack.endsWith(`-${each}`));
  const client = id === undefined ? new CloudFormationClient(place) : cloudFormation(place, id);
  try {
    for await (const page of paginateDescribeChangeSet({ client }, { StackName: stack, ChangeSetName: name }))
      changes.push(...(page.Changes ?? []).flatMap(({ ResourceChange: change }) => change ?? []));
  } catch (error) {
    if (error instanceof ChangeSetNotFoundException) return undefined;
    throw error;
  }
  return changes;
}
