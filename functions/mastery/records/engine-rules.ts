import type {
  ClassificationRule,
  Constraints,
  Exposure,
  StoppingRules,
} from '#functions/mastery/engine/index.ts';
import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import type { ExposureRule, SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { Blueprint } from '#shared/platform/owners/content.ts';
import type { ExposureTable } from '#shared/records/records.ts';

/** Slots of Content's blueprint: an item of the test has to bear each GUID of a slot. */
type Slots = readonly Pick<Blueprint['slots'][number], 'caseGuids'>[];

/**
 * Returns how many items of a run must bear a GUID: coverage floors, then content minima, then, if the policy asks for it, one item per slot of the
 * blueprint that names the GUID. Each list may name the same GUID.
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
 * Translates exposure control into the engine's vocabulary.
 * @param table of a rule that names one
 */
export function exposureOf(
  rule: ExposureRule | undefined,
  table: ExposureTable | undefined,
): Exposure | undefined {
  return rule?.method === 'sympson_hetter'
    ? { method: rule.method, probabilities: new Map(Object.entries(table ?? {})) }
    : rule;
}

/**
 * Translates the policy into the engine's vocabulary.
 * @param exposureTable of a policy whose exposure rule names one
 */
export function constraintsOf(
  policy: SelectionPolicy,
  scope: readonly number[],
  slots: Slots,
  exposureTable: ExposureTable | undefined,
): Constraints {
  const { contentConstraints = {}, exposure, ...rules } = policy.eligibilityRules;
  return {
    ...rules,
    scope,
    maxItems: policy.maxItems,
    minima: minimaOf(policy, slots),
    maxima: Object.entries(contentConstraints).flatMap(([guid, { maxItems: items }]) =>
      items === undefined ? [] : [{ guid, items }],
    ),
    exposure: exposureOf(exposure, exposureTable),
  };
}

/** Translates the policy's thresholds and stopping rules into the engine's vocabulary. */
export function runRulesOf(
  policy: SelectionPolicy,
  { numericPrecision }: Pick<ScaleCalibration, 'numericPrecision'>,
): StoppingRules & ClassificationRule {
  return { ...policy, numericPrecision, coverageFloors: floorsOf(policy.coverageFloors) };
}

function floorsOf(floors: SelectionPolicy['coverageFloors']): StoppingRules['coverageFloors'] {
  return floors.map((floor) => ({ guid: floor.caseCompetencyGuid, items: floor.minimumEvidenceItems }));
}
