import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { CalibrationParameters } from '#shared/records/records.ts';
import { invalidCalibration } from './load.ts';
import type { BlueprintSlot } from './engine-rules.ts';
import type { RunCalibration } from './load.ts';

/** What the engine's compiled model tells of its own numbering. */
export interface IndexedModel {
  readonly itemIndex: ReadonlyMap<string, number>;
  readonly kcIndex: ReadonlyMap<string, number>;
}

/** What Content's blueprint says of the test. */
export interface TestScope {
  readonly subject: string;
  readonly gradeLevels: readonly string[];
  readonly caseFrameworkGuid: string;
  readonly slots: readonly BlueprintSlot[];
}

/** A reconciled member of the pool. */
export interface BindableMember {
  readonly artifactVersionId: string;
  readonly qtiIdentifier: string;
  readonly caseGuids: readonly string[];
  readonly kcGuids: readonly string[];
}

/** A pool member and its place in the model. */
export interface BoundItem {
  /** Index in the model's items. */
  readonly modelItem: number;
  readonly artifactVersionId: string;
  readonly qtiIdentifier: string;
  readonly kcGuids: readonly string[];
  readonly caseGuids: readonly string[];
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
  calibration: RunCalibration<IndexedModel>,
  policy: Pick<SelectionPolicy, 'eligibilityRules'>,
  test: TestScope | undefined,
  members: readonly BindableMember[],
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

function scopeRefusal(
  document: RunCalibration<IndexedModel>['document'],
  test: TestScope,
): string | undefined {
  if (test.subject !== document.subject) return 'The calibration is for another subject than the test.';
  if (!test.gradeLevels.every((grade) => document.gradeCoverage.includes(grade))) {
    return 'The calibration does not cover every grade of the test.';
  }
  return test.caseFrameworkGuid === document.caseFrameworkGuid
    ? undefined
    : 'The calibration belongs to another CASE framework than the test.';
}

function bindMember(
  calibration: RunCalibration<IndexedModel>,
  member: BindableMember,
): Result<BoundItem, Problem> {
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
  const { artifactVersionId, qtiIdentifier, kcGuids, caseGuids } = member;
  return ok({
    modelItem,
    artifactVersionId,
    qtiIdentifier,
    kcGuids,
    caseGuids,
    tags: [...new Set([...kcGuids, ...caseGuids])],
    accessibility: item.accessibility ?? [],
  });
}

function scopedKcs(
  calibration: RunCalibration<IndexedModel>,
  kcScope: readonly string[] | undefined,
  items: readonly BoundItem[],
): Result<readonly ScopedKc[], Problem> {
  const guids = kcScope ?? [...new Set(items.flatMap((item) => item.kcGuids))];
  const kcs: CalibrationParameters['kcs'] = calibration.parameters.kcs;
  const scope: ScopedKc[] = [];
  for (const guid of guids.toSorted()) {
    const modelKc = calibration.model.kcIndex.get(guid);
    const kc = modelKc === undefined ? undefined : kcs[modelKc];
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
