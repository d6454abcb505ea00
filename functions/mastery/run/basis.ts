import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { readAnchor, type AnchorDoubt } from '#functions/mastery/pool/anchor.ts';
import { verifyCaseMappings } from '#functions/mastery/pool/case-mappings.ts';
import { revalidatePool, type ReadPool } from '#functions/mastery/pool/read-pool.ts';
import { loadPinned, type PinnedRecords, type RecordUse } from '#functions/mastery/records/load.ts';
import { confirmed, unconfirmed } from '#functions/mastery/upstream/confirmed.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { verifyAnchor } from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { RecordStore } from '#shared/records/store.ts';
import { bindPool, type BoundPool } from './bound-pool.ts';

/** The present facts of records and owners: everything that a diagnosis is based on in addition to the answers. */
export interface RunBasis extends PinnedRecords, Pick<ReadPool, 'pins' | 'content'> {
  readonly bound: BoundPool;
  /** While its anchor cannot be verified, a run continues with provisional results and without a scale score [MA-081]. */
  readonly isAnchored: boolean;
}

/** The doubts about the anchor that are refused: a start needs a point that exists, a simulation a verified one. A started run continues. */
const REFUSED_DOUBTS: Readonly<Record<'start' | 'run' | 'simulation', readonly AnchorDoubt['kind'][]>> = {
  start: ['absent', 'unusable'],
  run: ['unusable'],
  simulation: ['unavailable', 'absent', 'unusable'],
};

/**
 * Assembles the basis of a run or a simulation: the pool, bound to the calibration, with every in-scope KC resolved in CASE; and the anchor, whose silence
 * delays nothing else.
 * @param reading the pool, which is being read
 * @param purpose decides which doubts about the anchor are refused; an answer that contradicts the pin is read once more first
 */
export async function readBasis(
  platform: Platform,
  records: PinnedRecords,
  reading: Promise<Result<ReadPool, Problem>>,
  purpose: keyof typeof REFUSED_DOUBTS,
): Promise<Result<RunBasis, Problem>> {
  const [test, isAnchored] = await Promise.all([
    readTest(platform, records, reading),
    confirmed(platform, async () => {
      const doubt = await readAnchor(platform, records.calibration.document.anchor);
      if (doubt === undefined || !REFUSED_DOUBTS[purpose].includes(doubt.kind))
        return ok(doubt === undefined);
      return doubt.kind === 'unavailable'
        ? err(doubt.problem)
        : unconfirmed(doubt.problem, verifyAnchor, doubt.kind);
    }),
  ]);
  if (!test.ok) return test;
  return isAnchored.ok ? ok({ ...records, ...test.value, isAnchored: isAnchored.value }) : isAnchored;
}

async function readTest(
  platform: Platform,
  records: PinnedRecords,
  reading: Promise<Result<ReadPool, Problem>>,
): Promise<Result<Pick<RunBasis, 'bound' | 'pins' | 'content'>, Problem>> {
  const read = await reading;
  if (!read.ok) return read;
  const { pool, pins, content } = read.value;
  const bound = bindPool(records, content?.ok === true ? content.value : undefined, pool);
  if (!bound.ok) return bound;
  const { caseFrameworkGuid } = records.calibration.document;
  const mapped = await verifyCaseMappings(platform, caseFrameworkGuid, bound.value.scope);
  return mapped.ok ? ok({ bound: bound.value, pins, content }) : mapped;
}

/**
 * Rereads everything that a run is pinned to: records, pool, CASE and anchor [MA-066, MA-157].
 * @param now epoch milliseconds
 * @param options whether Content is read too, and whether the caller decides by the records
 */
export async function rereadBasis(
  platform: Platform,
  store: RecordStore,
  state: AdaptiveRunState,
  now: number,
  { readsContent, use }: { readonly readsContent: boolean; readonly use: RecordUse },
): Promise<Result<RunBasis, Problem>> {
  const pinned = await loadPinned(store, state, now, use);
  if (!pinned.ok) return pinned;
  const reading = revalidatePool(platform, state.pins, readsContent);
  return readBasis(platform, pinned.value, reading, 'run');
}
