import { prepareSelection } from '#functions/mastery/engine/index.ts';
import type { CompiledModel, SelectionContext } from '#functions/mastery/engine/index.ts';
import type { ReconciledPool } from '#functions/mastery/pool/reconcile.ts';
import { bindModel } from '#functions/mastery/records/bind-model.ts';
import type { BoundItem, BoundModel, TestScope } from '#functions/mastery/records/bind-model.ts';
import { constraintsOf, minimaOf } from '#functions/mastery/records/engine-rules.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { createRecent } from '#shared/kernel/recent.ts';
import type { Recent } from '#shared/kernel/recent.ts';
import type { PinnedRecords } from './pinned-records.ts';

/** A pool that a calibration can measure, ready for selection under a policy. */
export interface BoundPool extends BoundModel {
  /** The same context every time; a request that only looks at a run never asks for it. */
  readonly selection: () => SelectionContext;
  readonly byArtifactVersion: ReadonlyMap<string, BoundItem>;
  /** By index in the model's items. */
  readonly byModelItem: ReadonlyMap<number, BoundItem>;
  /** How many items the policy and its exposure table name that the pool lacks: they may have been written for a larger pool. */
  readonly absentItems: number;
}

/** How many policies and calibrations a pool is kept prepared for with one model. */
const KEPT = 4;

/**
 * What was prepared before, for as long as the container keeps the pool and the model themselves. Both are the same object for the same
 * content; the other inputs are named by content too, so that what is found is what would be made.
 */
const prepared = new WeakMap<ReconciledPool, WeakMap<CompiledModel, Recent<BoundPool>>>();

/** Binds a pool (422 as `bindModel` says) for selection: once for the same pool, records and test scope in a container. */
export function bindPool(
  { policy, exposureTable, calibration }: PinnedRecords,
  test: TestScope | undefined,
  pool: ReconciledPool,
): Result<BoundPool, Problem> {
  const kept = keptFor(pool, calibration.model);
  const key = JSON.stringify([
    policy.checksum,
    calibration.document.checksum,
    test && [test.subject, test.gradeLevels, test.caseFrameworkGuid, minimaOf(policy, test.slots)],
  ]);
  const known = kept.get(key);
  if (known !== undefined) return ok(known);
  const bound = bindModel(calibration, policy, test, pool.members);
  if (!bound.ok) return bound;
  const { items, scope } = bound.value;
  let selection: SelectionContext | undefined;
  const value: BoundPool = {
    items,
    scope,
    selection() {
      if (test === undefined) throw new Error('a run that has stopped selects nothing');
      selection ??= prepareSelection(
        calibration.model,
        items.map((item) => ({ ...item, item: item.modelItem })),
        constraintsOf(
          policy,
          scope.map(({ modelKc }) => modelKc),
          test.slots,
          exposureTable,
        ),
      );
      return selection;
    },
    byArtifactVersion: new Map(items.map((item) => [item.artifactVersionId, item])),
    byModelItem: new Map(items.map((item) => [item.modelItem, item])),
    absentItems: absentItems(policy, exposureTable, items),
  };
  kept.set(key, value);
  return ok(value);
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

function keptFor(pool: ReconciledPool, model: CompiledModel): Recent<BoundPool> {
  const byModel = prepared.get(pool) ?? new WeakMap<CompiledModel, Recent<BoundPool>>();
  prepared.set(pool, byModel);
  const kept = byModel.get(model) ?? createRecent<BoundPool>(KEPT);
  byModel.set(model, kept);
  return kept;
}
