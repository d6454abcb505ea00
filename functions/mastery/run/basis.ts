import { readAnchor } from '#functions/mastery/pool/anchor.ts';
import type { AnchorStatus } from '#functions/mastery/pool/anchor.ts';
import { verifyCaseMappings } from '#functions/mastery/pool/case-mappings.ts';
import { mismatchProblem } from '#functions/mastery/pool/content.ts';
import { readPool } from '#functions/mastery/pool/read-pool.ts';
import type { PoolCache, PoolIds, ReadPool } from '#functions/mastery/pool/read-pool.ts';
import { minimaOf } from '#functions/mastery/records/engine-rules.ts';
import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { bindPool } from './bound-pool.ts';
import type { BoundPool } from './bound-pool.ts';
import type { PinnedRecords } from './pinned-records.ts';

/** What records and owners say now: all that a diagnosis stands on beside the answers. */
export interface RunBasis extends PinnedRecords {
  readonly bound: BoundPool;
  readonly pins: ExecutionPins;
  readonly content: ReadPool['content'];
  readonly anchor: AnchorStatus;
}

/**
 * Puts the basis of a run together: the pool, bound to the calibration, every in-scope KC resolved in CASE; beside them the anchor, whose
 * silence delays nothing else. A run does not start on an anchor that its source lacks; one that has started goes on without it.
 * @param reading the pool, which is being read
 */
export async function readBasis(
  platform: Platform,
  records: PinnedRecords,
  reading: Promise<Result<ReadPool, Problem>>,
  run: 'new' | 'under_way',
): Promise<Result<RunBasis, Problem>> {
  const [pool, anchor] = await Promise.all([
    readBoundPool(platform, records, reading),
    readAnchor(platform, records.calibration.document.anchor),
  ]);
  if (!pool.ok) return pool;
  if (anchor.kind === 'unusable' || (anchor.kind === 'absent' && run === 'new')) return err(anchor.problem);
  const status = anchor.kind === 'verified' ? 'verified' : 'unavailable';
  return ok({ ...records, ...pool.value, anchor: status });
}

/**
 * Reads the pool that a caller names, for the policy that the caller names. 400 at the policy when it counts on a KC or a standard that no
 * member of the pool has: in its scope, its floors, its content minima, or the blueprint's slots where it makes these minima.
 */
export async function readNamedPool(
  platform: Platform,
  pools: PoolCache,
  ids: PoolIds,
  policy: SelectionPolicy,
): Promise<Result<ReadPool, Problem>> {
  const read = await readPool(platform, pools, ids);
  if (!read.ok) return read;
  const { pool, blueprint } = read.value;
  const kcs = new Set(pool.members.flatMap(({ kcGuids }) => kcGuids));
  const tags = new Set([...kcs, ...pool.members.flatMap(({ caseGuids }) => caseGuids)]);
  const isHeld =
    (policy.eligibilityRules.kcScope ?? []).every((guid) => kcs.has(guid)) &&
    minimaOf(policy, blueprint.slots).every(({ guid }) => tags.has(guid));
  return isHeld
    ? read
    : err(
        mismatchProblem(
          '/body/selectionPolicyId',
          'The policy counts on a knowledge component or a standard that the pool does not have.',
        ),
      );
}

/** The pool, bound to the calibration, with every in-scope KC resolved in CASE. */
export async function readBoundPool(
  platform: Platform,
  records: PinnedRecords,
  reading: Promise<Result<ReadPool, Problem>>,
): Promise<Result<Pick<RunBasis, 'bound' | 'pins' | 'content'>, Problem>> {
  const pool = await reading;
  if (!pool.ok) return pool;
  const { blueprint, content, pins } = pool.value;
  const bound = bindPool(records, blueprint, pool.value.pool);
  if (!bound.ok) return bound;
  const { caseFrameworkGuid } = records.calibration.document;
  const mapped = await verifyCaseMappings(platform, caseFrameworkGuid, bound.value.scope);
  return mapped.ok ? ok({ bound: bound.value, pins, content }) : mapped;
}
