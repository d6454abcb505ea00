import { prepareSelection, type PoolItem, type SelectionContext } from '#functions/mastery/engine/index.ts';
import type { PoolMember, ReconciledPool } from '#functions/mastery/pool/reconcile.ts';
import type { ScopedKc } from '#functions/mastery/pool/scoped-kc.ts';
import { constraintsOf, minimaOf } from '#functions/mastery/records/engine-rules.ts';
import type { PinnedRecords, RunCalibration } from '#functions/mastery/records/load.ts';
import {
  invalidCalibration,
  mismatchProblem,
  refuseCalibration,
} from '#functions/mastery/upstream/problems.ts';
import { createRecent } from '#shared/kernel/recent.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Blueprint } from '#shared/platform/owners/content.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** A pool member and its place in the model. */
export interface BoundItem extends PoolMember, PoolItem {}

/** A pool that a calibration can measure, ready for selection under a policy. */
export interface BoundPool {
  /** In the order of the pool. */
  readonly items: readonly BoundItem[];
  readonly byArtifactVersion: ReadonlyMap<string, BoundItem>;
  /** Sorted by GUID, the order of classifications. */
  readonly scope: readonly ScopedKc[];
  /** Returns the same context every time; a request that only looks at a run never calls it. */
  readonly selection: () => SelectionContext;
  /** How many items of the policy and its exposure table the pool lacks: they may have been written for a larger pool. */
  readonly absentItems: number;
}

/** The pools that a container has prepared, by the content of all their parts. */
const prepared = createRecent<BoundPool>(8);

/**
 * Maps a reconciled pool to a calibration's model, once per content and container. 400 at the policy if it requires a knowledge component or a standard
 * that no member has. 422 `calibration-invalid` if subject, grades or CASE framework differ, or if a member has no parameters, other knowledge components
 * or another QTI identifier there [MA-052, MA-195]. Without `kcScope` the scope is every knowledge component that the pool covers.
 * @param test undefined if no item is offered: then nothing depends on Content's blueprint
 */
export function bindPool(
  { policy, exposureTable, calibration }: PinnedRecords,
  test: Blueprint | undefined,
  { pins, members }: ReconciledPool,
): Result<BoundPool, Problem> {
  const { document, parametersHash, model } = calibration;
  const key = JSON.stringify([
    pins.resolvedPoolHash,
    parametersHash,
    document.checksum,
    policy.checksum,
    test && [test.subject, test.gradeLevels, test.caseFrameworkGuid, minimaOf(policy, test.slots)],
  ]);
  const known = prepared.get(key);
  if (known !== undefined) return ok(known);
  const refusal = test && (lacks(members, policy, test) ?? scopeRefusal(document, test));
  if (refusal !== undefined) return err(refusal);
  const items: BoundItem[] = [];
  for (const member of members) {
    const item = bindMember(calibration, member);
    if (!item.ok) return item;
    items.push(item.value);
  }
  const guids = policy.eligibilityRules.kcScope ?? [...new Set(items.flatMap(({ kcGuids }) => kcGuids))];
  const scope = guids.toSorted().map((guid) => scopedKc(calibration, guid));
  let selection: SelectionContext | undefined;
  const bound: BoundPool = {
    items,
    byArtifactVersion: new Map(items.map((item) => [item.artifactVersionId, item])),
    scope,
    selection() {
      const kcs = scope.map(({ modelKc }) => modelKc);
      return (selection ??= prepareSelection(
        model,
        items,
        constraintsOf(policy, kcs, test?.slots ?? [], exposureTable),
      ));
    },
    absentItems: absentItems(policy, exposureTable, items),
  };
  prepared.set(key, bound);
  return ok(bound);
}

/** Returns a 400 if no member has a GUID that the policy requires: in its scope, floors or content minima, or in the slots that it makes minima. */
function lacks(
  members: readonly PoolMember[],
  policy: PinnedRecords['policy'],
  { slots }: Blueprint,
): Problem | undefined {
  const kcs = new Set(members.flatMap(({ kcGuids }) => kcGuids));
  const tags = new Set([...kcs, ...members.flatMap(({ caseGuids }) => caseGuids)]);
  const isHeld =
    (policy.eligibilityRules.kcScope ?? []).every((guid) => kcs.has(guid)) &&
    minimaOf(policy, slots).every(({ guid }) => tags.has(guid));
  return isHeld
    ? undefined
    : mismatchProblem(
        '/body/selectionPolicyId',
        'The policy counts on a knowledge component or a standard that the pool does not have.',
      );
}

function scopeRefusal(document: RunCalibration['document'], test: Blueprint): Problem | undefined {
  if (test.subject !== document.subject)
    return invalidCalibration('The calibration is for another subject than the test.');
  if (!test.gradeLevels.every((grade) => document.gradeCoverage.includes(grade)))
    return invalidCalibration('The calibration does not cover every grade of the test.');
  return test.caseFrameworkGuid === document.caseFrameworkGuid
    ? undefined
    : invalidCalibration('The calibration belongs to another CASE framework than the test.');
}

function bindMember({ model, parameters }: RunCalibration, member: PoolMember): Result<BoundItem, Problem> {
  const item = model.itemIndex.get(member.artifactVersionId) ?? -1;
  const own = parameters.items[item];
  if (own === undefined)
    return refuseCalibration('The calibration has no parameters for an item of the pool.');
  // The member's GUIDs are proved to be ascending; those of an older calibration may be in any order.
  if (own.qtiIdentifier !== member.qtiIdentifier || own.kcs.toSorted().join() !== member.kcGuids.join())
    return refuseCalibration(
      'The parameters of an item are not those of the pool’s item: identifier or components differ.',
    );
  return ok({
    ...member,
    item,
    tags: [...new Set([...member.kcGuids, ...member.caseGuids])],
    accessibility: own.accessibility ?? [],
  });
}

function scopedKc({ model, parameters }: RunCalibration, guid: string): ScopedKc {
  const modelKc = model.kcIndex.get(guid) ?? -1;
  const kc = parameters.kcs[modelKc];
  if (kc === undefined) throw new Error('a component in scope is not one of any member');
  return { guid, uri: kc.uri, modelKc };
}

function absentItems(
  { eligibilityRules: { excludedItems = [], enemySets = [] } }: PinnedRecords['policy'],
  exposureTable: PinnedRecords['exposureTable'] = {},
  items: readonly BoundItem[],
): number {
  const absent = new Set([...excludedItems, ...enemySets.flat(), ...Object.keys(exposureTable)]);
  for (const { qtiIdentifier } of items) absent.delete(qtiIdentifier);
  return absent.size;
}
