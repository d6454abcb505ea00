import { DeleteParameterCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { localProfilesPath } from '#local/stack/function-variables.ts';
import { localCredentials, localRegion } from '#shared/stage/local-stage.ts';
import { createClients } from '#shared/stores/clients.ts';
import type { TestStack } from './stack.ts';

/** Sets a parameter of a tenant's service profile, or removes it, and lets the functions of an operation read the profile again. */
export async function setProfileParameter(
  stack: Pick<TestStack, 'urls' | 'killWorkers'>,
  operationId: string,
  tenantId: string,
  { name, value }: { readonly name: string; readonly value: string | undefined },
): Promise<void> {
  const { ssm, destroy } = createClients({
    endpoint: stack.urls.awsUrl,
    region: localRegion,
    credentials: localCredentials,
  });
  const Name = `${localProfilesPath}/${Buffer.from(tenantId).toString('base64url')}/${name}`;
  await (value === undefined
    ? ssm.send(new DeleteParameterCommand({ Name }))
    : ssm.send(new PutParameterCommand({ Name, Value: value, Type: 'String', Overwrite: true })));
  destroy();
  await stack.killWorkers(operationId);
}
