import { describe, expect, it } from 'vitest';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { scaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { calibrationParameters } from '#shared/records/records.ts';
import { FRAMEWORK_1, KC_A, KC_B, STANDARD_1, sampleCalibrationFile } from '#test/support/sample-files.ts';
import { bindModel } from './bind-model.ts';
import type { BindableMember, IndexedModel, TestScope } from './bind-model.ts';
import type { RunCalibration } from './load.ts';

const file = sampleCalibrationFile();
const parameters = calibrationParameters.parse(file['parameters']);
const calibration: RunCalibration<IndexedModel> = {
  document: scaleCalibration.parse({ ...(file['document'] as object), checksum: '0'.repeat(64) }),
  parametersHash: '0'.repeat(64),
  parameters,
  model: {
    itemIndex: new Map(parameters.items.map((item, index) => [item.artifactVersionId, index])),
    kcIndex: new Map(parameters.kcs.map((kc, index) => [kc.guid, index])),
  },
};

const test: TestScope = {
  subject: 'Mathematics',
  gradeLevels: ['05'],
  caseFrameworkGuid: FRAMEWORK_1,
  slots: [],
};
const second: BindableMember = {
  artifactVersionId: 'av-2',
  qtiIdentifier: 'item-2',
  caseGuids: ['standard-2', KC_B],
  kcGuids: [KC_B, KC_A],
};
const first: BindableMember = {
  artifactVersionId: 'av-1',
  qtiIdentifier: 'item-1',
  caseGuids: [STANDARD_1],
  kcGuids: [KC_A],
};

function bind(
  change: { test?: Partial<TestScope>; members?: readonly BindableMember[]; kcScope?: string[] } = {},
): ReturnType<typeof bindModel> {
  const eligibilityRules: SelectionPolicy['eligibilityRules'] =
    change.kcScope === undefined ? {} : { kcScope: change.kcScope };
  return bindModel(
    calibration,
    { eligibilityRules },
    { ...test, ...change.test },
    change.members ?? [second, first],
  );
}

const refused = { ok: false, error: { status: 422, code: 'calibration-invalid', retryable: false } };

describe('bindModel', () => {
  it('maps each member to its parameters, in the pool’s order, with its tags and accessibility', () => {
    expect(bind()).toEqual({
      ok: true,
      value: {
        items: [
          {
            modelItem: 1,
            ...second,
            tags: [KC_B, KC_A, 'standard-2'],
            accessibility: ['text-to-speech'],
          },
          { modelItem: 0, ...first, tags: [KC_A, STANDARD_1], accessibility: [] },
        ],
        scope: [
          { guid: KC_A, uri: `https://case.example/ims/case/v1p1/CFItems/${KC_A}`, modelKc: 0 },
          { guid: KC_B, uri: `https://case.example/ims/case/v1p1/CFItems/${KC_B}`, modelKc: 1 },
        ],
      },
    });
  });

  it('takes the policy’s scope where it names one, sorted by GUID', () => {
    const scopeOf = (kcScope: string[]): readonly string[] => {
      const bound = bind({ kcScope });
      return bound.ok ? bound.value.scope.map((kc) => kc.guid) : [];
    };
    expect(scopeOf([KC_B])).toEqual([KC_B]);
    expect(scopeOf([KC_B, KC_A])).toEqual([KC_A, KC_B]);
  });

  it('refuses a scope that the calibration has no parameters for [MA-195]', () => {
    expect(bind({ kcScope: [KC_A, STANDARD_1] })).toMatchObject(refused);
  });

  it.each([
    ['subject', { subject: 'Science' }],
    ['subject in another case', { subject: 'mathematics' }],
    ['grade', { gradeLevels: ['05', '06'] }],
    ['CASE framework', { caseFrameworkGuid: 'framework-2' }],
  ])('refuses a test of another %s [MA-052, MA-195]', (_name, change) => {
    expect(bind({ test: change })).toMatchObject(refused);
  });

  it.each([
    ['no parameters', { artifactVersionId: 'av-1b' }],
    ['another QTI identifier', { qtiIdentifier: 'item-9' }],
    ['a component more', { kcGuids: [KC_A, KC_B] }],
    ['another component', { kcGuids: [KC_B] }],
  ])('refuses a member with %s [MA-195]', (_name, change) => {
    expect(bind({ members: [second, { ...first, ...change }] })).toMatchObject(refused);
  });

  it('refuses a member with a component fewer [MA-195]', () => {
    expect(bind({ members: [{ ...second, kcGuids: [KC_A] }] })).toMatchObject(refused);
  });
});
