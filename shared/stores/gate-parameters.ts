import {
  GetParameterCommand,
  ParameterNotFound,
  paginateGetParametersByPath,
  PutParameterCommand,
  type SSMClient,
} from '@aws-sdk/client-ssm';

/**
 * Returns the parameters directly below a path, by their names; a SecureString's value stays encrypted. Throws SSM's errors: the caller decides their
 * meaning.
 */
export async function readGateFlags(client: SSMClient, path: string): Promise<ReadonlyMap<string, string>> {
  const flags = new Map<string, string>();
  const pages = paginateGetParametersByPath({ client }, { Path: path });
  for await (const { Parameters: parameters = [] } of pages) {
    for (const { Name: name, Value: value } of parameters) {
      if (name !== undefined && value !== undefined) flags.set(name.slice(path.length + 1), value);
    }
  }
  return flags;
}

/** Returns the value of one parameter; undefined if there is none. Throws SSM's errors. */
export async function readGateParameter(client: SSMClient, name: string): Promise<string | undefined> {
  try {
    const { Parameter: parameter } = await client.send(new GetParameterCommand({ Name: name }));
    return parameter?.Value;
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined;
    throw error;
  }
}

export async function writeGateParameter(client: SSMClient, name: string, value: string): Promise<void> {
  await client.send(new PutParameterCommand({ Name: name, Value: value, Type: 'String', Overwrite: true }));
}
