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
/** How many characters of keys it remembers having looked at. */
const KEPT_KEYS = 2_000_000;

/** What a container has seen of a key: no record, or one that it verifies when it is opened. */
interface Look<T> {
  readonly lifecycle: Lifecycle | undefined;
  readonly open: () => Reading<T>;
}

/** Reads the records of one kind, and remembers. */
export interface RecordReader<T> {
  /** Returns what was seen less than a minute ago; undefined if the container has not looked since. */
  recall(key: RecordKey): Look<T> | undefined;
  /** Reads what can have changed. @param checksum the only document that the caller can use: another one that is kept is read again */
  look(key: RecordKey, checksum?: string): Promise<Look<T>>;
}

/**
 * Creates a reader that keeps each intact document, which never changes, and for a minute the lifecycle and the absence of a record. What is damaged is
 * read again each time: it may be repaired.
 */
export function createRecordReader<T extends { readonly checksum: string }>(
  schema: z.ZodType<T>,
  { table, now }: RecordReaderOptions,
): RecordReader<T> {
  type Kept = Omit<IntactRecord<T>, 'lifecycle'>;
  const documents = createRecent<Kept>(KEPT_CHARACTERS);
  const looks = createRecent<{ readonly at: number; readonly lifecycle: Lifecycle | undefined }>(KEPT_KEYS);
  const absent: Look<T> = { lifecycle: undefined, open: () => ok(undefined) };
  const intact = (kept: Kept, lifecycle: Lifecycle): Look<T> => ({
    lifecycle,
    open: () => ok({ ...kept, lifecycle }),
  });
  function remember(name: string, at: number, lifecycle: Lifecycle | undefined): void {
    // A slower read of an earlier state does not replace a later one.
    const last = looks.get(name);
    if (last === undefined || last.at <= at || last.at > now())
      looks.set(name, { at, lifecycle }, name.length);
  }
  return {
    recall(key) {
      const name = partitionKey(key);
      if (name === undefined) return absent;
      const last = looks.get(name);
      if (last === undefined || !isWithin(LIFECYCLE_MS, last.at, now())) return undefined;
      if (last.lifecycle === undefined) return absent;
      const kept = documents.get(name);
      return kept && intact(kept, last.lifecycle);
    },
    async look(key, checksum) {
      const name = partitionKey(key);
      if (name === undefined) return absent;
      const at = now();
      const kept = documents.get(name);
      if (kept !== undefined && (checksum === undefined || kept.document.checksum === checksum)) {
        const lifecycle = await table.readLifecycle(key);
        remember(name, at, lifecycle);
        return intact(kept, lifecycle);
      }
      const stored = await table.read(key);
      if (stored === undefined) {
        remember(name, at, undefined);
        return absent;
      }
      const { lifecycle, parameters } = stored;
      return {
        lifecycle,
        open() {
          const document = verifiedDocument(stored, schema);
          if (!document.ok) return document;
          const read = { key, document: document.value, ...(parameters === undefined ? {} : { parameters }) };
          documents.set(name, read, stored.document.length);
          remember(name, at, lifecycle);
          return ok({ ...read, lifecycle });
        },
      };
    },
  };
}

/**
 * Returns a record as a caller of the tenant may see it; undefined if there is none [MA-104].
 * @param checksum the only document that the caller can use
 */
export type FindRecord<T> = (tenantId: string, id: string, checksum?: string) => Promise<Reading<T>>;

/**
 * Creates a finder of a tenant's records: its own one precedes a system record of the same id. Memory refuses nothing: before a record counts as absent,
 * as blocked, or as another one than a caller is pinned to, the table is read, since another container may have seen what is newer.
 */
export function createRecordFinder<T extends { readonly checksum: string }>(
  kind: RecordKey['kind'],
  reader: RecordReader<T>,
  { mayReadSystem }: Pick<RecordFinderOptions, 'mayReadSystem'>,
): FindRecord<T> {
  return async (tenantId, id, checksum) => {
    const own: RecordKey = { kind, id, tenantId };
    const system: RecordKey = { kind, id };
    const authorized = (async () => mayReadSystem(tenantId))();
    // It counts only if a system record depends on it: a tenant's own records stay readable without it.
    const awaited = authorized.catch(() => undefined);
    const remembered = reader.recall(own);
    const known = remembered?.lifecycle === undefined ? reader.recall(system) : remembered;
    if (remembered !== undefined && known !== undefined) {
      const isVisible = remembered.lifecycle !== undefined || (await awaited) === true;
      const found = isVisible ? known.open() : ok(undefined);
      const isUsable =
        found.ok &&
        found.value !== undefined &&
        found.value.lifecycle.blockedAt === undefined &&
        (checksum === undefined || found.value.document.checksum === checksum);
      if (isUsable) return found;
    }
    // All at once and only then opened, so that a hidden record takes as long as an absent one.
    const [ownLook, systemLook] = await Promise.all([
      reader.look(own, checksum),
      reader.look(system, checksum),
      awaited,
    ]);
    if (ownLook.lifecycle !== undefined) return ownLook.open();
    if (systemLook.lifecycle === undefined || !(await authorized)) return ok(undefined);
    return systemLook.open();
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
