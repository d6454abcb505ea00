import type { Constraints, Exposure, StoppingRules } from '#functions/mastery/engine/index.ts';
import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { Blueprint } from '#shared/platform/owners/content.ts';
import type { ExposureTable } from '#shared/records/records.ts';

/** Slots of Content's blueprint: an item of the test has to bear each GUID of a slot. */
type Slots = readonly Pick<Blueprint['slots'][number], 'caseGuids'>[];

/**
 * How many items of a run are to bear a GUID: coverage floors, then content minima, then, where the policy says so, one item for each slot of
 * the blueprint that names the GUID. Demands of one kind; a GUID may occur in each.
 */
export function minimaOf(
  { eligibilityRules, coverageFloors }: SelectionPolicy,
  slots: Slots,
): Constraints['minima'] {
  const perGuid = new Map<string, number>();
  if (eligibilityRules.blueprintCoverage === 'slots')
    for (const { caseGuids } of slots)
      for (const guid of new Set(caseGuids)) perGuid.set(guid, (perGuid.get(guid) ?? 0) + 1);
  return [
    ...floorsOf(coverageFloors),
    ...Object.entries(eligibilityRules.contentConstraints ?? {}).flatMap(([guid, { minItems }]) =>
      minItems === undefined ? [] : [{ guid, items: minItems }],
    ),
    ...Array.from(perGuid, ([guid, items]) => ({ guid, items })),
  ];
}

/**
 * The policy in the engine's vocabulary.
 * @param exposureTable of `sympson_hetter`
 */
export function constraintsOf(
  policy: SelectionPolicy,
  scope: readonly number[],
  slots: Slots,
  exposureTable: ExposureTable | undefined,
): Constraints {
  const { eligibilityRules, maxItems } = policy;
  const { priorUse, selectionTarget, exposure } = eligibilityRules;
  const content = Object.entries(eligibilityRules.contentConstraints ?? {});
  return {
    scope,
    maxItems,
    requiredAccessibility: eligibilityRules.requiredAccessibility ?? [],
    enemySets: eligibilityRules.enemySets ?? [],
    excludedItems: eligibilityRules.excludedItems ?? [],
    minima: minimaOf(policy, slots),
    maxima: content.flatMap(([guid, { maxItems: maximum }]) =>
      maximum === undefined ? [] : [{ guid, items: maximum }],
    ),
    ...(priorUse === 'avoid' || priorUse === 'exclude' ? { priorUse } : {}),
    ...(selectionTarget === 'unsettled_components' ? { selectionTarget } : {}),
    ...(exposure === undefined ? {} : { exposure: exposureOf(exposure, exposureTable) }),
    minimumGain: eligibilityRules.minimumGain,
  };
}

function exposureOf(
  rule: NonNullable<SelectionPolicy['eligibilityRules']['exposure']>,
  table: ExposureTable | undefined,
): Exposure {
  return rule.method === 'sympson_hetter'
    ? { method: rule.method, probabilities: new Map(Object.entries(table ?? {})) }
    : rule;
}

/** When the policy stops a run, in the engine's vocabulary. */
export function stoppingRulesOf(
  { precisionTarget, coverageFloors, timeBudgetSeconds }: SelectionPolicy,
  { numericPrecision }: Pick<ScaleCalibration, 'numericPrecision'>,
): StoppingRules {
  return {
    precisionTarget,
    numericPrecision,
    coverageFloors: floorsOf(coverageFloors),
    timeBudgetSeconds,
  };
}

function floorsOf(floors: SelectionPolicy['coverageFloors']): StoppingRules['coverageFloors'] {
  return floors.map((floor) => ({ guid: floor.caseCompetencyGuid, items: floor.minimumEvidenceItems }));
}
