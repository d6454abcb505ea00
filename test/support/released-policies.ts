import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { writeRecord } from '#shared/records/release.ts';
import { localCredentials, localRegion, localTableName } from '#shared/stage/local-stage.ts';
import { createEndpointClients } from '#shared/stores/endpoint-clients.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import type { TestStack } from './stack.ts';

export type PolicyChange = Partial<Omit<SelectionPolicy, 'id' | 'checksum'>>;

/**
 * Writes a tenant's policy with changes under an id of its own, as an earlier release might have: nothing of it is checked.
 * @returns the new id
 */
export async function storePolicy(
  stack: Pick<TestStack, 'urls' | 'seededTenants'>,
  { tenantId = 'tenant-aurora', from, change }: { tenantId?: string; from: string; change: PolicyChange },
): Promise<string> {
  const { policies } = stack.seededTenants.get(tenantId)!;
  const known = policies.find(({ document }) => document.id === from)!.document;
  const content = { ...known, ...change };
  const id = `${from}-${documentChecksum(content).slice(0, 12)}`;
  const document = { ...content, id };
  const checksum = documentChecksum(document);
  const clients = createEndpointClients({
    endpoint: stack.urls.awsUrl,
    region: localRegion,
    credentials: localCredentials,
  });
  await writeRecord(createRecordsTable(clients.dynamo, localTableName('records')), {
    key: { kind: 'policy', tenantId, id },
    checksum,
    stored: { document: canonicalJson({ ...document, checksum }) },
    lifecycle: {},
  });
  clients.destroy();
  return id;
}
