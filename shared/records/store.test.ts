import { beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { createMemoryRecordsTable, releaseInto } from '#test/support/memory-records.ts';
import type { MemoryRecordsTable } from '#test/support/memory-records.ts';
import { sampleCalibrationFile, sampleParameters, samplePolicyFile } from '#test/support/sample-files.ts';
import { documentChecksum } from './checksum.ts';
import type { RecordKey } from './record-key.ts';
import { preparePolicy, writeRecord } from './release.ts';
import { createRecordStore, type RecordStore } from './store.ts';

// Whose records a tenant sees, and its own before the platform's: functions/mastery/endpoints/configuration-reads.test.ts and
// functions/mastery/records/load.test.ts.

let table: MemoryRecordsTable;
let store: RecordStore;
const now = Date.parse('2026-03-01T08:00:00Z');
beforeEach(() => {
  table = createMemoryRecordsTable();
  store = createRecordStore({ table, mayReadSystem: () => true, now: () => now });
});

const fault = (kind: 'checksum-mismatch' | 'unreadable') => err({ kind, lifecycle: {} });
const textOf = (text: string) => ({ hash: sha256Hex(text), text });
const ownedBy = (tenantId: string, id: string) =>
  releaseInto(table, samplePolicyFile({ visibility: 'tenant', id }, { tenantId }));
async function readParameters(id: string) {
  const entry = await store.calibration('tenant-1', id);
  return entry.ok ? entry.value!.parameters() : entry;
}

it('asks for the authorization whatever is there, and needs it for system records only: own records stay readable while it cannot be had', async () => {
  let asked = 0;
  await ownedBy('tenant-1', 'own-1');
  await releaseInto(table, samplePolicyFile({ id: 'system-1' }));
  store = createRecordStore({
    table,
    now: () => now,
    mayReadSystem() {
      asked += 1;
      return Promise.reject(new Error('the parameter store does not answer'));
    },
  });
  expect((await store.policy('tenant-1', 'own-1')).ok).toBe(true);
  expect(await store.policy('tenant-1', 'absent')).toEqual(ok(undefined));
  await expect(store.policy('tenant-1', 'system-1')).rejects.toThrow('the parameter store does not answer');
  expect(asked).toBe(3);
});

it('asks the table as often about a record that a tenant may not see as about one that does not exist, also if others use it [MA-104]', async () => {
  await releaseInto(table, samplePolicyFile({ id: 'system-1' }));
  let waiting = 0;
  let rounds = 0;
  /** Counts calls at the same time as one round. */
  const counted =
    <Arguments extends readonly unknown[], T>(call: (...given: Arguments) => Promise<T>) =>
    async (...given: Arguments): Promise<T> => {
      if (waiting === 0) rounds += 1;
      waiting += 1;
      const answer = await call(...given);
      waiting -= 1;
      return answer;
    };
  store = createRecordStore({
    table: {
      ...table,
      read: counted((key: RecordKey) => table.read(key)),
      readLifecycle: counted((key: RecordKey) => table.readLifecycle(key)),
    },
    now: () => now,
    mayReadSystem: (tenantId) => tenantId === 'tenant-1',
  });
  const roundsOf = async (tenantId: string, id: string): Promise<number> => {
    rounds = 0;
    await store.policy(tenantId, id);
    return rounds;
  };
  expect([await roundsOf('tenant-1', 'system-1'), await roundsOf('tenant-1', 'system-1')]).toEqual([1, 0]);
  for (const id of ['system-1', 'absent', 'system-1', 'absent'])
    expect([id, await roundsOf('tenant-2', id)]).toEqual([id, 1]);
});

it('lets no tenant name and id spell another tenant’s key, and finds nothing under an id that no key can hold [MA-104]', async () => {
  await ownedBy('a', 'b#policy#c');
  expect(await store.policy('a', 'b#policy#c')).toMatchObject({ value: { document: { id: 'b#policy#c' } } });
  for (const [tenantId, id] of [
    ['a#policy#b', 'c'],
    ['a', '\ud800'],
    ['a', 'x'.repeat(3000)],
  ] as const)
    expect(await store.policy(tenantId, id)).toEqual(ok(undefined));
});

it('reads the parameters of each calibration once', async () => {
  for (const id of ['c1', 'c2', 'c3', 'c4', 'c5']) {
    const parameters = { ...sampleParameters(), scale: [1, 2, Number(id.slice(1)) + 2] };
    await releaseInto(table, sampleCalibrationFile({ id }, { parameters }));
  }
  for (const id of ['c1', 'c2', 'c3', 'c4', 'c1', 'c5', 'c1', 'c2'])
    expect(await readParameters(id)).toMatchObject({ ok: true });
  expect(table.calls.readParameters).toBe(5);
});

describe('what is damaged is a fault', () => {
  it.each(['{', '[]', ''])('a document whose bytes are %j [MA-115]', async (document) => {
    const { key } = await releaseInto(table, samplePolicyFile());
    table.corrupt(key, { document });
    expect(await store.policy('tenant-1', key.id)).toEqual(fault('checksum-mismatch'));
  });

  it.each(['policy', 'calibration'] as const)(
    'a %s of a form that this build does not know, although its checksum holds',
    async (kind) => {
      const document = { id: 'newer', form: 'of another build' };
      const text = canonicalJson({ ...document, checksum: documentChecksum(document) });
      await table.writeOnce({ kind, id: 'newer' }, { document: text });
      expect(await store[kind]('tenant-1', 'newer')).toEqual(fault('unreadable'));
    },
  );

  it('a policy whose exposure table is damaged, gone or of another hash; a sound one is given', async () => {
    const text = '{"item-1":0.25}';
    const exposure = { method: 'sympson_hetter', tableSha256: sha256Hex(text) };
    const prepared = preparePolicy(samplePolicyFile({ eligibilityRules: { exposure } }), { 'item-1': 0.25 });
    if (!prepared.ok) throw new Error('the policy has defects');
    const { key, stored } = prepared.value;
    await writeRecord(table, prepared.value);
    for (const parameters of ['{"item-1":0.26}', undefined]) {
      table.corrupt(key, { parameters });
      expect(await store.policy('tenant-1', key.id)).toEqual(fault('checksum-mismatch'));
    }
    table.corrupt(key, { parameters: text });
    expect(await store.policy('tenant-1', key.id)).toMatchObject({
      value: { exposureTable: { 'item-1': 0.25 } },
    });
    for (const [id, parameters] of Object.entries({
      none: {},
      other: { parameters: textOf('{"item-1":0.5}') },
    })) {
      await table.writeOnce({ ...key, id }, { document: stored.document, ...parameters });
      expect(await store.policy('tenant-1', id)).toEqual(fault('checksum-mismatch'));
    }
  });

  it('damaged parameters, which are not kept, none at all, and parameters of a form that this build does not know', async () => {
    const { key, stored } = await releaseInto(table, sampleCalibrationFile());
    for (const parameters of [undefined, '{}']) {
      table.corrupt(key, { parameters });
      expect(await readParameters(key.id)).toEqual(fault('checksum-mismatch'));
    }
    table.corrupt(key, { parameters: stored.parameters!.text });
    expect(await readParameters(key.id)).toEqual(ok(sampleParameters()));
    for (const [id, other] of Object.entries({ none: {}, newer: { parameters: textOf('{}') } })) {
      await table.writeOnce({ ...key, id }, { document: stored.document, ...other });
      expect(await readParameters(id)).toEqual(fault('unreadable'));
    }
  });
});
