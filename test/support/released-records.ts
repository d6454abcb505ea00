import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { canonicalJson, hashCanonical } from '#shared/kernel/canonical-json.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import type { CalibrationRecord } from '#shared/records/records.ts';
import { writeRecord } from '#shared/records/release.ts';
import type { NewRecord } from '#shared/records/table.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { clientsOf, type TestStack } from './stack.ts';

type Stack = Pick<TestStack, 'urls' | 'seededTenants' | 'defer'>;

export type PolicyChange = Partial<Omit<SelectionPolicy, 'id' | 'checksum'>>;
/** What lies beside a policy's document. */
export type PolicyParameters = NewRecord['parameters'];

/**
 * Writes a tenant's policy with changes under an id of its own, as an earlier release might have: nothing of it is checked.
 * @returns the new id
 */
export async function storePolicy(
  stack: Stack,
  tenantId: string,
  { from, change, parameters }: { from: string; change: PolicyChange; parameters: PolicyParameters },
): Promise<string> {
  const { policies } = stack.seededTenants.get(tenantId)!;
  const known = policies.find(({ document }) => document.id === from)!.document;
  const content = { ...known, ...change };
  const id = `${from}-${documentChecksum(content).slice(0, 12)}`;
  await store(stack, 'policy', tenantId, { ...content, id }, parameters && { parameters });
  return id;
}

/** The same for a calibration of the first tenant, of which the change is made in a copy. */
export async function storeCalibration(
  stack: Stack,
  from: string,
  change: (record: Pick<CalibrationRecord, 'document' | 'parameters'>) => void,
): Promise<string> {
  const tenantId = 'tenant-aurora';
  const { calibrations } = stack.seededTenants.get(tenantId)!;
  const { document, parameters } = structuredClone(calibrations.find((known) => known.document.id === from)!);
  change({ document, parameters });
  const hash = hashCanonical(parameters);
  const id = `${from}-${hashCanonical({ document, parameters }).slice(0, 12)}`;
  const text = canonicalJson(parameters);
  await store(stack, 'calibration', tenantId, { ...document, id }, { parameters: { hash, text } });
  return id;
}

async function store(
  stack: Stack,
  kind: 'policy' | 'calibration',
  tenantId: string,
  content: { readonly id: string },
  rest: Omit<NewRecord, 'document'> = {},
): Promise<void> {
  const checksum = documentChecksum(content);
  await writeRecord(createRecordsTable(clientsOf(stack).dynamo, localTableName('records')), {
    key: { kind, tenantId, id: content.id },
    checksum,
    stored: { document: canonicalJson({ ...content, checksum }), ...rest },
    lifecycle: {},
  });
}
