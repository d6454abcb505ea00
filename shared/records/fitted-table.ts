import * as z from 'zod';
import { sha256 } from '#shared/contract/mastery/primitives.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { canonicalJson, hashCanonical } from '#shared/kernel/canonical-json.ts';
import { defectIf, valueAt, type Defect } from '#shared/kernel/defect.ts';
import { exposureTable, type ExposureTable } from './records.ts';

/** Learners whose abilities are normal, on the theta scale of the calibration. */
const population = z.strictObject({ mean: z.number(), sd: z.number().positive() });
type FittedPopulation = z.infer<typeof population>;

/**
 * A file with the item parameters of exposure control and what they were fitted for. Only `probabilities` are released; the policy names their hash.
 * `sha256` binds them to the rest: it is the hash of the file without it.
 */
export const fittedTable = z.strictObject({
  probabilities: exposureTable,
  fittedFor: z.strictObject({ selection: z.record(z.string(), z.unknown()), population }),
  sha256,
});
export type FittedTable = z.infer<typeof fittedTable>;

/** The members of a policy by which items are selected. */
export type SelectionRules = Pick<
  SelectionPolicy,
  'maxItems' | 'coverageFloors' | 'kcCutScore' | 'confidenceThreshold' | 'eligibilityRules'
>;

/** Returns the table of a policy, bound to what it was fitted for. */
export function bindTable(
  probabilities: ExposureTable,
  policy: SelectionRules,
  fittedPopulation: FittedPopulation,
): FittedTable {
  const fittedFor = { selection: selectionOf(policy), population: fittedPopulation };
  return { probabilities, fittedFor, sha256: hashCanonical({ probabilities, fittedFor }) };
}

/** Returns why a table does not fit a policy: it was changed after it was fitted, or it was fitted for another selection of items. */
export function fitDefects(
  { sha256: hash, probabilities, fittedFor }: FittedTable,
  policy: SelectionRules,
): readonly Defect[] {
  const { selection } = fittedFor;
  const wanted = selectionOf(policy);
  const shown = (value: unknown): string => (value === undefined ? 'absent' : canonicalJson(value));
  return [
    ...defectIf(
      hash !== hashCanonical({ probabilities, fittedFor }),
      ['sha256'],
      'is not the hash of this table: it was changed after it was fitted. Fit it again',
    ),
    ...[...new Set([...Object.keys(selection), ...Object.keys(wanted)])].sort().flatMap((member) => {
      const [fitted, asked] = [selection, wanted].map((rules) => shown(valueAt(rules, [member])));
      return defectIf(
        fitted !== asked,
        ['fittedFor', 'selection', member],
        `is ${fitted}, and ${asked} in the policy: fit the table for this policy`,
      );
    }),
  ];
}

/**
 * Returns the rules that decide how often each item is given. Where rules only end a run early (precision, time, and confidence under `latent_state`),
 * items are given less often than in the fit, and earlier runs of a learner (`priorUse`) are no part of it.
 */
function selectionOf({
  maxItems,
  coverageFloors,
  kcCutScore,
  confidenceThreshold,
  eligibilityRules,
}: SelectionRules): FittedTable['fittedFor']['selection'] {
  const {
    exposure: _exposure,
    priorUse: _priorUse,
    poolMembership: _poolMembership,
    blueprintCoverage = 'none',
    selectionTarget = 'latent_state',
    ...rules
  } = eligibilityRules;
  const given = {
    ...rules,
    maxItems,
    coverageFloors,
    blueprintCoverage,
    selectionTarget,
    ...(selectionTarget === 'latent_state' ? {} : { kcCutScore, confidenceThreshold }),
  };
  return Object.fromEntries(
    Object.entries(given).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  );
}
