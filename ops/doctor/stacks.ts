import {
  ChangeSetNotFoundException,
  CloudFormationClient,
  paginateDescribeChangeSet,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import type { ResourceChange } from '@aws-sdk/client-cloudformation';
import type { Place } from '#shared/stage/access.ts';

export async function protectStack(place: Place, name: string): Promise<void> {
  await new CloudFormationClient(place).send(
    new UpdateTerminationProtectionCommand({ StackName: name, EnableTerminationProtection: true }),
  );
}

/** Returns every change of a change set that CloudFormation has prepared; undefined: there is none of that name. */
export async function readChangeSet(
  place: Place,
  stack: string,
  name: string,
): Promise<readonly ResourceChange[] | undefined> {
  const changes: ResourceChange[] = [];
  const client = new CloudFormationClient(place);
  try {
    for await (const page of paginateDescribeChangeSet({ client }, { StackName: stack, ChangeSetName: name }))
      changes.push(...(page.Changes ?? []).flatMap(({ ResourceChange: change }) => change ?? []));
  } catch (error) {
    if (error instanceof ChangeSetNotFoundException) return undefined;
    throw error;
  }
  return changes;
}
