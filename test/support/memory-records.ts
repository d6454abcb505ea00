import { prepareCalibration, preparePolicy, writeRecord } from '#shared/records/release.ts';
import type { PreparedRecord } from '#shared/records/release.ts';
import { partitionKey } from '#shared/records/record-key.ts';
import type { RecordKey } from '#shared/records/record-key.ts';
import type { Lifecycle, NewRecord, RecordsTable, StoredRecord } from '#shared/records/table.ts';

/** A records table in memory, for tests: the same promises as the table in DynamoDB. `calls` counts what was asked. */
export interface MemoryRecordsTable extends RecordsTable {
  readonly calls: { readParameters: number };
  /** Changes stored bytes behind the interface's back, as a fault of the store would. */
  corrupt(
    key: RecordKey,
    change: { readonly document?: string; readonly parameters?: string | undefined },
  ): void;
}

interface Row {
  document: string;
  parameters: { readonly hash: string; text: string | undefined } | undefined;
  lifecycle: Lifecycle;
}

export function createMemoryRecordsTable(): MemoryRecordsTable {
  const rows = new Map<string, Row>();
  const calls = { readParameters: 0 };
  const row = (key: RecordKey): Row | undefined => rows.get(partitionKey(key) ?? '');
  return {
    calls,
    read(key) {
      const found = row(key);
      if (found === undefined) return Promise.resolve(undefined);
      const { document, parameters, lifecycle } = found;
      const stored: StoredRecord = {
        document,
        lifecycle,
        ...(parameters === undefined ? {} : { parameters: { hash: parameters.hash, parts: 1 } }),
      };
      return Promise.resolve(stored);
    },
    readParameters(key) {
      calls.readParameters += 1;
      return Promise.resolve(row(key)?.parameters?.text);
    },
    writeOnce(key, record: NewRecord) {
      const at = partitionKey(key);
      if (at === undefined) throw new RangeError('writeOnce: the key is not storable');
      if (rows.has(at)) return Promise.resolve('exists');
      rows.set(at, {
        document: record.document,
        parameters: record.parameters && { ...record.parameters },
        lifecycle: {},
      });
      return Promise.resolve('written');
    },
    setLifecycle(key, lifecycle) {
      const found = row(key);
      if (found !== undefined) found.lifecycle = lifecycle;
      return Promise.resolve();
    },
    corrupt(key, change) {
      const found = row(key);
      if (found === undefined) return;
      if (change.document !== undefined) found.document = change.document;
      if ('parameters' in change && found.parameters !== undefined) found.parameters.text = change.parameters;
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
