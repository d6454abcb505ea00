import type * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { documentChecksum } from './checksum.ts';
import type { RecordKey } from './record-key.ts';
import type { Lifecycle, RecordsTable, StoredRecord } from './table.ts';

/**
 * A stored record that must not be used: its bytes are not the released ones, or this build does not know its shape (`unreadable`). The lifecycle is
 * stored separately from the document and stays usable.
 */
export interface RecordFault {
  readonly kind: 'checksum-mismatch' | 'unreadable';
  readonly lifecycle: Lifecycle;
}

export interface RecordFinderOptions {
  readonly table: RecordsTable;
  /** Returns whether a tenant is one of the authorized platform tenants, which may read system records [MA-105]. */
  readonly mayReadSystem: (tenantId: string) => boolean | Promise<boolean>;
}

/** Returns a record as a caller of the tenant may see it; undefined if there is none [MA-104]. */
export type FindRecord = (
  kind: RecordKey['kind'],
  tenantId: string,
  id: string,
) => Promise<{ readonly key: RecordKey; readonly stored: StoredRecord } | undefined>;

/** Creates a finder of a tenant's records: its own one precedes a system record of the same id. */
export function createRecordFinder({ table, mayReadSystem }: RecordFinderOptions): FindRecord {
  return async (kind, tenantId, id) => {
    const own: RecordKey = { kind, id, tenantId };
    const system: RecordKey = { kind, id };
    const authorized = (async () => mayReadSystem(tenantId))();
    // All at once, so that a hidden record takes as long as an absent one. A failure of the authorization counts only if a system record depends on
    // it: a tenant's own records stay readable without it.
    const [ownRecord, systemRecord] = await Promise.all([
      table.read(own),
      table.read(system),
      authorized.catch(() => undefined),
    ]);
    if (ownRecord !== undefined) return { key: own, stored: ownRecord };
    return systemRecord !== undefined && (await authorized)
      ? { key: system, stored: systemRecord }
      : undefined;
  };
}

/** Returns the document if its text is intact, i.e. its own checksum matches [MA-115, MA-122], and has the form that this build knows. */
export function verifiedDocument<T>(
  { document: text, lifecycle }: StoredRecord,
  schema: z.ZodType<T>,
): Result<T, RecordFault> {
  const document = parseObject(text);
  if (document === undefined || document['checksum'] !== documentChecksum(document))
    return err({ kind: 'checksum-mismatch', lifecycle });
  const { success, data } = schema.safeParse(document);
  return success ? ok(data) : err({ kind: 'unreadable', lifecycle });
}

/** Parses an object. Damaged bytes need not even be JSON. */
function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = parseStrictJson(text);
  return parsed.ok && typeof parsed.value === 'object' && parsed.value !== null
    ? (parsed.value as Readonly<Record<string, unknown>>)
    : undefined;
}
