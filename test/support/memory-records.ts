import { prepareCalibration, preparePolicy, writeRecord } from '#shared/records/release.ts';
import type { PreparedRecord } from '#shared/records/release.ts';
import { partitionKey, type RecordKey } from '#shared/records/record-key.ts';
import type { RecordsTable, StoredRecord } from '#shared/records/table.ts';

/** A records table in memory, for tests: the same promises as the table in DynamoDB. `calls` counts what was asked. */
export interface MemoryRecordsTable extends RecordsTable {
  readonly calls: { read: number; readLifecycle: number; readParameters: number };
  /** Changes stored bytes behind the interface's back, as a fault of the store would. */
  corrupt(
    key: RecordKey,
    change: { readonly document?: string; readonly parameters?: string | undefined },
  ): void;
}

export function createMemoryRecordsTable(): MemoryRecordsTable {
  const rows = new Map<string, { stored: StoredRecord; parameters: string | undefined }>();
  const calls = { read: 0, readLifecycle: 0, readParameters: 0 };
  const row = (key: RecordKey) => rows.get(partitionKey(key) ?? '');
  return {
    calls,
    read(key) {
      calls.read += 1;
      return Promise.resolve(row(key)?.stored);
    },
    readLifecycle(key) {
      calls.readLifecycle += 1;
      return Promise.resolve(row(key)!.stored.lifecycle);
    },
    readParameters(key) {
      calls.readParameters += 1;
      return Promise.resolve(row(key)?.parameters);
    },
    writeOnce(key, { document, parameters }) {
      const at = partitionKey(key);
      if (at === undefined) throw new RangeError('writeOnce: the key is not storable');
      if (rows.has(at)) return Promise.resolve('exists');
      const reference = parameters && { parameters: { hash: parameters.hash, parts: 1 } };
      rows.set(at, { stored: { document, lifecycle: {}, ...reference }, parameters: parameters?.text });
      return Promise.resolve('written');
    },
    changeLifecycle(key, change) {
      const found = row(key);
      if (found === undefined) return Promise.resolve();
      const changed = Object.entries({ ...found.stored.lifecycle, ...change });
      const lifecycle = Object.fromEntries(changed.filter(([, value]) => value !== null));
      found.stored = { ...found.stored, lifecycle };
      return Promise.resolve();
    },
    corrupt(key, { document, ...change }) {
      const found = row(key)!;
      if (document !== undefined) found.stored = { ...found.stored, document };
      if ('parameters' in change) found.parameters = change.parameters;
    },
  };
}

/** Releases a policy or a calibration, which has parameters, into a table; the model's own check is left out. */
export async function releaseInto(
  table: RecordsTable,
  file: Readonly<Record<string, unknown>>,
): Promise<PreparedRecord> {
  const prepared = 'parameters' in file ? prepareCalibration(file, () => []) : preparePolicy(file);
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.error));
  await writeRecord(table, prepared.value);
  return prepared.value;
}
