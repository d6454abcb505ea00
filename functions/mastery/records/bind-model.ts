import type { PoolMember } from '#functions/mastery/pool/reconcile.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { invalidCalibration } from './load.ts';
import type { BlueprintSlot } from './engine-rules.ts';
import type { RunCalibration } from './load.ts';

/** What Content's blueprint says of the test. */
export interface TestScope {
  readonly subject: string;
  readonly gradeLevels: readonly string[];
  readonly caseFrameworkGuid: string;
  readonly slots: readonly BlueprintSlot[];
}

/** A pool member and its place in the model. */
export interface BoundItem extends PoolMember {
  /** Index in the model's items. */
  readonly modelItem: number;
  /** What coverage floors and content constraints count: the GUIDs of knowledge components and standards, each once. */
  readonly tags: readonly string[];
  readonly accessibility: readonly string[];
}

/** A knowledge component that the run classifies. */
export interface ScopedKc {
  readonly guid: string;
  /** CFItem URI of the pinned mapping [MA-031]. */
  readonly uri: string;
  /** Index in the model's knowledge components. */
  readonly modelKc: number;
}

/** A pool that a calibration can measure. */
export interface BoundModel {
  /** In the order of the pool. */
  readonly items: readonly BoundItem[];
  /** Sorted by GUID, the order in which classifications are shown. */
  readonly scope: readonly ScopedKc[];
}

/**
 * Maps a reconciled pool to a calibration's model. 422 `calibration-invalid` when subject, grades or CASE framework differ, when a member
 * has no parameters, other knowledge components or another QTI identifier there [MA-052, MA-195]. Without `kcScope` the scope is every
 * knowledge component that the pool covers.
 * @param test undefined: the test has ended, and no longer goes by what Content says of it
 */
export function bindModel(
  calibration: RunCalibration,
  policy: Pick<SelectionPolicy, 'eligibilityRules'>,
  test: TestScope | undefined,
  members: readonly PoolMember[],
): Result<BoundModel, Problem> {
  const refusal = test && scopeRefusal(calibration.document, test);
  if (refusal !== undefined) return err(invalidCalibration(refusal));
  const items: BoundItem[] = [];
  for (const member of members) {
    const item = bindMember(calibration, member);
    if (!item.ok) return item;
    items.push(item.value);
  }
  const scope = scopedKcs(calibration, policy.eligibilityRules.kcScope, items);
  return scope.ok ? ok({ items, scope: scope.value }) : scope;
}

function scopeRefusal(document: RunCalibration['document'], test: TestScope): string | undefined {
  if (test.subject !== document.subject) return 'The calibration is for another subject than the test.';
  if (!test.gradeLevels.every((grade) => document.gradeCoverage.includes(grade))) {
    return 'The calibration does not cover every grade of the test.';
  }
  return test.caseFrameworkGuid === document.caseFrameworkGuid
    ? undefined
    : 'The calibration belongs to another CASE framework than the test.';
}

function bindMember(calibration: RunCalibration, member: PoolMember): Result<BoundItem, Problem> {
  const modelItem = calibration.model.itemIndex.get(member.artifactVersionId);
  const item = modelItem === undefined ? undefined : calibration.parameters.items[modelItem];
  if (modelItem === undefined || item === undefined) {
    return err(invalidCalibration('The calibration has no parameters for an item of the pool.'));
  }
  if (item.qtiIdentifier !== member.qtiIdentifier || !sameSet(item.kcs, member.kcGuids)) {
    return err(
      invalidCalibration(
        'The parameters of an item are not those of the pool’s item: identifier or components differ.',
      ),
    );
  }
  return ok({
    ...member,
    modelItem,
    tags: [...new Set([...member.kcGuids, ...member.caseGuids])],
    accessibility: item.accessibility ?? [],
  });
}

function scopedKcs(
  calibration: RunCalibration,
  kcScope: readonly string[] | undefined,
  items: readonly BoundItem[],
): Result<readonly ScopedKc[], Problem> {
  const guids = kcScope ?? [...new Set(items.flatMap((item) => item.kcGuids))];
  const scope: ScopedKc[] = [];
  for (const guid of guids.toSorted()) {
    const modelKc = calibration.model.kcIndex.get(guid);
    const kc = modelKc === undefined ? undefined : calibration.parameters.kcs[modelKc];
    if (modelKc === undefined || kc === undefined) {
      return err(invalidCalibration('The calibration has no parameters for a knowledge component in scope.'));
    }
    scope.push({ guid, uri: kc.uri, modelKc });
  }
  return ok(scope);
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const left = new Set(a);
  return left.size === new Set(b).size && b.every((value) => left.has(value));
}
