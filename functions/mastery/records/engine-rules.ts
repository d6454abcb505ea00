import type { Constraints, StoppingRules } from '#functions/mastery/engine/index.ts';
import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';

/** The policy in the engine's vocabulary: coverage floors and content minima are demands of one kind. */
export function constraintsOf(policy: SelectionPolicy, scope: readonly number[]): Constraints {
  const { eligibilityRules, coverageFloors, maxItems } = policy;
  const content = Object.entries(eligibilityRules.contentConstraints ?? {});
  return {
    scope,
    maxItems,
    requiredAccessibility: eligibilityRules.requiredAccessibility ?? [],
    enemySets: eligibilityRules.enemySets ?? [],
    excludedItems: eligibilityRules.excludedItems ?? [],
    minima: [
      ...coverageFloors.map((floor) => ({
        guid: floor.caseCompetencyGuid,
        items: floor.minimumEvidenceItems,
      })),
      ...content.flatMap(([guid, { minItems }]) =>
        minItems === undefined ? [] : [{ guid, items: minItems }],
      ),
    ],
    maxima: content.flatMap(([guid, { maxItems: maximum }]) =>
      maximum === undefined ? [] : [{ guid, items: maximum }],
    ),
    randomesqueSize: eligibilityRules.exposure?.size ?? 1,
  };
}

/** When the policy stops a run, in the engine's vocabulary. */
export function stoppingRulesOf(
  { precisionTarget, coverageFloors, timeBudgetSeconds }: SelectionPolicy,
  { numericPrecision }: Pick<ScaleCalibration, 'numericPrecision'>,
): StoppingRules {
  return {
    precisionTarget,
    numericPrecision,
    coverageFloors: coverageFloors.map((floor) => ({
      guid: floor.caseCompetencyGuid,
      items: floor.minimumEvidenceItems,
    })),
    timeBudgetSeconds,
  };
}
