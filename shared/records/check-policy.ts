import { sha256 } from '#shared/contract/mastery/primitives.ts';
import { MAX_RUN_ITEMS, selectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { defectIf, type Defect } from '#shared/kernel/defect.ts';
import type { Result } from '#shared/kernel/result.ts';
import { checkRecordFile, repetitionDefects } from './file-members.ts';
import { policyGuidDefects } from './record-guids.ts';
import { policyRecord, type PolicyRecord } from './records.ts';

/** A policy file: the record, in which the release may compute the checksum. */
const policyFile = policyRecord.extend({
  document: selectionPolicy.extend({ checksum: sha256.optional() }),
});

/** Checks a policy before it becomes immutable and fills in its checksum (`checkRecordFile`) [MA-112, MA-113, MA-115]. */
export function checkPolicy(file: unknown): Result<PolicyRecord, readonly Defect[]> {
  return checkRecordFile(file, 'policy', policyFile, ({ document }) => [
    // At 0.5 or below, the same posterior could make a component both mastered and a gap.
    ...defectIf(
      document.confidenceThreshold <= 0.5,
      ['document', 'confidenceThreshold'],
      'must be above 0.5',
    ),
    ...defectIf(
      document.maxItems > MAX_RUN_ITEMS,
      ['document', 'maxItems'],
      `must be at most ${MAX_RUN_ITEMS}`,
    ),
    ...policyGuidDefects(document),
    ...floorDefects(document),
    ...bitDefects(document.eligibilityRules),
    ...listDefects(document.eligibilityRules),
    ...constraintDefects(document),
  ]);
}

type Policy = Omit<SelectionPolicy, 'checksum'>;

function floorDefects({ coverageFloors, maxItems }: Policy): readonly Defect[] {
  return coverageFloors.flatMap(({ minimumEvidenceItems }, index) =>
    defectIf(
      minimumEvidenceItems > maxItems,
      ['document', 'coverageFloors', index, 'minimumEvidenceItems'],
      `cannot be reached with maxItems ${maxItems}`,
    ),
  );
}

const path = ['document', 'eligibilityRules'];

/**
 * An answer has at most 1 bit of information. A credit above that ranks items as one of 1 bit does: by the number of components first that it counts.
 * No item reaches such a decision gain.
 */
function bitDefects(rules: SelectionPolicy['eligibilityRules']): readonly Defect[] {
  return (['unmeasuredCredit', 'settlingCredit', 'minimumDecisionGain'] as const).flatMap((name) =>
    defectIf((rules[name] ?? 0) > 1, [...path, name], 'must be at most 1 bit'),
  );
}

function listDefects({
  requiredAccessibility = [],
  excludedItems = [],
  enemySets = [],
}: SelectionPolicy['eligibilityRules']): readonly Defect[] {
  return [
    ...repetitionDefects(requiredAccessibility, [...path, 'requiredAccessibility']),
    ...repetitionDefects(excludedItems, [...path, 'excludedItems']),
    ...enemySets.flatMap((set, index) => repetitionDefects(set, [...path, 'enemySets', index])),
    ...repetitionDefects(
      enemySets.map((set) => JSON.stringify(set.toSorted())),
      [...path, 'enemySets'],
    ),
  ];
}

function constraintDefects({ eligibilityRules, coverageFloors, maxItems }: Policy): readonly Defect[] {
  const { contentConstraints = {}, kcScope = [] } = eligibilityRules;
  return Object.entries(contentConstraints).flatMap(([guid, range]) => {
    const at = [...path, 'contentConstraints', guid];
    const { minItems = 0, maxItems: most = Infinity } = range;
    const floor = coverageFloors.find(({ caseCompetencyGuid }) => caseCompetencyGuid === guid);
    return [
      ...defectIf(
        range.minItems === undefined && range.maxItems === undefined,
        at,
        'constrains nothing: state minItems, maxItems or both',
      ),
      ...defectIf(minItems > most, [...at, 'minItems'], 'is greater than maxItems of the same GUID'),
      ...defectIf(
        minItems > maxItems,
        [...at, 'minItems'],
        `cannot be reached with the policy's maxItems ${maxItems}`,
      ),
      ...defectIf(
        floor !== undefined && floor.minimumEvidenceItems > most,
        [...at, 'maxItems'],
        'is lower than the coverage floor of the same GUID',
      ),
      ...defectIf(
        most === 0 && kcScope.includes(guid),
        [...at, 'maxItems'],
        'bars every item of a component of kcScope, which then can never be classified',
      ),
    ];
  });
}
