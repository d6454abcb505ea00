import { describe, expect, it } from 'vitest';
import { checkPolicy } from './check-policy.ts';
import { KC_A, KC_B, KC_C, STANDARD_1, samplePolicyFile } from '#test/support/sample-files.ts';

function defectsOf(file: unknown): readonly string[] {
  const checked = checkPolicy(file);
  return checked.ok ? [] : checked.error.map((defect) => `${defect.pointer} ${defect.message}`);
}

/** The pointers alone, of a policy with one part changed. */
function pointersOf(document: Record<string, unknown>): readonly string[] {
  const checked = checkPolicy(samplePolicyFile(document));
  return checked.ok ? [] : checked.error.map((defect) => defect.pointer);
}

describe('checkPolicy', () => {
  it('refuses more items than a token can carry [MA-110]', () => {
    expect(defectsOf(samplePolicyFile({ maxItems: 500 }))).toEqual([]);
    expect(defectsOf(samplePolicyFile({ maxItems: 501 }))).toEqual([
      '/document/maxItems must be at most 500',
    ]);
  });

  it('names every defect of the form of a file in one pass, or every defect of its meaning', () => {
    const unsound = {
      id: 'policy-latest',
      maxItems: 2,
      coverageFloors: [
        { caseCompetencyGuid: KC_B, minimumEvidenceItems: 3 },
        { caseCompetencyGuid: KC_A, minimumEvidenceItems: 0 },
      ],
    };
    const file = samplePolicyFile({ ...unsound, kcCutScore: 1.5, eligibilityRules: { colour: 'red' } });
    delete (file['document'] as Record<string, unknown>)['precisionTarget'];
    expect(defectsOf(file)).toEqual([
      '/document/kcCutScore Too big: expected number to be <=1',
      '/document/precisionTarget is required',
      '/document/eligibilityRules/colour is not a member that this version knows',
    ]);
    expect(defectsOf(samplePolicyFile(unsound))).toEqual([
      '/document/id is a mutable alias; name one immutable version',
      '/document/coverageFloors/1/caseCompetencyGuid is not in order: sort by GUID',
      '/document/coverageFloors/0/minimumEvidenceItems cannot be reached with maxItems 2',
    ]);
  });

  it.each([
    ['in capitals', [KC_A.toUpperCase()], [0]],
    ['that is no UUID', ['kc-a'], [0]],
    ['in braces', [`{${KC_A}}`], [0]],
    ['of any version', ['2f0a6d0c-6a1b-0c55-0a3e-0b8f2b7d9c11'], []],
    ['that comes again', [KC_A, KC_A], [1]],
    ['that is out of order', [KC_B, KC_A], [1]],
    ['that comes again later', [KC_A, KC_B, KC_A], [2]],
  ])('takes GUIDs as lower-case UUIDs in ascending order: one %s [MA-026, MA-112]', (_, guids, defects) => {
    const floors = guids.map((caseCompetencyGuid) => ({ caseCompetencyGuid, minimumEvidenceItems: 0 }));
    expect(pointersOf({ coverageFloors: floors })).toEqual(
      defects.map((index) => `/document/coverageFloors/${index}/caseCompetencyGuid`),
    );
    expect(pointersOf({ eligibilityRules: { kcScope: guids } })).toEqual(
      defects.map((index) => `/document/eligibilityRules/kcScope/${index}`),
    );
  });

  it('takes the keys of content constraints in any order, in their one form [MA-026, MA-113]', () => {
    const rules = (...guids: readonly string[]): object => ({
      contentConstraints: Object.fromEntries(guids.map((guid) => [guid, { maxItems: 1 }])),
    });
    expect(pointersOf({ eligibilityRules: rules(KC_B, KC_A) })).toEqual([]);
    expect(pointersOf({ eligibilityRules: rules(KC_A, 'a/b') })).toEqual([
      '/document/eligibilityRules/contentConstraints/a~1b',
    ]);
  });

  it.each<[string, object, string | undefined]>([
    ['with its target', { selectionTarget: 'unsettled_and_unmeasured', unmeasuredCredit: 0.1 }, undefined],
    ['of 1 bit', { selectionTarget: 'unsettled_and_unmeasured', unmeasuredCredit: 1 }, undefined],
    [
      'of more, which no answer can have',
      { selectionTarget: 'unsettled_and_unmeasured', unmeasuredCredit: 1.01 },
      'must be at most 1 bit',
    ],
    [
      'of none',
      { selectionTarget: 'unsettled_and_unmeasured', unmeasuredCredit: 0 },
      'Too small: expected number to be >0',
    ],
    [
      'that its target lacks',
      { selectionTarget: 'unsettled_and_unmeasured' },
      'is required with selectionTarget unsettled_and_unmeasured or settling_look_ahead, and forbidden without them',
    ],
    [
      'with another target',
      { selectionTarget: 'unsettled_components', unmeasuredCredit: 0.1 },
      'is required with selectionTarget unsettled_and_unmeasured or settling_look_ahead, and forbidden without them',
    ],
    [
      'without a target',
      { unmeasuredCredit: 0.1 },
      'is required with selectionTarget unsettled_and_unmeasured or settling_look_ahead, and forbidden without them',
    ],
  ])('takes a credit for unmeasured components of its target only: one %s [MA-113]', (_, rules, defect) => {
    expect(defectsOf(samplePolicyFile({ eligibilityRules: rules }))).toEqual(
      defect === undefined ? [] : [`/document/eligibilityRules/unmeasuredCredit ${defect}`],
    );
  });

  it.each<[string, object, string | undefined]>([
    ['of 1 bit', { selectionTarget: 'settling_look_ahead', settlingCredit: 1 }, undefined],
    [
      'of more, which no answer can have',
      { selectionTarget: 'settling_look_ahead', settlingCredit: 1.01 },
      'must be at most 1 bit',
    ],
    [
      'of none',
      { selectionTarget: 'settling_look_ahead', settlingCredit: 0 },
      'Too small: expected number to be >0',
    ],
    [
      'that its target lacks',
      { selectionTarget: 'settling_look_ahead' },
      'is required with selectionTarget settling_look_ahead, and forbidden without it',
    ],
    [
      'with another target',
      { selectionTarget: 'unsettled_and_unmeasured', settlingCredit: 0.2 },
      'is required with selectionTarget settling_look_ahead, and forbidden without it',
    ],
  ])('takes a credit for settled components of its target only: one %s [MA-113]', (_, rules, defect) => {
    expect(defectsOf(samplePolicyFile({ eligibilityRules: { unmeasuredCredit: 0.1, ...rules } }))).toEqual(
      defect === undefined ? [] : [`/document/eligibilityRules/settlingCredit ${defect}`],
    );
  });

  it('refuses a look-ahead without a credit for unmeasured components [MA-113]', () => {
    const eligibilityRules = { selectionTarget: 'settling_look_ahead', settlingCredit: 0.2 };
    expect(pointersOf({ eligibilityRules })).toEqual(['/document/eligibilityRules/unmeasuredCredit']);
  });

  it('refuses a minimum of decision gain that no answer can have [MA-113]', () => {
    const path = '/document/eligibilityRules/minimumDecisionGain';
    expect(pointersOf({ eligibilityRules: { minimumDecisionGain: 1 } })).toEqual([]);
    for (const minimumDecisionGain of [0, 1.01])
      expect(pointersOf({ eligibilityRules: { minimumDecisionGain } })).toEqual([path]);
  });

  it('demands a confidence above one half [MA-107]', () => {
    for (const confidenceThreshold of [0, 0.4, 0.5])
      expect(pointersOf({ confidenceThreshold })).toEqual(['/document/confidenceThreshold']);
    expect(pointersOf({ confidenceThreshold: 0.500001 })).toEqual([]);
  });

  it.each([
    [{ excludedItems: ['i', 'j', 'i'] }, '/excludedItems/2'],
    [{ requiredAccessibility: ['t', 't'] }, '/requiredAccessibility/1'],
    [{ enemySets: [['i', 'j', 'j']] }, '/enemySets/0/2'],
    [
      {
        enemySets: [
          ['i', 'j'],
          ['j', 'i'],
        ],
      },
      '/enemySets/1',
    ],
    [{ enemySets: [['i']] }, '/enemySets/0'],
    [{ contentConstraints: { [STANDARD_1]: {} } }, `/contentConstraints/${STANDARD_1}`],
    [
      { contentConstraints: { [STANDARD_1]: { minItems: 3, maxItems: 2 } } },
      `/contentConstraints/${STANDARD_1}/minItems`,
    ],
    [
      { contentConstraints: { [STANDARD_1]: { minItems: 13 } } },
      `/contentConstraints/${STANDARD_1}/minItems`,
    ],
    [{ contentConstraints: { [KC_A]: { maxItems: 0 } } }, `/contentConstraints/${KC_A}/maxItems`],
    [
      { kcScope: [KC_A, KC_C], contentConstraints: { [KC_C]: { maxItems: 0 } } },
      `/contentConstraints/${KC_C}/maxItems`,
    ],
    [{ exposure: { method: 'sympson-hetter', size: 2 } }, '/exposure/method'],
    [{ poolMembership: 'any' }, '/poolMembership'],
  ])('refuses rules that repeat, contradict or cannot be kept: %j', (rules, at) => {
    expect(pointersOf({ eligibilityRules: rules })).toEqual([`/document/eligibilityRules${at}`]);
  });

  it('lets a policy bar the items of a component that it does not classify', () => {
    const rules = { kcScope: [KC_A], contentConstraints: { [KC_C]: { maxItems: 0 } } };
    expect(pointersOf({ eligibilityRules: rules })).toEqual([]);
    expect(
      pointersOf({
        eligibilityRules: { ...rules, contentConstraints: { [KC_C]: { maxItems: 1 } }, kcScope: [KC_C] },
      }),
    ).toEqual([]);
  });
});
