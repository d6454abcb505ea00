import { describe, expect, it } from 'vitest';
import { canonicalJson, hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import type { RecordKey } from '#shared/records/record-key.ts';
import { LIFECYCLE_MS } from '#shared/records/find-record.ts';
import { blockRecord, deprecateRecord } from '#shared/records/release.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { createMemoryRecordsTable, releaseInto } from '#test/support/memory-records.ts';
import type { MemoryRecordsTable } from '#test/support/memory-records.ts';
import { exampleState } from '#test/support/example-run.ts';
import {
  KC_A,
  KC_B,
  sampleCalibrationFile,
  sampleParameters,
  samplePolicyFile,
} from '#test/support/sample-files.ts';
import { loadNamed, loadPinned } from './load.ts';

const TENANT = 'tenant-1';
const FIRST_VALID = Date.parse('2026-01-01T00:00:00Z');
const EXPIRED = Date.parse('2027-01-01T00:00:00Z');
const invalid = err({ status: 422, code: 'calibration-invalid', retryable: false });
const found = { ok: true };

/** A system policy and a calibration as they are, without the release's checks, and a run that is pinned to them. */
async function released(change: Partial<Record<'policy' | 'document' | 'parameters', object>> = {}) {
  const table = createMemoryRecordsTable();
  const write = async (key: RecordKey, content: unknown, beside: object = {}): Promise<string> => {
    const document = { ...(content as object) };
    const checksum = documentChecksum(document);
    await table.writeOnce(key, { document: canonicalJson({ ...document, checksum }), ...beside });
    return checksum;
  };
  const key = { kind: 'calibration', id: 'fractions-2026.1' } as const;
  const stored = { ...sampleParameters(), ...change.parameters };
  const parameters = { hash: hashCanonical(stored), text: canonicalJson(stored) };
  const selectionPolicyId = 'fractions-policy-7';
  const policy = samplePolicyFile({ ...change.policy })['document'];
  const calibration = sampleCalibrationFile({ ...change.document })['document'];
  const state = {
    ...exampleState,
    tenantId: TENANT,
    selectionPolicyId,
    selectionPolicyChecksum: await write({ kind: 'policy', id: selectionPolicyId }, policy),
    scaleCalibrationId: key.id,
    scaleCalibrationChecksum: await write(key, calibration, { parameters }),
    startedAt: FIRST_VALID,
  };
  const clock = { now: FIRST_VALID };
  const store = createRecordStore({ table, mayReadSystem: () => true, now: () => clock.now });
  return { table, key, state, store, clock };
}

it('compiles a calibration’s parameters once per container', async () => {
  const { store, state } = await released();
  const [named, pinned] = [
    await loadNamed(store, TENANT, state, FIRST_VALID),
    await loadPinned(store, { ...state, tenantId: 'tenant-2' }, FIRST_VALID, 'decide'),
  ];
  expect(named).toMatchObject(ok({ calibration: { model: { itemIds: ['av-1', 'av-2', 'av-3'] } } }));
  expect(named.ok && named.value.calibration.model).toBe(pinned.ok && pinned.value.calibration.model);
});

it.each([
  [FIRST_VALID - 1, invalid],
  [FIRST_VALID, found],
  [EXPIRED - 1, found],
  [EXPIRED, invalid],
])(
  'holds a run to the validity at %i, from inclusive, until exclusive; once it has stopped, at its start [MA-042, MA-153, MA-161, MA-167]',
  async (now, expected) => {
    const { store, state } = await released();
    expect(await loadNamed(store, TENANT, state, now)).toMatchObject(expected);
    expect(await loadPinned(store, state, now, 'decide')).toMatchObject(expected);
    const stopped = { ...state, stopReason: 'max_items' } as const;
    expect(await loadPinned(store, stopped, now, 'decide')).toMatchObject(found);
    expect(await loadPinned(store, { ...stopped, startedAt: now }, FIRST_VALID, 'decide')).toMatchObject(
      expected,
    );
  },
);

it.each(['policy', 'calibration'] as const)(
  'decides nothing by a blocked %s within a minute, still shows a run under it, and goes on when the block is lifted',
  async (kind) => {
    const { table, key, state, store, clock } = await released();
    const blocked = kind === 'policy' ? { kind, id: state.selectionPolicyId } : key;
    const decide = async () => [
      await loadNamed(store, TENANT, state, FIRST_VALID),
      await loadPinned(store, state, FIRST_VALID, 'decide'),
    ];
    expect(await decide()).toMatchObject([found, found]);
    const block = { blockedAt: '2026-01-02T00:00:00Z', blockedBecause: 'the key of an item was wrong' };
    expect(await blockRecord(table, blocked, block)).toBe(true);
    clock.now += LIFECYCLE_MS - 1;
    expect(await decide()).toMatchObject([found, found]);
    clock.now += 1;
    expect(await decide()).toMatchObject([invalid, invalid]);
    expect(JSON.stringify(await decide())).not.toContain(block.blockedBecause);
    expect(await loadPinned(store, state, FIRST_VALID, 'show')).toMatchObject(found);
    // A later deprecation does not lift it.
    await deprecateRecord(table, blocked, { deprecatedAt: '2026-01-03T00:00:00Z' });
    clock.now += LIFECYCLE_MS;
    expect(await decide()).toMatchObject([invalid, invalid]);
    await blockRecord(table, blocked, undefined);
    expect(await decide()).toMatchObject([found, found]);
    expect(await blockRecord(table, { ...key, id: 'absent' }, block)).toBe(false);
  },
);

describe('what a container remembers', () => {
  const own = samplePolicyFile({ visibility: 'tenant', maxItems: 5 }, { tenantId: TENANT });

  it('is enough for a step within a minute; after it, the step looks at what can change', async () => {
    const { table, state, store, clock } = await released();
    const step = () => loadPinned(store, state, FIRST_VALID, 'decide');
    await step();
    const { calls } = table;
    const before = { ...calls };
    clock.now += LIFECYCLE_MS - 1;
    expect(await step()).toMatchObject(found);
    expect(calls).toEqual(before);
    clock.now += 1;
    expect(await step()).toMatchObject(found);
    // One batch: the two of the system that are known, and the two of the tenant that do not exist.
    expect(calls).toEqual({ ...before, read: before.read + 2, readLifecycle: before.readLifecycle + 2 });
  });

  it('refuses nothing: neither a record that was released since, nor a run that another container has pinned to it', async () => {
    const { table, state, store } = await released();
    const absent = { ...state, selectionPolicyId: 'later' };
    expect(await loadNamed(store, TENANT, absent, FIRST_VALID)).toMatchObject({ ok: false });
    await releaseInto(table, samplePolicyFile({ id: 'later' }));
    expect(await loadNamed(store, TENANT, absent, FIRST_VALID)).toMatchObject(found);
    await loadNamed(store, TENANT, state, FIRST_VALID);
    const { checksum } = await releaseInto(table, own);
    const pinned = { ...state, selectionPolicyChecksum: checksum };
    expect(await loadPinned(store, pinned, FIRST_VALID, 'decide')).toMatchObject(found);
  });
});

it('lets no run go on under a damaged policy', async () => {
  const { table, state, store } = await released();
  table.corrupt({ kind: 'policy', id: state.selectionPolicyId }, { document: '{}' });
  await expect(loadPinned(store, state, FIRST_VALID, 'decide')).rejects.toThrow('checksum-mismatch');
});

describe('a calibration is 422 [MA-195]', () => {
  it.each<[string, (table: MemoryRecordsTable, key: Parameters<MemoryRecordsTable['corrupt']>[0]) => void]>([
    ['document', (table, key) => table.corrupt(key, { document: '{}' })],
    // One digit is another.
    [
      'parameters',
      (table, key) =>
        table.corrupt(key, { parameters: canonicalJson(sampleParameters()).replace('0.85', '0.86') }),
    ],
  ])('whose %s are damaged', async (_, damage) => {
    const { table, key, state, store } = await released();
    damage(table, key);
    expect(await loadPinned(store, state, FIRST_VALID, 'decide')).toMatchObject(invalid);
  });

  it('that the engine refuses, or whose runtime it does not hold', async () => {
    for (const change of [
      { parameters: { scale: [1, 1, 1] } },
      { document: { runtimeVersion: 'ho-cdm-grid-9' } },
    ]) {
      const { store, state } = await released(change);
      expect(await loadPinned(store, state, FIRST_VALID, 'decide')).toMatchObject(invalid);
    }
  });

  it.each([
    ['policy', samplePolicyFile({ visibility: 'tenant', maxItems: 5 }, { tenantId: TENANT })],
    [
      'calibration',
      sampleCalibrationFile({ visibility: 'tenant', subject: 'Reading' }, { tenantId: TENANT }),
    ],
  ])('when a %s has come to stand before the pinned one under the same id', async (_, own) => {
    const { table, store, state } = await released();
    await releaseInto(table, own);
    expect(await loadPinned(store, state, FIRST_VALID, 'decide')).toMatchObject(invalid);
  });

  it.each([
    ['unsorted components', { parameters: { kcs: (sampleParameters()['kcs'] as object[]).toReversed() } }],
    ['a scope in descending order', { policy: { eligibilityRules: { kcScope: [KC_B, KC_A] } } }],
    ['a framework in capitals', { document: { caseFrameworkGuid: 'A0000000-0000-4000-8000-000000000001' } }],
  ])(
    'with %s for a start or a simulation, and not for a run under way [MA-026, MA-195]',
    async (_, change) => {
      const { store, state } = await released(change);
      expect(await loadNamed(store, TENANT, state, FIRST_VALID)).toMatchObject(invalid);
      expect(await loadPinned(store, state, FIRST_VALID, 'decide')).toMatchObject(found);
    },
  );
});
