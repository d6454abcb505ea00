import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { createMemoryRecordsTable, releaseInto } from '#test/support/memory-records.ts';
import type { MemoryRecordsTable } from '#test/support/memory-records.ts';
import { documentChecksum } from './checksum.ts';
import { preparePolicy, writeRecord } from './release.ts';
import { sampleCalibrationFile, sampleParameters, samplePolicyFile } from '#test/support/sample-files.ts';
import { createRecordStore } from './store.ts';
import type { RecordStore } from './store.ts';

const ID = 'fractions-policy-7';
const CALIBRATION = 'fractions-2026.1';

function storeOver(
  table: MemoryRecordsTable,
  mayReadSystem: (tenantId: string) => boolean = () => true,
): RecordStore {
  return createRecordStore({ table, mayReadSystem });
}

const ownedBy = (tenantId: string, document = {}): Record<string, unknown> =>
  samplePolicyFile({ visibility: 'tenant', ...document }, { tenantId });

describe('createRecordStore', () => {
  it('gives a tenant record to its own tenant and to no other [MA-104]', async () => {
    const table = createMemoryRecordsTable();
    await releaseInto(table, ownedBy('tenant-1'));
    await releaseInto(table, sampleCalibrationFile({ visibility: 'tenant' }, { tenantId: 'tenant-1' }));
    const store = storeOver(table);
    expect(await store.policy('tenant-1', ID)).toMatchObject({ ok: true, value: { document: { id: ID } } });
    expect(await store.policy('tenant-2', ID)).toEqual({ ok: true, value: undefined });
    expect(await store.calibration('tenant-1', CALIBRATION)).toMatchObject({
      value: { document: { id: CALIBRATION } },
    });
    expect(await store.calibration('tenant-2', CALIBRATION)).toEqual({ ok: true, value: undefined });
  });

  it('gives a system record to authorized platform tenants only [MA-104]', async () => {
    const table = createMemoryRecordsTable();
    await releaseInto(table, samplePolicyFile());
    const store = storeOver(table, (tenantId) => tenantId === 'tenant-1');
    expect(await store.policy('tenant-1', ID)).toMatchObject({
      value: { document: { visibility: 'system' } },
    });
    expect(await store.policy('tenant-2', ID)).toEqual({ ok: true, value: undefined });
  });

  it('needs the authorization for system records only: own records stay readable while it cannot be had', async () => {
    const table = createMemoryRecordsTable();
    await releaseInto(table, ownedBy('tenant-1'));
    await releaseInto(table, samplePolicyFile({ id: 'system-1' }));
    const store = createRecordStore({
      table,
      mayReadSystem: () => Promise.reject(new Error('the parameter store does not answer')),
    });
    expect((await store.policy('tenant-1', ID)).ok).toBe(true);
    expect(await store.policy('tenant-1', 'absent')).toEqual({ ok: true, value: undefined });
    await expect(store.policy('tenant-1', 'system-1')).rejects.toThrow('the parameter store does not answer');
  });

  it('prefers the tenant’s own record to a system record of the same id', async () => {
    const table = createMemoryRecordsTable();
    await releaseInto(table, samplePolicyFile());
    await releaseInto(table, ownedBy('tenant-1', { maxItems: 5 }));
    const store = storeOver(table);
    expect(await store.policy('tenant-1', ID)).toMatchObject({ value: { document: { maxItems: 5 } } });
    expect(await store.policy('tenant-2', ID)).toMatchObject({ value: { document: { maxItems: 12 } } });
  });

  it('lets no tenant name and id spell another tenant’s key [MA-104]', async () => {
    const table = createMemoryRecordsTable();
    await releaseInto(table, ownedBy('a', { id: 'b#policy#c' }));
    const store = storeOver(table);
    expect(await store.policy('a#policy#b', 'c')).toEqual({ ok: true, value: undefined });
    expect(await store.policy('a', 'b#policy#c')).toMatchObject({
      value: { document: { id: 'b#policy#c' } },
    });
  });

  it.each(['\ud800', 'x'.repeat(3000)])('finds nothing under an id that no key can hold', async (id) => {
    expect(await storeOver(createMemoryRecordsTable()).policy('tenant-1', id)).toEqual({
      ok: true,
      value: undefined,
    });
  });

  it('reads a descriptor without reading its parameters, and those once per container', async () => {
    const table = createMemoryRecordsTable();
    await releaseInto(table, sampleCalibrationFile());
    const store = storeOver(table);
    const first = await store.calibration('tenant-1', CALIBRATION);
    expect(table.calls.readParameters).toBe(0);
    const parameters = first.ok ? await first.value!.parameters() : undefined;
    expect(parameters).toEqual({ ok: true, value: sampleParameters() });
    const again = await store.calibration('tenant-2', CALIBRATION);
    if (again.ok) await again.value!.parameters();
    expect(table.calls.readParameters).toBe(1);
  });

  it('keeps only the parameters that were used last', async () => {
    const table = createMemoryRecordsTable();
    for (const id of ['c1', 'c2', 'c3']) {
      const parameters = { ...sampleParameters(), scale: [1, 2, Number(id.slice(1)) + 2] };
      await releaseInto(table, sampleCalibrationFile({ id }, { parameters }));
    }
    const store = createRecordStore({ table, mayReadSystem: () => true, cachedParameters: 2 });
    for (const id of ['c1', 'c2', 'c1', 'c3', 'c1', 'c2']) {
      const entry = await store.calibration('tenant-1', id);
      if (entry.ok) expect((await entry.value!.parameters()).ok).toBe(true);
    }
    // c1, c2 and c3 once, and c2 again: it was the one that c3 pushed out.
    expect(table.calls.readParameters).toBe(4);
  });

  it.each([
    ['another value', (text: string) => text.replace('0.9', '0.8')],
    ['no JSON', () => '{'],
    ['no object', () => '[]'],
    ['nothing', () => ''],
  ])('answers a fault for a document whose bytes are %s [MA-115]', async (_name, damage) => {
    const table = createMemoryRecordsTable();
    const { key, stored } = await releaseInto(table, samplePolicyFile());
    table.corrupt(key, { document: damage(stored.document) });
    expect(await storeOver(table).policy('tenant-1', ID)).toEqual({
      ok: false,
      error: { kind: 'checksum-mismatch', lifecycle: {} },
    });
  });

  it.each(['policy', 'calibration'] as const)(
    'answers a fault for a %s of a form that this build does not know, although its checksum holds',
    async (kind) => {
      const table = createMemoryRecordsTable();
      const document = { id: 'newer', form: 'of another build' };
      const text = canonicalJson({ ...document, checksum: documentChecksum(document) });
      await table.writeOnce({ kind, id: 'newer' }, { document: text });
      expect(await storeOver(table)[kind]('tenant-1', 'newer')).toEqual({
        ok: false,
        error: { kind: 'unreadable', lifecycle: {} },
      });
    },
  );

  it('answers a fault for a policy whose exposure table is damaged, gone or of another hash, and gives a sound one', async () => {
    const table = createMemoryRecordsTable();
    const text = '{"item-1":0.25}';
    const exposure = { method: 'sympson_hetter', tableSha256: sha256Hex(text) };
    const file = samplePolicyFile({ eligibilityRules: { exposure } });
    const prepared = preparePolicy(file, { 'item-1': 0.25 });
    if (!prepared.ok) throw new Error('the policy has defects');
    const { key, stored } = prepared.value;
    await writeRecord(table, prepared.value);
    const read = () => storeOver(table).policy('tenant-1', ID);
    expect(await read()).toMatchObject({ ok: true, value: { exposureTable: { 'item-1': 0.25 } } });
    const fault = { ok: false, error: { kind: 'checksum-mismatch', lifecycle: {} } };
    for (const parameters of ['{"item-1":0.26}', undefined]) {
      table.corrupt(key, { parameters });
      expect(await read()).toEqual(fault);
    }
    for (const parameters of [undefined, { hash: '0'.repeat(64), text }]) {
      const other = createMemoryRecordsTable();
      await other.writeOnce(key, { document: stored.document, ...(parameters && { parameters }) });
      expect(await storeOver(other).policy('tenant-1', ID)).toEqual(fault);
    }
  });

  it('answers a fault for damaged parameters while the descriptor stays readable, and keeps no damaged ones', async () => {
    const table = createMemoryRecordsTable();
    const { key, stored } = await releaseInto(table, sampleCalibrationFile());
    const store = storeOver(table);
    const fault = { ok: false, error: { kind: 'checksum-mismatch', lifecycle: {} } };
    for (const parameters of [undefined, '{}', stored.parameters!.text.replace('0.9', '0.8')]) {
      table.corrupt(key, { parameters });
      const entry = await store.calibration('tenant-1', CALIBRATION);
      expect(entry.ok && (await entry.value!.parameters())).toEqual(fault);
    }
    table.corrupt(key, { parameters: stored.parameters!.text });
    const entry = await store.calibration('tenant-1', CALIBRATION);
    expect(entry.ok && (await entry.value!.parameters()).ok).toBe(true);
  });

  it('hands the lifecycle out with the record and with its faults [MA-049]', async () => {
    const table = createMemoryRecordsTable();
    const lifecycle = { deprecatedAt: '2026-06-01T00:00:00Z', sunsetAt: '2026-12-01T00:00:00Z' };
    const { key } = await releaseInto(table, sampleCalibrationFile({}, lifecycle));
    const store = storeOver(table);
    expect(await store.calibration('tenant-1', CALIBRATION)).toMatchObject({ value: { lifecycle } });
    table.corrupt(key, { document: '{}' });
    expect(await store.calibration('tenant-1', CALIBRATION)).toMatchObject({ error: { lifecycle } });
  });
});
