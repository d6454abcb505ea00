import { beforeAll, describe, expect, it } from 'vitest';
import type { ReconciledPool } from '#functions/mastery/pool/reconcile.ts';
import type { TestScope } from '#functions/mastery/records/bind-model.ts';
import { createRunRecords } from '#functions/mastery/records/load.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { createMemoryRecordsTable, releaseInto } from '#test/support/memory-records.ts';
import {
  FRAMEWORK_1,
  KC_A,
  KC_B,
  STANDARD_1,
  sampleCalibrationFile,
  samplePolicyFile,
} from '#test/support/sample-files.ts';
import { bindPool } from './bound-pool.ts';
import type { BoundPool } from './bound-pool.ts';
import { loadRecords } from './pinned-records.ts';
import type { PinnedRecords } from './pinned-records.ts';

const test: TestScope = {
  subject: 'Mathematics',
  gradeLevels: ['05'],
  caseFrameworkGuid: FRAMEWORK_1,
  slots: [],
};

/** The samples as a container has read them, with a model of its own. */
async function readAnew(): Promise<PinnedRecords> {
  const table = createMemoryRecordsTable();
  const policy = await releaseInto(table, samplePolicyFile());
  const calibration = await releaseInto(table, sampleCalibrationFile());
  const records = createRunRecords(createRecordStore({ table, mayReadSystem: () => true }));
  const ids = { selectionPolicyId: policy.key.id, scaleCalibrationId: calibration.key.id };
  const loaded = await loadRecords({ records }, 'tenant-1', ids, Date.parse('2026-06-01T00:00:00Z'));
  if (!loaded.ok) throw new Error(loaded.error.detail);
  return loaded.value;
}

function poolOf(): ReconciledPool {
  return {
    // SAFETY: binding looks at the members alone.
    pins: {} as ReconciledPool['pins'],
    members: [
      {
        artifactId: 'a-2',
        artifactVersionId: 'av-2',
        qtiIdentifier: 'item-2',
        caseGuids: ['standard-2'],
        kcGuids: [KC_A, KC_B],
      },
      {
        artifactId: 'a-1',
        artifactVersionId: 'av-1',
        qtiIdentifier: 'item-1',
        caseGuids: [STANDARD_1],
        kcGuids: [KC_A],
      },
    ],
  };
}

function bound(records: PinnedRecords, pool: ReconciledPool, scope: TestScope = test): BoundPool {
  const result = bindPool(records, scope, pool);
  if (!result.ok) throw new Error(result.error.detail);
  return result.value;
}

const under = (records: PinnedRecords, policy: Partial<SelectionPolicy>): PinnedRecords => ({
  ...records,
  policy: { ...records.policy, ...policy },
});

describe('bindPool', () => {
  const pool = poolOf();
  let records: PinnedRecords;
  beforeAll(async () => {
    records = await readAnew();
  });

  it('maps each member to its parameters, in the pool’s order, with its tags and accessibility', () => {
    const { items, scope, byArtifactVersion, byModelItem } = bound(records, pool);
    const [second, first] = pool.members;
    expect(items).toEqual([
      { ...second, modelItem: 1, tags: [KC_A, KC_B, 'standard-2'], accessibility: ['text-to-speech'] },
      { ...first, modelItem: 0, tags: [KC_A, STANDARD_1], accessibility: [] },
    ]);
    expect(scope).toEqual(
      [KC_A, KC_B].map((guid, modelKc) => ({
        guid,
        uri: `https://case.example/ims/case/v1p1/CFItems/${guid}`,
        modelKc,
      })),
    );
    expect(byArtifactVersion.get('av-1')).toBe(items[1]);
    expect(byModelItem.get(0)).toBe(items[1]);
    expect(byModelItem.get(1)).toBe(items[0]);
    expect(byArtifactVersion.size + byModelItem.size).toBe(4);
  });

  it('selects under every rule of the policy, floors and content minima being demands of one kind [MA-110, MA-113]', () => {
    const { scope, selection } = bound(records, pool);
    expect(scope.map(({ guid }) => guid)).toEqual([KC_A, KC_B]);
    expect(selection().constraints).toEqual({
      scope: scope.map(({ modelKc }) => modelKc),
      maxItems: 12,
      requiredAccessibility: ['text-to-speech'],
      enemySets: [['item-1', 'item-2']],
      excludedItems: ['item-3'],
      minima: [
        { guid: KC_A, items: 1 },
        { guid: KC_B, items: 0 },
        { guid: STANDARD_1, items: 1 },
      ],
      maxima: [{ guid: STANDARD_1, items: 4 }],
      priorUse: 'avoid',
      exposure: { method: 'randomesque', size: 3 },
    });
  });

  it('prepares the same pool once, also when the records were read anew', () => {
    const first = bound(records, pool);
    const again = bound({ ...records, policy: structuredClone(records.policy) }, pool);
    expect(again).toBe(first);
    expect(again.selection()).toBe(first.selection());
  });

  it('prepares anew for another pool, model, policy, calibration or test', async () => {
    const first = bound(records, pool);
    expect(bound(records, poolOf())).not.toBe(first);
    expect(bound(await readAnew(), pool)).not.toBe(first);
    const shorter = bound(under(records, { checksum: 'b'.repeat(64), maxItems: 1 }), pool);
    expect(shorter.selection().constraints.maxItems).toBe(1);
    expect(first.selection().constraints.maxItems).toBe(records.policy.maxItems);
    const { calibration } = records;
    const document = { ...calibration.document, checksum: '1'.repeat(64) };
    expect(bound({ ...records, calibration: { ...calibration, document } }, pool)).not.toBe(first);
  });

  it('takes the policy’s scope where it names one, sorted by GUID', () => {
    const scopeOf = (...kcScope: string[]) =>
      bound(under(records, { checksum: kcScope.join(), eligibilityRules: { kcScope } }), pool).scope.map(
        ({ guid }) => guid,
      );
    expect([scopeOf(KC_B), scopeOf(KC_B, KC_A)]).toEqual([[KC_B], [KC_A, KC_B]]);
  });

  const refused = { ok: false, error: { status: 422, code: 'calibration-invalid', retryable: false } };

  it.each<[string, Partial<TestScope>]>([
    ['subject', { subject: 'Science' }],
    ['subject in another case', { subject: 'mathematics' }],
    ['grade', { gradeLevels: ['05', '12'] }],
    ['CASE framework', { caseFrameworkGuid: 'another' }],
  ])('refuses a test of another %s, however often it was bound before [MA-052, MA-195]', (_, change) => {
    bound(records, pool);
    expect(bindPool(records, { ...test, ...change }, pool)).toMatchObject(refused);
  });

  it.each<[string, Partial<ReconciledPool['members'][number]>]>([
    ['no parameters', { artifactVersionId: 'av-1b' }],
    ['another QTI identifier', { qtiIdentifier: 'item-9' }],
    ['a component more', { kcGuids: [KC_A, KC_B, STANDARD_1] }],
    ['another component', { kcGuids: [KC_A, STANDARD_1] }],
    ['a component fewer', { kcGuids: [KC_A] }],
  ])('refuses a member with %s, and a scope without parameters [MA-195]', (_, change) => {
    const [second, first] = poolOf().members;
    expect(bindPool(records, test, { ...pool, members: [{ ...second!, ...change }, first!] })).toMatchObject(
      refused,
    );
    const unknown = { checksum: 'scope', eligibilityRules: { kcScope: [KC_A, STANDARD_1] } };
    expect(bindPool(under(records, unknown), test, pool)).toMatchObject(refused);
  });
});
