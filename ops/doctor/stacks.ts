import * as z from 'zod';
import { AwsRefusal, callQuery, type AwsCaller } from '#shared/stage/aws-call.ts';
import { stackIds, stackName } from '#shared/stage/stack-names.ts';

/** A stack as it is deployed. */
export interface DeployedStack {
  readonly status: string;
  readonly terminationProtection: boolean;
  readonly outputs: ReadonlyMap<string, string>;
}

/** A list of the query protocol: without members it is an empty text. */
export const listOf = <T extends z.ZodType>(member: T): z.ZodType<readonly z.output<T>[]> =>
  z.union([z.array(member), z.literal('').transform(() => [])]).default([]);

const description = z.object({
  Stacks: listOf(
    z.object({
      StackStatus: z.string(),
      EnableTerminationProtection: z.enum(['true', 'false']).default('false'),
      Outputs: listOf(z.object({ OutputKey: z.string(), OutputValue: z.string() })),
    }),
  ),
});

/** The stacks of a stage that exist, by name. */
export async function readStacks(
  caller: AwsCaller,
  stage: string,
): Promise<ReadonlyMap<string, DeployedStack>> {
  const found = new Map<string, DeployedStack>();
  for (const name of stackIds.map((id) => stackName(stage, id))) {
    const stack = await readStack(caller, name);
    if (stack !== undefined) found.set(name, stack);
  }
  return found;
}

async function readStack(caller: AwsCaller, name: string): Promise<DeployedStack | undefined> {
  let answer;
  try {
    answer = description.parse(
      await callQuery(caller, 'cloudformation', 'DescribeStacks', { StackName: name }),
    );
  } catch (error) {
    if (
      error instanceof AwsRefusal &&
      error.name === 'ValidationError' &&
      /does not exist/.test(error.message)
    )
      return undefined;
    throw error;
  }
  const [stack] = answer.Stacks;
  return (
    stack && {
      status: stack.StackStatus,
      terminationProtection: stack.EnableTerminationProtection === 'true',
      outputs: new Map(stack.Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue])),
    }
  );
}

export async function protectStack(caller: AwsCaller, name: string): Promise<void> {
  await callQuery(caller, 'cloudformation', 'UpdateTerminationProtection', {
    StackName: name,
    EnableTerminationProtection: 'true',
  });
}

const change = z.object({
  Action: z.string(),
  LogicalResourceId: z.string(),
  ResourceType: z.string(),
  Replacement: z.string().optional(),
  Details: listOf(
    z.object({
      Target: z.object({ RequiresRecreation: z.string().default('Never') }),
      Evaluation: z.string().optional(),
      CausingEntity: z.string().optional(),
    }),
  ),
});

/** One resource of a change set, as CloudFormation describes it. */
export type ResourceChange = z.infer<typeof change>;

const changeSet = z.object({
  Status: z.string(),
  Changes: listOf(z.object({ ResourceChange: change.optional() })),
  NextToken: z.string().optional(),
});

/** Every change of a change set that CloudFormation has prepared; undefined: there is none of that name. */
export async function readChangeSet(
  caller: AwsCaller,
  stack: string,
  name: string,
): Promise<readonly ResourceChange[] | undefined> {
  const changes: ResourceChange[] = [];
  let next: string | undefined;
  try {
    do {
      const page = changeSet.parse(
        await callQuery(caller, 'cloudformation', 'DescribeChangeSet', {
          StackName: stack,
          ChangeSetName: name,
          ...(next === undefined ? {} : { NextToken: next }),
        }),
      );
      changes.push(...page.Changes.flatMap(({ ResourceChange }) => ResourceChange ?? []));
      next = page.NextToken;
    } while (next !== undefined);
  } catch (error) {
    if (error instanceof AwsRefusal && error.name.startsWith('ChangeSetNotFound')) return undefined;
    throw error;
  }
  return changes;
}
