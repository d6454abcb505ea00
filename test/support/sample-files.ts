/** Release files for tests: well-formed, small, and free of any checksum, which the release computes. */

/** CASE GUIDs of the samples: three knowledge components, a standard and their framework. */
export const KC_A = 'a0000000-0000-4000-8000-00000000000a';
export const KC_B = 'b0000000-0000-4000-8000-00000000000b';
export const KC_C = 'c0000000-0000-4000-8000-00000000000c';
export const STANDARD_1 = '50000000-0000-4000-8000-000000000001';
export const FRAMEWORK_1 = 'f0000000-0000-4000-8000-000000000001';

/** A calibration with three knowledge components and three items, one of which needs two of them. */
export function sampleCalibrationFile(
  document: Readonly<Record<string, unknown>> = {},
  rest: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    document: {
      id: 'fractions-2026.1',
      scaleId: 'fractions-vertical',
      visibility: 'system',
      modelFamily: 'ho-cdm-grid',
      modelVersion: 'ho-cdm-grid/1',
      numericPrecision: 12,
      runtimeVersion: 'ho-cdm-grid-1',
      caseFrameworkGuid: FRAMEWORK_1,
      caseMappingVersion: 'mapping-2026-01',
      subject: 'Mathematics',
      gradeCoverage: ['04', '05'],
      validFrom: '2026-01-01T00:00:00Z',
      validUntil: '2027-01-01T00:00:00Z',
      anchor: { source: 'r90', version: '90.1', checksum: 'ab'.repeat(32), licenseScope: 'classroom' },
      recoveryTolerance: 25,
      limitations: ['Scores compare only within this scale and its validity.'],
      ...document,
    },
    parameters: sampleParameters(),
    ...rest,
  };
}

/** Parameters on a three-node grid. */
export function sampleParameters(): Record<string, unknown> {
  return {
    theta: { nodes: 3, min: -2, max: 2, mean: 0, sd: 1 },
    kcs: [KC_A, KC_B, KC_C].map((guid, index) => ({
      guid,
      uri: `https://case.example/ims/case/v1p1/CFItems/${guid}`,
      slope: 2,
      location: index - 1,
    })),
    items: [
      { artifactVersionId: 'av-1', qtiIdentifier: 'item-1', kcs: [KC_A], probabilities: [0.2, 0.9] },
      {
        artifactVersionId: 'av-2',
        qtiIdentifier: 'item-2',
        kcs: [KC_A, KC_B],
        probabilities: [0.1, 0.1, 0.1, 0.85],
        accessibility: ['text-to-speech'],
      },
      { artifactVersionId: 'av-3', qtiIdentifier: 'item-3', kcs: [KC_C], probabilities: [0.25, 0.8] },
    ],
    scale: [400, 500, 600],
  };
}

/** A policy that uses every key of `eligibilityRules`. */
export function samplePolicyFile(
  document: Readonly<Record<string, unknown>> = {},
  rest: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    document: {
      id: 'fractions-policy-7',
      visibility: 'system',
      algorithm: 'constrained_information_gain',
      kcCutScore: 0.5,
      confidenceThreshold: 0.9,
      precisionTarget: 0.1,
      maxItems: 12,
      timeBudgetSeconds: null,
      coverageFloors: [
        { caseCompetencyGuid: KC_A, minimumEvidenceItems: 1 },
        { caseCompetencyGuid: KC_B, minimumEvidenceItems: 0 },
      ],
      eligibilityRules: {
        kcScope: [KC_A, KC_B],
        contentConstraints: { [STANDARD_1]: { minItems: 1, maxItems: 4 } },
        requiredAccessibility: ['text-to-speech'],
        enemySets: [['item-1', 'item-2']],
        excludedItems: ['item-3'],
        exposure: { method: 'randomesque', size: 3 },
        priorUse: 'avoid',
        poolMembership: 'manifest',
      },
      ...document,
    },
    ...rest,
  };
}

/** An analysis policy with a trigger for each target module. */
export function sampleAnalysisPolicyFile(
  document: Readonly<Record<string, unknown>> = {},
  rest: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    document: {
      id: 'revision-thresholds-3',
      version: '3.0',
      visibility: 'system',
      formulaVersion: 'alignment-v1',
      triggers: [sampleTrigger(), sampleCrosswalkTrigger()],
      ...document,
    },
    ...rest,
  };
}

/** Asks the Bank for another item when an item hardly discriminates. */
export function sampleTrigger(change: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    metric: 'item_discrimination',
    observed: { name: 'discrimination_index', unit: 'proportion' },
    threshold: { operator: 'lt', value: 0.2 },
    targetModule: 'bank',
    requestedAction: 'regenerate_item',
    reasonCodes: ['low_discrimination'],
    requiredSubjects: ['qtiItemId', 'caseGuids'],
    ...change,
  };
}

/** Asks the Blueprint to mend its crosswalk when too little of a source test is covered. */
export function sampleCrosswalkTrigger(
  change: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    metric: 'alignment',
    observed: { name: 'alignment_percent', unit: 'percent' },
    threshold: { operator: 'lt', value: 90 },
    targetModule: 'blueprint',
    requestedAction: 'repair_crosswalk',
    reasonCodes: ['blueprint_coverage_defect', 'blueprint_rigor_defect'],
    requiredSubjects: ['sourceKeys'],
    ...change,
  };
}
