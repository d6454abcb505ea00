import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { guidDefects } from '#shared/kernel/guid.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import type { CalibrationParameters } from './records.ts';

/**
 * GUIDs of released records are in canonical form [MA-026]: the release rejects others, and no run starts on a record that was released with others.
 * Pointers are into the record's file.
 */

type PolicyGuids = Pick<SelectionPolicy, 'coverageFloors' | 'eligibilityRules'>;

/** Returns the GUIDs of a policy that are not in canonical form; the keys of an object have no order. */
export function policyGuidDefects({ coverageFloors, eligibilityRules }: PolicyGuids): readonly Defect[] {
  const rules = ['document', 'eligibilityRules'];
  return [
    ...guidDefects(
      coverageFloors.map((floor) => floor.caseCompetencyGuid),
      (index) => ['document', 'coverageFloors', index, 'caseCompetencyGuid'],
    ),
    ...guidDefects(eligibilityRules.kcScope ?? [], (index) => [...rules, 'kcScope', index]),
    ...Object.keys(eligibilityRules.contentConstraints ?? {}).flatMap((guid) =>
      guidDefects([guid], () => [...rules, 'contentConstraints', guid]),
    ),
  ];
}

/** Returns the GUIDs of a calibration's parameters that are not in canonical form. */
export function parameterGuidDefects({ kcs, items }: CalibrationParameters): readonly Defect[] {
  return [
    ...guidDefects(
      kcs.map(({ guid }) => guid),
      (index) => ['parameters', 'kcs', index, 'guid'],
    ),
    ...items.flatMap((item, at) =>
      guidDefects(item.kcs, (index) => ['parameters', 'items', at, 'kcs', index]),
    ),
  ];
}

/** Returns the GUID of a calibration's CASE framework, if it is not in canonical form. */
export function frameworkGuidDefects(caseFrameworkGuid: string): readonly Defect[] {
  return guidDefects([caseFrameworkGuid], () => ['document', 'caseFrameworkGuid']);
}

/** Returns the same model with its components and those of each item ascending by GUID, and the items' tables to match. */
export function inGuidOrder(parameters: CalibrationParameters): CalibrationParameters {
  return {
    ...parameters,
    kcs: parameters.kcs.toSorted((a, b) => (a.guid < b.guid ? -1 : Number(a.guid > b.guid))),
    items: parameters.items.map((item) => {
      const kcs = item.kcs.toSorted();
      const bitOf = kcs.map((guid) => item.kcs.indexOf(guid));
      const probabilities = item.probabilities.map((own, pattern) => {
        const before = bitOf.reduce((bits, bit, at) => bits | (((pattern >>> at) & 1) << bit), 0);
        return item.probabilities[before] ?? own;
      });
      return { ...item, kcs, probabilities };
    }),
  };
}
