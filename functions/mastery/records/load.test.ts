import { describe, expect, it } from 'vitest';
import { compileModel } from '#functions/mastery/engine/index.ts';
import { err } from '#shared/kernel/result.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { createMemoryRecordsTable, releaseInto } from '#test/support/memory-records.ts';
import type { MemoryRecordsTable } from '#test/support/memory-records.ts';
import { sampleCalibrationFile, samplePolicyFile } from '#test/support/sample-files.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { createRunRecords } from './load.ts';
import type { RunRecords } from './load.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const CALIBRATION = 'fractions-2026.1';
const POLICY = 'fractions-policy-7';

async function released(file: Record<string, unknown>) {
  const table = createMemoryRecordsTable();
  return { table, record: await releaseInto(table, file) };
}

const recordsOver = (table: MemoryRecordsTable, compile?: typeof compileModel): RunRecords =>
  createRunRecords(createRecordStore({ table, mayReadSystem: () => true }), compile);

describe.each([
  ['policy', samplePolicyFile, POLICY],
  ['calibration', sampleCalibrationFile, CALIBRATION],
] as const)('a %s', (kind, sample, id) => {
  it('is loaded in the pinned version; one of another tenant is like none [MA-104, MA-151]', async () => {
    const { table } = await released(sample({ visibility: 'tenant' }, { tenantId: 'tenant-1' }));
    const records = recordsOver(table);
    const load = (tenantId: string, asked: string): Promise<unknown> =>
      kind === 'policy' ? records.loadPolicy(tenantId, asked) : records.loadCalibration(tenantId, asked, NOW);
    expect(await load('tenant-1', id)).toMatchObject({ ok: true });
    const foreign = await load('tenant-2', id);
    expect(foreign).toMatchObject({ ok: false, error: { status: 404, code: 'resource-not-found' } });
    expect(await load('tenant-2', 'absent')).toEqual(foreign);
  });
});

it('loadPolicy never lets a run continue under a damaged policy', async () => {
  const { table, record } = await released(samplePolicyFile());
  table.corrupt(record.key, { document: record.stored.document.replace('"maxItems":12', '"maxItems":99') });
  await expect(recordsOver(table).loadPolicy('tenant-1', POLICY)).rejects.toThrow('checksum-mismatch');
});

describe('loadCalibration', () => {
  it('gives descriptor, parameters and compiled model, compiled once per container', async () => {
    const { table } = await released(sampleCalibrationFile());
    const compiled: (string | undefined)[] = [];
    const records = recordsOver(table, (parameters, runtimeVersion) => {
      compiled.push(runtimeVersion);
      return compileModel(parameters, runtimeVersion);
    });
    const first = await records.loadCalibration('tenant-1', CALIBRATION, NOW);
    expect(first).toMatchObject({
      ok: true,
      value: {
        document: { id: CALIBRATION },
        model: { itemIds: ['av-1', 'av-2', 'av-3'] },
      },
    });
    await records.loadCalibration('tenant-2', CALIBRATION, NOW);
    expect(compiled).toEqual(['ho-cdm-grid-1']);
    expect(table.calls.readParameters).toBe(1);
  });

  it.each([
    ['2025-12-31T23:59:59.999Z', 422],
    ['2026-01-01T00:00:00Z', undefined],
    ['2026-12-31T23:59:59.999Z', undefined],
    ['2027-01-01T00:00:00Z', 422],
  ])(
    'holds a run at %s to the validity: from inclusive, until exclusive [MA-042, MA-153]',
    async (now, status) => {
      const { table } = await released(sampleCalibrationFile());
      const loaded = await recordsOver(table).loadCalibration('tenant-1', CALIBRATION, Date.parse(now));
      expect(loaded.ok ? undefined : loaded.error.status).toBe(status);
    },
  );

  it('answers 422 for a damaged descriptor or damaged parameters [MA-195]', async () => {
    const { table, record } = await released(sampleCalibrationFile());
    // Parameters of the right form, of which one digit is another.
    const { text } = record.stored.parameters!;
    expect(text).toContain('0.85');
    table.corrupt(record.key, { parameters: text.replace('0.85', '0.86') });
    const damaged = await recordsOver(table).loadCalibration('tenant-1', CALIBRATION, NOW);
    expect(damaged).toMatchObject({
      ok: false,
      error: { status: 422, code: 'calibration-invalid', retryable: false },
    });
    table.corrupt(record.key, { document: record.stored.document.replace('Mathematics', 'Science') });
    expect(await recordsOver(table).loadCalibration('tenant-1', CALIBRATION, NOW)).toEqual(damaged);
  });

  it('answers 422 when the engine refuses the parameters, and keeps no refusal [MA-195]', async () => {
    const { table } = await released(sampleCalibrationFile());
    let refuse = true;
    const records = recordsOver(table, (parameters) =>
      refuse ? err([{ pointer: '/scale', message: 'is not increasing' }]) : compileModel(parameters),
    );
    expect(await records.loadCalibration('tenant-1', CALIBRATION, NOW)).toMatchObject({
      error: { status: 422 },
    });
    refuse = false;
    expect((await records.loadCalibration('tenant-1', CALIBRATION, NOW)).ok).toBe(true);
  });

  it('answers 422 for a runtime that this build does not hold, without reading the parameters [MA-195]', async () => {
    const { table, record } = await released(sampleCalibrationFile());
    const document = {
      ...(JSON.parse(record.stored.document) as Record<string, unknown>),
      runtimeVersion: 'ho-cdm-grid-9',
    };
    const text = JSON.stringify({ ...document, checksum: documentChecksum(document) });
    table.corrupt(record.key, { document: text });
    expect(await recordsOver(table).loadCalibration('tenant-1', CALIBRATION, NOW)).toMatchObject({
      error: { status: 422, code: 'calibration-invalid' },
    });
    expect(table.calls.readParameters).toBe(0);
  });
});
