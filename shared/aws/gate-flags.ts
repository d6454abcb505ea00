import { GetParametersByPathCommand, type SSMClient } from '@aws-sdk/client-ssm';

/** The parameters directly below a path, by the last part of their name. Throws what SSM throws: the app decides what that means. */
export async function readGateFlags(client: SSMClient, path: string): Promise<ReadonlyMap<string, string>> {
  const flags = new Map<string, string>();
  let next: string | undefined;
  do {
    const page = await client.send(
      new GetParametersByPathCommand({ Path: path, ...(next ? { NextToken: next } : {}) }),
    );
    for (const { Name: name, Value: value } of page.Parameters ?? []) {
      if (name !== undefined && value !== undefined) flags.set(name.slice(path.length + 1), value);
    }
    next = page.NextToken;
  } while (next);
  return flags;
}
