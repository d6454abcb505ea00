import { describe, expect, it } from 'vitest';
import { createRunRecords } from '#functions/mastery/records/load.ts';
import { canonicalJson, hashCanonical } from '#shared/kernel/canonical-json.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { createMemoryRecordsTable, releaseInto } from '#test/support/memory-records.ts';
import { sampleCalibrationFile, sampleParameters, samplePolicyFile } from '#test/support/sample-files.ts';
import { createRecordStore } from '#shared/records/store.ts';
import type { RunDependencies } from './dependencies.ts';
import { loadPinnedRecords, loadRecords } from './pinned-records.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

const TENANT = 'tenant-1';
const STARTED = Date.parse('2026-12-31T12:00:00Z');
/** When the sample calibration is valid no more. */
const EXPIRED = Date.parse('2027-01-01T00:00:00Z');

const invalid = { ok: false, error: { status: 422, code: 'calibration-invalid', retryable: false } };

/** A system policy and calibration, and the state of a run that is pinned to them. */
async function pinned() {
  const table = createMemoryRecordsTable();
  const policy = await releaseInto(table, samplePolicyFile());
  const calibration = await releaseInto(table, sampleCalibrationFile());
  const store = createRecordStore({ table, mayReadSystem: () => true });
  const dependencies = {
    records: createRunRecords(store),
  } as unknown as RunDependencies;
  const state = {
    tenantId: TENANT,
    selectionPolicyId: policy.key.id,
    selectionPolicyChecksum: policy.checksum,
    scaleCalibrationId: calibration.key.id,
    scaleCalibrationChecksum: calibration.checksum,
    startedAt: STARTED,
    stopReason: null,
  } as unknown as AdaptiveRunState;
  return { table, dependencies, state };
}

describe('loadPinnedRecords', () => {
  it('refuses a run that still offers items once its calibration has expired [MA-161, MA-167]', async () => {
    const { dependencies, state } = await pinned();
    expect(await loadPinnedRecords(dependencies, state, EXPIRED - 1)).toMatchObject({ ok: true });
    expect(await loadPinnedRecords(dependencies, state, EXPIRED)).toMatchObject(invalid);
  });

  it('lets a run that has stopped be published under the calibration that was valid at its start', async () => {
    const { dependencies, state } = await pinned();
    const stopped: AdaptiveRunState = { ...state, stopReason: 'max_items' };
    expect(await loadPinnedRecords(dependencies, stopped, EXPIRED)).toMatchObject({ ok: true });
    const neverValid: AdaptiveRunState = { ...stopped, startedAt: EXPIRED };
    expect(await loadPinnedRecords(dependencies, neverValid, EXPIRED)).toMatchObject(invalid);
  });

  it.each([
    ['policy', samplePolicyFile({ visibility: 'tenant', maxItems: 5 }, { tenantId: TENANT })],
    [
      'calibration',
      sampleCalibrationFile({ visibility: 'tenant', subject: 'Reading' }, { tenantId: TENANT }),
    ],
  ])('refuses a %s that has come to stand before the pinned one under the same id', async (_, own) => {
    const { table, dependencies, state } = await pinned();
    await releaseInto(table, own);
    expect(await loadPinnedRecords(dependencies, state, STARTED)).toMatchObject(invalid);
  });

  it.each([
    ['unsorted components', {}, { kcs: (sampleParameters()['kcs'] as object[]).toReversed() }],
    ['a framework in capitals', { caseFrameworkGuid: 'A0000000-0000-4000-8000-000000000001' }, {}],
  ])('lets a run go on with %s, on which none starts any more [MA-026]', async (_, change, parameters) => {
    const { table, dependencies, state } = await pinned();
    const stored = { ...sampleParameters(), ...parameters };
    const document = { ...sampleCalibrationFile({ id: 'unsorted', ...change })['document']! };
    const checksum = documentChecksum(document);
    await table.writeOnce(
      { kind: 'calibration', id: 'unsorted' },
      {
        document: canonicalJson({ ...document, checksum }),
        parameters: { hash: hashCanonical(stored), text: canonicalJson(stored) },
      },
    );
    const ids = { selectionPolicyId: state.selectionPolicyId, scaleCalibrationId: 'unsorted' };
    expect(await loadRecords(dependencies, TENANT, ids, STARTED)).toMatchObject(invalid);
    const underWay = { ...state, ...ids, scaleCalibrationChecksum: checksum };
    expect(await loadPinnedRecords(dependencies, underWay, STARTED)).toMatchObject({ ok: true });
  });
});
