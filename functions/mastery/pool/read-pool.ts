import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { createRecent } from '#shared/kernel/recent.ts';
import { err, ok, type Err, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Manifest } from '#shared/platform/owners/bank.ts';
import type { Blueprint } from '#shared/platform/owners/content.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { confirmed, contradicting, type Contradiction } from '../upstream/confirmed.ts';
import { ask, found, mismatchProblem, refuseCalibration } from '../upstream/problems.ts';
import { contentDefect, readContent, type Content } from './content.ts';
import { complete, poolHashOf, reconcile, tagged, terminal } from './reconcile.ts';
import type { PoolIds, ReconciledPool, Tagged, TerminalManifest } from './reconcile.ts';

/** A pool from which items may be selected. */
export interface ReadPool {
  readonly pool: ReconciledPool;
  readonly pins: ExecutionPins;
  /** Content's blueprint of the test, or why no item may be offered; undefined if it was not read. */
  readonly content: Result<Blueprint, Problem> | undefined;
}

/** Reconciled pools, by the content addresses of their parts. A pool that was proved before is read again, but not proved again. */
const proved = createRecent<ReconciledPool>(4);

/**
 * Reads and proves the pool that a caller names: eight calls, three deep. Blueprint, bank and manifest; then each of them again, together with the root
 * that the manifest names; then the root again. Two equal readings pin each of them, so that a lagging replica pins nothing and a change under way does
 * not count as a broken pool. Returns nothing of a pool that is not whole [MA-222].
 */
export async function readPool(platform: Platform, ids: PoolIds): Promise<Result<ReadPool, Problem>> {
  const readings = readingsOf(platform, ids, 'start');
  const [firstContent, firstManifest] = await Promise.all([readings.content(), readings.manifest()]);
  if (!firstContent.ok) return firstContent;
  if (!firstManifest.ok) return firstManifest;
  const named = firstManifest.value.value.root?.artifactVersionId;
  const [content, manifest, rootOfFirst] = await Promise.all([
    pin(platform, firstContent.value, readings.content, compareContent),
    pin(platform, firstManifest.value, readings.manifest, compareTagged(operations.readAdaptivePoolManifest)),
    named === undefined ? undefined : readings.root(named),
  ]);
  if (!content.ok) return content;
  const defect = contentDefect(content.value, ids);
  if (defect !== undefined) return err(defect);
  if (!manifest.ok) return manifest;
  if (!isOf(manifest.value.value, ids))
    return err(
      mismatchProblem('/body/bankOperationId', 'The Bank operation was not run for this test spec and bank.'),
    );
  const whole = complete(manifest.value);
  if (!whole.ok) return whole;

  const readAgain = () => readings.root(whole.value.root.artifactVersionId);
  // A root that only an older manifest names is not the pool's.
  const isSame = whole.value.root.artifactVersionId === named;
  const firstRoot = isSame && rootOfFirst !== undefined ? rootOfFirst : await readAgain();
  if (!firstRoot.ok) return firstRoot;
  const compareRoots = compareTagged(operations.readAdaptivePoolRoot);
  const root = await pin(platform, firstRoot.value, readAgain, compareRoots);
  if (!root.ok) return root;

  const pool = prove(whole.value, root.value);
  if (!pool.ok) return pool;
  if (root.value.value.itemRefs.some(({ normalMaximum = 1 }) => normalMaximum !== 1))
    return refuseCalibration(
      'An item of the pool has a maximum score other than 1, which no calibration can measure.',
    );
  return ok({
    pool: pool.value,
    content: ok(content.value.blueprint.value),
    pins: { ...content.value.pins, bankOperationId: ids.bankOperationId, ...pool.value.pins },
  });
}

/** The difference between two readings of one document; undefined if they are equal. A contradiction may be gone in the next reading. */
type Comparison<T> = (one: T, other: T) => Problem | Contradiction | undefined;

/** Pins a document by two equal readings [MA-024, MA-027]. If the first two differ, a third one after a pause decides, if it equals one of them. */
async function pin<T>(
  platform: Platform,
  first: T,
  read: () => Promise<Result<T, Problem>>,
  compare: Comparison<T>,
): Promise<Result<T, Problem>> {
  const readings = [first];
  return confirmed(platform, async () => {
    const next = await read();
    if (!next.ok) return next;
    const differences = readings.map((earlier) => compare(earlier, next.value));
    readings.push(next.value);
    const unstable = differences.find((difference) => difference !== undefined && 'status' in difference);
    if (unstable !== undefined) return err(unstable);
    const [contradiction] = differences;
    return contradiction === undefined || differences.includes(undefined)
      ? ok(next.value)
      : err(contradiction);
  });
}

const compareContent: Comparison<Content> = ({ pins: one }, { pins: other }) =>
  one.testSpecHash === other.testSpecHash && one.testBankIdentityHash === other.testBankIdentityHash
    ? undefined
    : contradicting(found('differs', operations.readTestSpec, undefined)).error;

/**
 * Compares answers with entity tags. Another validator means that the document has changed. Other content under the same strong validator means that
 * its owner cannot be trusted: 502, regardless of a third reading. The order of names and white space make no difference.
 */
function compareTagged<T>(operation: UpstreamOperation): Comparison<Tagged<T>> {
  return (one, other) => {
    if (one.etag !== other.etag) {
      const detail = 'Two readings of the pool belong to different versions.';
      return contradicting(found('differs', operation, undefined, detail)).error;
    }
    // Only different bytes need the slower comparison of their content.
    if (one.bodyHash === other.bodyHash || hashCanonical(one.value) === hashCanonical(other.value))
      return undefined;
    const detail = 'Two readings under the same entity tag differ.';
    return found('broken', operation, other.upstreamRequestId, detail);
  };
}

/**
 * Reads the pool of a run again and compares it with the run's pins: four calls, one deep, since the pins are the first reading and name the root's
 * version [MA-066]. Another pool is a 409 `adaptive-pool-version-drift`, even if it is broken too; the pinned one is a 502 if it is broken now; one that
 * cannot be read is a 424. A contradiction of the pins is read again before the service believes it. Content binds only offers, so its problem is
 * returned together with the pool: a 409 `stream-conflict` if it has changed.
 */
export async function revalidatePool(
  platform: Platform,
  pins: ExecutionPins,
  readsContent: boolean,
): Promise<Result<ReadPool, Problem>> {
  const [content, pool] = await Promise.all([
    readsContent ? confirmed(platform, () => rereadContent(platform, pins)) : undefined,
    confirmed(platform, () => rereadPool(platform, pins)),
  ]);
  return pool.ok ? ok({ pool: pool.value, pins, content }) : pool;
}

/** Returns the blueprint, if it and the bank's identity are those of the pins. */
async function rereadContent(
  platform: Platform,
  pins: ExecutionPins,
): Promise<Result<Blueprint, Problem | Contradiction>> {
  const content = await readContent(platform, pins, 'run');
  if (!content.ok) return content;
  const { testSpecHash, testBankIdentityHash } = content.value.pins;
  const reading = `${testSpecHash} ${testBankIdentityHash}`;
  const differs = (detail: string): Err<Contradiction> =>
    contradicting(found('differs', operations.readTestSpec, undefined, detail), reading);
  if (testSpecHash !== pins.testSpecHash)
    return differs('The Content blueprint differs from the one that this run is pinned to.');
  return testBankIdentityHash === pins.testBankIdentityHash
    ? ok(content.value.blueprint.value)
    : differs('The identity of the Content bank differs from the one that this run is pinned to.');
}

/** Returns the pool, if manifest and root are those of the pins. */
async function rereadPool(
  platform: Platform,
  pins: ExecutionPins,
): Promise<Result<ReconciledPool, Problem | Contradiction>> {
  const readings = readingsOf(platform, pins, 'run');
  const [manifest, root] = await Promise.all([
    readings.manifest(),
    readings.root(pins.qtiPoolArtifactVersionId),
  ]);
  if (!manifest.ok) return manifest;
  if (!root.ok) return root;
  const drift = contradicting(
    found('differs', operations.readAdaptivePoolManifest, undefined),
    `${manifest.value.bodyHash} ${root.value.bodyHash} ${root.value.etag}`,
  );
  const whole = complete(manifest.value);
  // The pinned manifest was whole. Its version is checked before its soundness.
  if (!whole.ok || root.value.etag !== pins.qtiPoolEtag || !isOf(manifest.value.value, pins)) return drift;
  const isPinned = [whole.value.root, root.value.value].every(
    ({ packageId, packageHash, artifactId, artifactVersionId }) =>
      packageId === pins.qtiPoolPackageId &&
      packageHash === pins.qtiPoolPackageHash &&
      artifactId === pins.qtiPoolArtifactId &&
      artifactVersionId === pins.qtiPoolArtifactVersionId,
  );
  if (!isPinned) return drift;
  const pool = prove(whole.value, root.value);
  const hash = pool.ok ? pool.value.pins.resolvedPoolHash : poolHashOf(whole.value, root.value);
  return hash === pins.resolvedPoolHash ? pool : drift;
}

function isOf({ testSpecId, testBankId }: Manifest, asked: PoolIds): boolean {
  return testSpecId === asked.testSpecId && testBankId === asked.testBankId;
}

function prove(manifest: TerminalManifest, root: Tagged<DeliveryJson>): Result<ReconciledPool, Problem> {
  const key = `${manifest.answer.bodyHash} ${root.bodyHash} ${root.etag}`;
  const known = proved.get(key);
  if (known !== undefined) return ok(known);
  const reconciled = reconcile(manifest, root);
  if (reconciled.ok) proved.set(key, reconciled.value);
  return reconciled;
}

/** Returns the readings of a pool's parts. */
function readingsOf(platform: Platform, ids: PoolIds, use: 'start' | 'run') {
  const { readAdaptivePoolManifest, readAdaptivePoolRoot } = operations;
  return {
    content: () => readContent(platform, ids, use),
    manifest: async () => {
      const path = { operationId: ids.bankOperationId };
      const answer = await ask(platform, use, readAdaptivePoolManifest, { path });
      return answer.ok ? terminal(answer.value) : answer;
    },
    root: async (artifactVersionId: string) => {
      const answer = await ask(platform, use, readAdaptivePoolRoot, { path: { artifactVersionId } });
      return answer.ok ? tagged(readAdaptivePoolRoot, answer.value) : answer;
    },
  };
}
