import { describe, expect, it } from 'vitest';
import { compileModel } from '#functions/mastery/engine/index.ts';
import type { CompiledModel } from '#functions/mastery/engine/index.ts';
import type { ReconciledPool } from '#functions/mastery/pool/reconcile.ts';
import type { TestScope } from '#functions/mastery/records/bind-model.ts';
import { modelParameters } from '#functions/mastery/records/model-parameters.ts';
import { scaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { selectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { calibrationParameters } from '#shared/records/records.ts';
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
import type { PinnedRecords } from './pinned-records.ts';

const test: TestScope = {
  subject: 'Mathematics',
  gradeLevels: ['05'],
  caseFrameworkGuid: FRAMEWORK_1,
  slots: [],
};

function compiled(): CompiledModel {
  const { parameters } = sampleCalibrationFile();
  const model = compileModel(modelParameters(calibrationParameters.parse(parameters)));
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return model.value;
}

function recordsOf(model: CompiledModel): PinnedRecords {
  const file = sampleCalibrationFile();
  return {
    policy: selectionPolicy.parse({
      ...(samplePolicyFile()['document'] as object),
      checksum: 'a'.repeat(64),
    }),
    exposureTable: undefined,
    calibration: {
      document: scaleCalibration.parse({ ...(file['document'] as object), checksum: '0'.repeat(64) }),
      parametersHash: '0'.repeat(64),
      parameters: calibrationParameters.parse(file['parameters']),
      model,
    },
  };
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
  const model = compiled();
  const records = recordsOf(model);
  const pool = poolOf();

  it('finds items by artifact version and by their place in the model, which is not that in the pool', () => {
    const { items, byArtifactVersion, byModelItem } = bound(records, pool);
    expect(items.map(({ artifactVersionId }) => artifactVersionId)).toEqual(['av-2', 'av-1']);
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
    const again = bound(recordsOf(model), pool);
    expect(again).toBe(first);
    expect(again.selection()).toBe(first.selection());
  });

  it('prepares anew for another pool, model, policy, calibration or test', () => {
    const first = bound(records, pool);
    expect(bound(records, poolOf())).not.toBe(first);
    expect(bound(recordsOf(compiled()), pool)).not.toBe(first);
    const shorter = bound(under(records, { checksum: 'b'.repeat(64), maxItems: 1 }), pool);
    expect(shorter.selection().constraints.maxItems).toBe(1);
    expect(first.selection().constraints.maxItems).toBe(records.policy.maxItems);
    const { calibration } = records;
    const document = { ...calibration.document, checksum: '1'.repeat(64) };
    expect(bound({ ...records, calibration: { ...calibration, document } }, pool)).not.toBe(first);
  });

  it('refuses what does not belong together, however often it was bound before [MA-052, MA-195]', () => {
    bound(records, pool);
    expect(bindPool(records, { ...test, subject: 'Science' }, pool)).toMatchObject({
      ok: false,
      error: { status: 422, code: 'calibration-invalid' },
    });
    expect(bindPool(records, { ...test, caseFrameworkGuid: 'another' }, pool).ok).toBe(false);
    expect(bindPool(records, { ...test, gradeLevels: ['05', '12'] }, pool).ok).toBe(false);
  });
});
