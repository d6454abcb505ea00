export const recordKinds = ['policy', 'calibration', 'analysis-policy'] as const;

/** Names one record. Without `tenantId` it is a system record. */
export interface RecordKey {
  readonly kind: (typeof recordKinds)[number];
  readonly id: string;
  readonly tenantId?: string;
}

/** DynamoDB's limit of a partition key, in bytes of UTF-8. */
const MAX_BYTES = 2048;

/**
 * Returns the partition key of a record, or undefined if no stored record can have this id (too long, or not well-formed Unicode). The tenant is
 * percent-encoded, so that no tenant's name and id together spell another tenant's key.
 */
export function partitionKey(key: RecordKey): string | undefined {
  if (!key.id.isWellFormed() || key.tenantId?.isWellFormed() === false) return undefined;
  const owner = key.tenantId === undefined ? 'system' : `tenant#${encodeURIComponent(key.tenantId)}`;
  const text = `${owner}#${key.kind}#${key.id}`;
  return Buffer.byteLength(text) <= MAX_BYTES ? text : undefined;
}

/** Returns the record of a partition key; undefined for a text that is none. */
export function parsePartitionKey(text: string): RecordKey | undefined {
  const [, tenant, named, id = ''] = /^(?:system|tenant#([^#]+))#([^#]+)#(.+)$/s.exec(text) ?? [];
  const kind = recordKinds.find((known) => known === named);
  if (kind === undefined) return undefined;
  const key = { kind, id };
  return tenant === undefined ? key : { ...key, tenantId: decodeURIComponent(tenant) };
}
