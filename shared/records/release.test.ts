import { describe, expect, it } from 'vitest';
import { createMemoryRecordsTable } from '#test/support/memory-records.ts';
import { deprecateRecord, prepareCalibration, preparePolicy, writeRecord } from './release.ts';
import type { PreparedRecord } from './release.ts';
import { sampleCalibrationFile, sampleParameters, samplePolicyFile } from '#test/support/sample-files.ts';
import type { RecordsTable } from './table.ts';

function policy(document: Record<string, unknown> = {}): PreparedRecord {
  const prepared = preparePolicy(samplePolicyFile(document));
  if (!prepared.ok) throw new Error('the sample policy has defects');
  return prepared.value;
}

function calibration(parameters: Record<string, unknown>): PreparedRecord {
  const prepared = prepareCalibration(sampleCalibrationFile({}, { parameters }), () => []);
  if (!prepared.ok) throw new Error('the sample calibration has defects');
  return prepared.value;
}

describe('preparePolicy', () => {
  const table = { 'item-1': 0.25 };
  // `printf '{"item-1":0.25}' | sha256sum`
  const tableSha256 = '1e6bf0c3d1dc3a43d9f1ea07d04d83b560e9e5e196790c0d2c3182a99546c0f9';
  const under = (exposure: object, given?: typeof table) =>
    preparePolicy(samplePolicyFile({ eligibilityRules: { exposure } }), given);
  const refused = (message: string) => ({
    ok: false,
    error: [
      { pointer: '/document/eligibilityRules/exposure', message: expect.stringContaining(message) as string },
    ],
  });

  it('stores the table that a policy of sympson_hetter names beside it, and no other', () => {
    const exposure = { method: 'sympson_hetter', tableSha256 };
    expect(under(exposure, table)).toMatchObject({
      ok: true,
      value: { stored: { parameters: { hash: tableSha256, text: '{"item-1":0.25}' } } },
    });
    expect(under(exposure)).toEqual(refused('needs its table'));
    const other = { method: 'sympson_hetter', tableSha256: '0'.repeat(64) };
    expect(under(other, table)).toEqual(refused(`whose tableSha256 is ${tableSha256}`));
    expect(under({ method: 'progressive' }, table)).toEqual(refused('takes no table'));
    expect(under({ method: 'progressive' })).toMatchObject({ ok: true });
  });
});

describe('writeRecord', () => {
  it('writes once, and says of the same content that it was there already [MA-228]', async () => {
    const table = createMemoryRecordsTable();
    expect(await writeRecord(table, policy())).toMatchObject({ ok: true, value: { already: false } });
    expect(await writeRecord(table, policy())).toMatchObject({ ok: true, value: { already: true } });
  });

  it('refuses other content under an id that is taken, and leaves the first as it was [MA-228]', async () => {
    const table = createMemoryRecordsTable();
    const first = policy();
    await writeRecord(table, first);
    const refused = await writeRecord(table, policy({ maxItems: 13 }));
    expect(refused).toMatchObject({ ok: false, error: { kind: 'id-taken' } });
    expect((await table.read(first.key))?.document).toBe(first.stored.document);
  });

  it('refuses other parameters under the same descriptor [MA-228]', async () => {
    const table = createMemoryRecordsTable();
    await writeRecord(table, calibration(sampleParameters()));
    const refused = await writeRecord(table, calibration({ ...sampleParameters(), scale: [1, 2, 3] }));
    expect(refused).toMatchObject({ ok: false, error: { kind: 'id-taken' } });
  });

  it('judges by content when another writer wins between the look and the write [MA-228]', async () => {
    const same = policy();
    for (const [winner, outcome] of [
      [same, { ok: true, value: { already: true } }],
      [policy({ maxItems: 13 }), { ok: false, error: { kind: 'id-taken' } }],
    ] as const) {
      const table = createMemoryRecordsTable();
      const raced: RecordsTable = {
        ...table,
        writeOnce: async (key, record) => {
          await table.writeOnce(winner.key, winner.stored);
          return table.writeOnce(key, record);
        },
      };
      expect(await writeRecord(raced, same)).toMatchObject(outcome);
    }
  });

  it('stores numbers and members in canonical form: another spelling is the same content', () => {
    const reordered = preparePolicy(
      JSON.parse(JSON.stringify(samplePolicyFile()).replace('"kcCutScore":0.5', '"kcCutScore":5.0e-1')),
    );
    expect(reordered.ok && reordered.value.stored.document).toBe(policy().stored.document);
  });
});

describe('deprecateRecord', () => {
  const deprecatedAt = '2026-06-01T00:00:00Z';

  it('sets and moves the deprecation of a record, and leaves the document alone [MA-049, MA-228]', async () => {
    const table = createMemoryRecordsTable();
    const { key, stored } = policy();
    await writeRecord(table, policy());
    expect((await deprecateRecord(table, key, { deprecatedAt })).ok).toBe(true);
    const sunsetAt = '2026-09-01T00:00:00Z';
    expect((await deprecateRecord(table, key, { deprecatedAt, sunsetAt })).ok).toBe(true);
    expect(await table.read(key)).toEqual({
      document: stored.document,
      lifecycle: { deprecatedAt, sunsetAt },
    });
  });

  it('refuses a sunset before the deprecation and times that are no instants [MA-050]', async () => {
    const table = createMemoryRecordsTable();
    const { key } = policy();
    await writeRecord(table, policy());
    for (const change of [
      { deprecatedAt, sunsetAt: '2026-05-01T00:00:00Z' },
      { deprecatedAt: '2026-06-31T00:00:00Z' },
    ]) {
      expect(await deprecateRecord(table, key, change)).toMatchObject({
        ok: false,
        error: { kind: 'defects' },
      });
    }
    expect((await table.read(key))?.lifecycle).toEqual({});
  });

  it('knows no record that was never released', async () => {
    const { key } = policy();
    expect(await deprecateRecord(createMemoryRecordsTable(), key, { deprecatedAt })).toEqual({
      ok: false,
      error: { kind: 'not-found' },
    });
  });
});
