import { describe, expect, it } from 'vitest';
import { createMemoryRecordsTable } from '#test/support/memory-records.ts';
import { prepareCalibration, preparePolicy, writeRecord, type PreparedRecord } from './release.ts';
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

it('a policy takes the table of sympson_hetter only if it names one', () => {
  const exposure = { method: 'progressive' };
  const file = samplePolicyFile({ eligibilityRules: { exposure } });
  expect(preparePolicy(file)).toMatchObject({ ok: true });
  expect(preparePolicy(file, { 'item-1': 0.25 })).toMatchObject({
    error: [
      {
        pointer: '/document/eligibilityRules/exposure',
        message: expect.stringContaining('takes no table') as string,
      },
    ],
  });
});

describe('writeRecord', () => {
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
});
