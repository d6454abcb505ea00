import * as z from 'zod';
import { sha256 } from '#shared/contract/mastery/primitives.ts';
import {
  coverageFloor,
  eligibilityRules,
  MAX_RUN_ITEMS,
  selectionPolicy,
} from '#shared/contract/mastery/selection-policy.ts';
import { defectIf, member } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import type { Result } from '#shared/kernel/result.ts';
import { checkRecordFile, repetitionDefects } from './file-members.ts';
import { policyGuidDefects } from './record-guids.ts';
import { policyRecord } from './records.ts';
import type { PolicyRecord } from './records.ts';

/** A policy file: the record, in which the checksum may be left for the release to compute. */
const policyFile = policyRecord.extend({
  document: selectionPolicy.extend({ checksum: sha256.optional() }),
});

const members = selectionPolicy.shape;

/** Checks a policy before it becomes immutable and fills in its checksum (`checkRecordFile`) [MA-112, MA-113, MA-115]. */
export function checkPolicy(file: unknown): Result<PolicyRecord, readonly Defect[]> {
  const confidence = member(file, ['document', 'confidenceThreshold'], members.confidenceThreshold);
  const maxItems = member(file, ['document', 'maxItems'], members.maxItems);
  const floors = member(file, ['document', 'coverageFloors'], z.array(coverageFloor)) ?? [];
  const rules = member(file, ['document', 'eligibilityRules'], eligibilityRules) ?? {};
  return checkRecordFile(file, { kind: 'policy', schema: policyFile, members }, () => [
    // At 0.5 or below, a component could be both mastered and a gap by the same posterior.
    ...defectIf((confidence ?? 1) <= 0.5, ['document', 'confidenceThreshold'], 'must be above 0.5'),
    ...defectIf(
      (maxItems ?? 0) > MAX_RUN_ITEMS,
      ['document', 'maxItems'],
      `must be at most ${MAX_RUN_ITEMS}`,
    ),
    ...policyGuidDefects({ coverageFloors: floors, eligibilityRules: rules }),
    ...floorDefects(floors, maxItems),
    ...ruleDefects(rules, floors, maxItems),
  ]);
}

type Floors = readonly z.output<typeof coverageFloor>[];
type Rules = z.output<typeof eligibilityRules>;

function floorDefects(floors: Floors, maxItems = Infinity): readonly Defect[] {
  return floors.flatMap((floor, index) =>
    defectIf(
      floor.minimumEvidenceItems > maxItems,
      ['document', 'coverageFloors', index, 'minimumEvidenceItems'],
      `cannot be reached with maxItems ${maxItems}`,
    ),
  );
}

function ruleDefects(rules: Rules, floors: Floors, maxItems: number | undefined): readonly Defect[] {
  const path = ['document', 'eligibilityRules'];
  return [
    ...repetitionDefects(rules.requiredAccessibility ?? [], [...path, 'requiredAccessibility']),
    ...repetitionDefects(rules.excludedItems ?? [], [...path, 'excludedItems']),
    ...(rules.enemySets ?? []).flatMap((set, index) => repetitionDefects(set, [...path, 'enemySets', index])),
    ...repetitionDefects(
      (rules.enemySets ?? []).map((set) => JSON.stringify([...set].sort())),
      [...path, 'enemySets'],
    ),
    ...Object.entries(rules.contentConstraints ?? {}).flatMap(([guid, range]) =>
      constraintDefects([...path, 'contentConstraints', guid], guid, range, floors, maxItems),
    ),
    ...(rules.kcScope ?? []).flatMap((guid) =>
      defectIf(
        rules.contentConstraints?.[guid]?.maxItems === 0,
        [...path, 'contentConstraints', guid, 'maxItems'],
        'bars every item of a component of kcScope, which then can never be classified',
      ),
    ),
  ];
}

function constraintDefects(
  path: readonly string[],
  guid: string,
  range: { readonly minItems?: number | undefined; readonly maxItems?: number | undefined },
  floors: Floors,
  maxItems = Infinity,
): readonly Defect[] {
  const { minItems, maxItems: most } = range;
  const floor = floors.find((candidate) => candidate.caseCompetencyGuid === guid)?.minimumEvidenceItems;
  return [
    ...defectIf(
      minItems === undefined && most === undefined,
      path,
      'constrains nothing: state minItems, maxItems or both',
    ),
    ...defectIf(
      (minItems ?? 0) > (most ?? Infinity),
      [...path, 'minItems'],
      'is greater than maxItems of the same GUID',
    ),
    ...defectIf(
      (minItems ?? 0) > maxItems,
      [...path, 'minItems'],
      `cannot be reached with the policy's maxItems ${maxItems}`,
    ),
    ...defectIf(
      (floor ?? 0) > (most ?? Infinity),
      [...path, 'maxItems'],
      'is lower than the coverage floor of the same GUID',
    ),
  ];
}
