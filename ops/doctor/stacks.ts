import {
  ChangeSetNotFoundException,
  CloudFormationClient,
  paginateDescribeChangeSet,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import type { ResourceChange } from '@aws-sdk/client-cloudformation';
import type { Place } from '#shared/stage/access.ts';
import { stackIds, stackRegion } from '#shared/stage/stack-names.ts';

/** Returns where CloudFormation has a stack of that name: the site’s is in a region of its own. */
function cloudFormation(place: Place, name: string): CloudFormationClient {
  const id = stackIds.find((each) => name.endsWith(`-${each}`));
  const region = id === undefined ? place.region : stackRegion(id, place.region);
  return new CloudFormationClient({ ...place, region });
}

export async function protectStack(place: Place, name: string): Promise<void> {
  await cloudFormation(place, name).send(
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
  const client = cloudFormation(place, stack);
  try {
    for await (const page of paginateDescribeChangeSet({ client }, { StackName: stack, ChangeSetName: name }))
      changes.push(...(page.Changes ?? []).flatMap(({ ResourceChange: change }) => change ?? []));
  } catch (error) {
    if (error instanceof ChangeSetNotFoundException) return undefined;
    throw error;
  }
  return changes;
}
