import { GetParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';

/** Reads the plain text of a SecureString. Throws SSM's errors. */
export async function readSecureParameter(
  client: SSMClient,
  name: string,
  abortSignal: AbortSignal,
): Promise<string> {
  const command = new GetParameterCommand({ Name: name, WithDecryption: true });
  const { Parameter: parameter } = await client.send(command, { abortSignal });
  return parameter?.Value ?? '';
}
