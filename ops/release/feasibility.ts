import { compileModel, feasibilityOf, prepareSelection } from '#functions/mastery/engine/index.ts';
import type { UnmeetableMinimum } from '#functions/mastery/engine/index.ts';
import { constraintsOf } from '#functions/mastery/records/engine-rules.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { pointer, type Defect } from '#shared/kernel/defect.ts';
import type { CalibrationParameters } from '#shared/records/records.ts';

/** What a policy asks that no run with items of a calibration can give. */
export interface PolicyFeasibility {
  readonly defects: readonly Defect[];
  /** What could not be checked, as sentences: it need not be wrong. */
  readonly unchecked: readonly string[];
}

/**
 * Holds the demands of a policy against the items of a calibration, with the planner that serves runs. A pool is at most all of them, so
 * that what they cannot give no pool can. Demands on standards are not checked: only a pool's manifest names the items that have those.
 * @param parameters of a calibration that is sound
 */
export function checkFeasibility(
  policy: SelectionPolicy,
  parameters: CalibrationParameters,
): PolicyFeasibility {
  const model = compileModel(parameters);
  if (!model.ok) throw new RangeError('the calibration is checked before the policy is held against it');
  const known = new Set(parameters.kcs.map(({ guid }) => guid));
  const constraints = constraintsOf(policy, [], [], undefined);
  const pointers = minimaPointers(policy);
  const minima = constraints.minima
    .map((minimum, m) => ({ ...minimum, pointer: pointers[m] ?? '' }))
    .filter(({ items }) => items > 0);
  const checked = minima.filter(({ guid }) => known.has(guid));
  const context = prepareSelection(
    model.value,
    parameters.items.map((item, index) => ({
      item: index,
      artifactVersionId: item.artifactVersionId,
      qtiIdentifier: item.qtiIdentifier,
      tags: item.kcs,
      accessibility: item.accessibility ?? [],
    })),
    { ...constraints, minima: checked },
  );
  const { unmeetable, undecided } = feasibilityOf(context);
  const standards = minima.filter(({ guid }) => !known.has(guid));
  return {
    defects: [
      ...scopeDefects(policy, parameters, known),
      ...unmeetable.map((finding) => ({
        pointer: checked[finding.minimum]?.pointer ?? '',
        message: reason(finding, checked, policy, parameters),
      })),
    ],
    unchecked: [
      ...(policy.eligibilityRules.blueprintCoverage === 'slots'
        ? [
            `${pointer('document', 'eligibilityRules', 'blueprintCoverage')}: only a blueprint says which slots there are`,
          ]
        : []),
      ...standards.map(
        ({ pointer: at, guid }) =>
          `${at}: ${guid} is no component of the calibration, so a standard; only a pool says which items bear it`,
      ),
      ...undecided.map(
        (m) => `${checked[m]?.pointer ?? ''}: too much to search; it may or may not be meetable`,
      ),
    ],
  };
}

/** Returns the place of each of the engine's minima in the file: floors first, then content minima, as `constraintsOf` has them. */
function minimaPointers({ coverageFloors, eligibilityRules }: SelectionPolicy): readonly string[] {
  return [
    ...coverageFloors.map((_, n) => pointer('document', 'coverageFloors', n, 'minimumEvidenceItems')),
    ...Object.entries(eligibilityRules.contentConstraints ?? {}).flatMap(([guid, { minItems }]) =>
      minItems === undefined
        ? []
        : [pointer('document', 'eligibilityRules', 'contentConstraints', guid, 'minItems')],
    ),
  ];
}

function reason(
  { minimum, cause, items, others }: UnmeetableMinimum,
  minima: readonly { readonly guid: string; readonly items: number }[],
  policy: SelectionPolicy,
  parameters: CalibrationParameters,
): string {
  const { guid = '', items: wanted = 0 } = minima[minimum] ?? {};
  switch (cause) {
    case 'items':
      return `cannot be met: ${offerable(guid, items, policy, parameters)}`;
    case 'conditions':
      return `cannot be met: ${count(items, 'item')} on ${guid} may be offered, but enemy sets, content maxima, the size of a component or maxItems keep ${wanted} of them from being offered in one run`;
    case 'together': {
      const names = [...new Set(others.map((other) => minima[other]?.guid ?? ''))];
      return `cannot be met in the same run as the minima of ${names.join(', ')}, with maxItems ${policy.maxItems}`;
    }
  }
}

/** Returns how many items on a component may be offered, and what bars the others. */
function offerable(
  guid: string,
  items: number,
  { eligibilityRules }: SelectionPolicy,
  parameters: CalibrationParameters,
): string {
  const required = eligibilityRules.requiredAccessibility ?? [];
  const excluded = eligibilityRules.excludedItems ?? [];
  const own = parameters.items.filter(({ kcs }) => kcs.includes(guid));
  const inaccessible = own.filter(({ accessibility = [] }) =>
    required.some((tag) => !accessibility.includes(tag)),
  );
  const barred = own.filter(
    (item) => !inaccessible.includes(item) && excluded.includes(item.qtiIdentifier),
  ).length;
  const capped = own.length - inaccessible.length - barred - items;
  const reasons = [
    { barred: inaccessible.length, why: 'without the required accessibility' },
    { barred, why: 'excluded' },
    { barred: capped, why: 'with a component that has maxItems 0' },
  ].filter((one) => one.barred > 0);
  const why = reasons.map((one) => `${one.barred} ${one.why}`).join(', ');
  return `${count(items, 'item')} on ${guid} may be offered, of ${own.length} in the calibration${why === '' ? '' : ` (${why})`}`;
}

function count(number: number, noun: string): string {
  if (number === 0) return `no ${noun}`;
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}

/** Components that every start would refuse (400 `invalid-request`), or that no run could ever classify. */
function scopeDefects(
  { eligibilityRules }: SelectionPolicy,
  parameters: CalibrationParameters,
  known: ReadonlySet<string>,
): readonly Defect[] {
  const { kcScope = [], requiredAccessibility = [], excludedItems = [] } = eligibilityRules;
  return kcScope.flatMap((guid, n): readonly Defect[] => {
    const at = pointer('document', 'eligibilityRules', 'kcScope', n);
    if (!known.has(guid)) return [{ pointer: at, message: 'is no component of the calibration' }];
    const own = parameters.items.filter(({ kcs }) => kcs.includes(guid));
    if (own.length === 0) return [{ pointer: at, message: 'is measured by no item of the calibration' }];
    const offered = own.some(
      ({ qtiIdentifier, accessibility = [] }) =>
        !excludedItems.includes(qtiIdentifier) &&
        requiredAccessibility.every((tag) => accessibility.includes(tag)),
    );
    return offered
      ? []
      : [
          {
            pointer: at,
            message: 'can never be classified: accessibility and exclusions bar all of its items',
          },
        ];
  });
}
