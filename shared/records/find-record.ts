import type * as z from 'zod';
import { createRecent } from '#shared/kernel/recent.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { isWithin } from '#shared/kernel/shared-reading.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { documentChecksum } from './checksum.ts';
import { partitionKey, type RecordKey } from './record-key.ts';
import type { Lifecycle, RecordsTable, StoredRecord } from './table.ts';

/**
 * A stored record that must not be used: its bytes are not the released ones, or this build does not know its shape (`unreadable`). The lifecycle is
 * stored separately from the document and stays usable.
 */
export interface RecordFault {
  readonly kind: 'checksum-mismatch' | 'unreadable';
  readonly lifecycle: Lifecycle;
}

/** A record whose document is intact. */
export interface IntactRecord<T> extends Omit<StoredRecord, 'document'> {
  readonly key: RecordKey;
  readonly document: T;
}

type Reading<T> = Result<IntactRecord<T> | undefined, RecordFault>;

export interface RecordReaderOptions {
  readonly table: Pick<RecordsTable, 'read' | 'readLifecycle'>;
  readonly now: () => number;
}

export interface RecordFinderOptions extends RecordReaderOptions {
  /** Returns whether a tenant is one of the authorized platform tenants, which may read system records [MA-105]. */
  readonly mayReadSystem: (tenantId: string) => boolean | Promise<boolean>;
}

/** How long a container goes by what it saw of what can change: the lifecycle of a record, and that there is none of an id. */
export const LIFECYCLE_MS = 60_000;
/** How many characters of documents a container keeps per kind. The descriptor of a large calibration has some 100,000. */
const KEPT_CHARACTERS = 8_000_000;
const KEPT_LOOKS = 10_000;

/** Reads the records of one kind, and remembers. */
export interface RecordReader<T> {
  /** Returns what was seen less than a minute ago; undefined if the container has not looked since. */
  recall(key: RecordKey): Reading<T> | undefined;
  /** Reads what can have changed. */
  read(key: RecordKey): Promise<Reading<T>>;
}

/**
 * Creates a reader that keeps each intact document, which never changes, and for a minute the lifecycle and the absence of a record. What is damaged is
 * read again each time: it may be repaired.
 */
export function createRecordReader<T>(
  schema: z.ZodType<T>,
  { table, now }: RecordReaderOptions,
): RecordReader<T> {
  const documents = createRecent<Omit<IntactRecord<T>, 'lifecycle'>>(KEPT_CHARACTERS);
  const looks = createRecent<{ readonly at: number; readonly lifecycle: Lifecycle | undefined }>(KEPT_LOOKS);
  return {
    recall(key) {
      const name = partitionKey(key);
      const look = name === undefined ? undefined : looks.get(name);
      if (name === undefined || look === undefined || !isWithin(LIFECYCLE_MS, look.at, now()))
        return undefined;
      const { lifecycle } = look;
      if (lifecycle === undefined) return ok(undefined);
      const kept = documents.get(name);
      return kept && ok({ ...kept, lifecycle });
    },
    async read(key) {
      const name = partitionKey(key);
      if (name === undefined) return ok(undefined);
      const at = now();
      const kept = documents.get(name);
      const stored = kept === undefined ? await table.read(key) : undefined;
      const lifecycle = kept === undefined ? stored?.lifecycle : await table.readLifecycle(key);
      const document = stored && verifiedDocument(stored, schema);
      if (document?.ok === false) return document;
      looks.set(name, { at, lifecycle });
      if (lifecycle === undefined) return ok(undefined);
      if (kept !== undefined) return ok({ ...kept, lifecycle });
      if (stored === undefined || document === undefined) return ok(undefined);
      const { document: text, parameters } = stored;
      const read = { key, document: document.value, ...(parameters === undefined ? {} : { parameters }) };
      documents.set(name, read, text.length);
      return ok({ ...read, lifecycle });
    },
  };
}

/**
 * Returns a record as a caller of the tenant may see it; undefined if there is none [MA-104].
 * @param checksum the only document that the caller can use
 */
export type FindRecord<T> = (tenantId: string, id: string, checksum?: string) => Promise<Reading<T>>;

/**
 * Creates a finder of a tenant's records: its own one precedes a system record of the same id. Memory refuses nothing: before a record counts
 * as absent, or as another one than a caller is pinned to, the table is read, since another container may have seen a newer release.
 */
export function createRecordFinder<T extends { readonly checksum: string }>(
  kind: RecordKey['kind'],
  reader: RecordReader<T>,
  { mayReadSystem }: Pick<RecordFinderOptions, 'mayReadSystem'>,
): FindRecord<T> {
  return async (tenantId, id, checksum) => {
    const own: RecordKey = { kind, id, tenantId };
    const system: RecordKey = { kind, id };
    async function find(read: (key: RecordKey) => Reading<T> | Promise<Reading<T>>): Promise<Reading<T>> {
      const authorized = (async () => mayReadSystem(tenantId))();
      // All at once, so that a hidden record takes as long as an absent one. A failure of the authorization counts only if a system record depends on
      // it: a tenant's own records stay readable without it.
      const [ownRecord, systemRecord] = await Promise.all([
        read(own),
        read(system),
        authorized.catch(() => undefined),
      ]);
      if (!ownRecord.ok || ownRecord.value !== undefined) return ownRecord;
      const exists = !systemRecord.ok || systemRecord.value !== undefined;
      return exists && (await authorized) ? systemRecord : ok(undefined);
    }
    const recalled = new Map([own, system].map((key) => [key, reader.recall(key)]));
    const found = await find((key) => recalled.get(key) ?? reader.read(key));
    const isUsable =
      found.ok &&
      found.value !== undefined &&
      (checksum === undefined || found.value.document.checksum === checksum);
    const isRecalled = [...recalled.values()].some((reading) => reading !== undefined);
    return isUsable || !isRecalled ? found : find((key) => reader.read(key));
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
