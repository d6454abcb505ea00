import { DeleteParameterCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { localProfilesPath } from '#local/stack/function-variables.ts';
import { clientsOf, type TestStack } from './stack.ts';

/** Sets a parameter of a tenant's service profile, or removes it, and lets the functions of an operation read the profile again. */
export async function setProfileParameter(
  stack: Pick<TestStack, 'urls' | 'defer' | 'killWorkers'>,
  operationId: string,
  tenantId: string,
  { name, value }: { readonly name: string; readonly value: string | undefined },
): Promise<void> {
  const { ssm } = clientsOf(stack);
  const Name = `${localProfilesPath}/${Buffer.from(tenantId).toString('base64url')}/${name}`;
  await (value === undefined
    ? ssm.send(new DeleteParameterCommand({ Name }))
    : ssm.send(new PutParameterCommand({ Name, Value: value, Type: 'String', Overwrite: true })));
  await stack.killWorkers(operationId);
}
