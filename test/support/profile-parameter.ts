import { localTableName } from '#shared/stage/local-stage.ts';
import { readProfileItem, writeProfileItem } from '#shared/stores/service-profile-items.ts';
import { clientsOf, type TestStack } from './stack.ts';

/** Sets a parameter of a tenant's stored profile, or removes it, even to what no command stores, and lets the functions of an operation read it again. */
export async function setProfileParameter(
  stack: Pick<TestStack, 'urls' | 'defer' | 'killWorkers'>,
  operationId: string,
  tenantId: string,
  { name, value }: { readonly name: string; readonly value: string | undefined },
): Promise<void> {
  const { dynamo } = clientsOf(stack);
  const table = localTableName('settings');
  const item = await readProfileItem(dynamo, table, tenantId);
  if (typeof item !== 'object') throw new Error(`${tenantId} has no profile`);
  const { [name]: _, ...others } = item.parameters;
  const parameters = value === undefined ? others : { ...others, [name]: value };
  await writeProfileItem(dynamo, table, tenantId, { ...item, parameters }, item);
  await stack.killWorkers(operationId);
}
