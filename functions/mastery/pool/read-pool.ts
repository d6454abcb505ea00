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
import { confirmed, unconfirmed, differing, type UnconfirmedProblem } from '../upstream/confirmed.ts';
import { ask, found, mismatchProblem, refuseCalibration } from '../upstream/problems.ts';
import { contentDefect, testBankIdentityHashOf, testSpecHashOf } from './content.ts';
import { complete, poolHashOf, reconcile, tagged, terminal } from './reconcile.ts';
import type { PoolIds, ReconciledPool, Tagged, TerminalManifest } from './reconcile.ts';

/** A pool that may be selected from. */
export interface ReadPool {
  readonly pool: ReconciledPool;
  readonly pins: ExecutionPins;
  /** Content's blueprint of the test, or why no item may be offered by it; undefined if it is not read. */
  readonly content: Result<Blueprint, Problem> | undefined;
}

/** Reconciled pools by the content addresses of what they were made of: it spares a second proof of the same pool, never the reading. */
const proved = createRecent<ReconciledPool>(4);

/**
 * Reads and proves the pool that a caller names: eight calls, three deep. Blueprint, bank and manifest; then each of them again, together
 * with the root that the manifest names; then the root again. What is pinned has been read twice alike, so that a replica that lags pins nothing and
 * a change under way is not taken for a broken pool. Nothing is returned of a pool that is not whole [MA-222].
 * @param purpose a simulation has no stream that could conflict [MA-181]
 */
export async function readPool(
  platform: Platform,
  ids: PoolIds,
  purpose: 'run' | 'simulation',
): Promise<Result<ReadPool, Problem>> {
  const readings = readingsOf(platform, ids, 'start');
  const first = await Promise.all([readings.blueprint(), readings.bank(), readings.manifest()]);
  const [blueprint, bank, manifest] = first;
  // A 400 before a 404: which of the ids exist does not show.
  const refused = first.find((result) => !result.ok && result.error.status === 400);
  if (refused?.ok === false) return refused;
  if (!blueprint.ok) return blueprint;
  if (!bank.ok) return bank;
  if (!manifest.ok) return manifest;
  const named = manifest.value.value.root?.artifactVersionId;
  const kind = purpose === 'run' ? 'differs' : 'pending';
  const [pinnedBlueprint, pinnedBank, pinnedManifest, rootOfFirst] = await Promise.all([
    pin(platform, blueprint.value, readings.blueprint, byHash(testSpecHashOf, operations.readTestSpec, kind)),
    pin(
      platform,
      bank.value,
      readings.bank,
      byHash(testBankIdentityHashOf, operations.validateAdaptiveBankIdentity, kind),
    ),
    pin(platform, manifest.value, readings.manifest, byTag(operations.readAdaptivePoolManifest)),
    named === undefined ? undefined : readings.root(named),
  ]);
  if (!pinnedBlueprint.ok) return pinnedBlueprint;
  if (!pinnedBank.ok) return pinnedBank;
  const content = { blueprint: pinnedBlueprint.value, bank: pinnedBank.value };
  const defect = contentDefect(content, ids.testSpecId);
  if (defect !== undefined) return err(defect);
  if (!pinnedManifest.ok) return pinnedManifest;
  if (!isOf(pinnedManifest.value.value, ids))
    return err(
      mismatchProblem('/body/bankOperationId', 'The Bank operation was not run for this test spec and bank.'),
    );
  const whole = complete(pinnedManifest.value);
  if (!whole.ok) return whole;

  const readAgain = () => readings.root(whole.value.root.artifactVersionId);
  // The root of a manifest that gave way to a newer one is not the pool's.
  const isSame = whole.value.root.artifactVersionId === named;
  const firstRoot = isSame && rootOfFirst !== undefined ? rootOfFirst : await readAgain();
  if (!firstRoot.ok) return firstRoot;
  const root = await pin(platform, firstRoot.value, readAgain, byTag(operations.readAdaptivePoolRoot));
  if (!root.ok) return root;

  const pool = prove(whole.value, root.value);
  if (!pool.ok) return pool;
  if (root.value.value.itemRefs.some(({ normalMaximum = 1 }) => normalMaximum !== 1))
    return refuseCalibration(
      'An item of the pool has a maximum score other than 1, which no calibration can measure.',
    );
  return ok({
    pool: pool.value,
    content: ok(content.blueprint.value),
    pins: {
      testSpecId: ids.testSpecId,
      testBankId: ids.testBankId,
      bankOperationId: ids.bankOperationId,
      testSpecHash: testSpecHashOf(content.blueprint),
      testBankIdentityHash: testBankIdentityHashOf(content.bank),
      ...pool.value.pins,
    },
  });
}

/** How a document is pinned. */
interface Pinning<T> {
  /** Whether two readings are equal, or the problem of two that cannot both be true. */
  readonly compare: (one: T, other: T) => boolean | Problem;
  /** The problem of three readings of which no two are equal. */
  readonly changing: Problem;
}

/**
 * Pins a document by two equal readings [MA-024, MA-027]. Where the first two differ, or the second one fails permanently, a third one after
 * a pause decides, if it equals one of the others or fails alike.
 */
async function pin<T>(
  platform: Platform,
  first: T,
  read: () => Promise<Result<T, Problem>>,
  { compare, changing }: Pinning<T>,
): Promise<Result<T, Problem>> {
  const readings = [first];
  let failure: Problem | undefined;
  for (const isLast of [false, true]) {
    const next = await read();
    if (next.ok) {
      const comparisons = readings.map((earlier) => compare(earlier, next.value));
      const unstable = comparisons.find((comparison) => typeof comparison === 'object');
      if (unstable !== undefined) return err(unstable);
      if (comparisons.includes(true)) return next;
      readings.push(next.value);
    } else {
      if (next.error.retryable || next.error.code === failure?.code) return next;
      failure = next.error;
    }
    if (!isLast) await platform.pause();
  }
  return err(changing);
}

function byHash<T>(
  hashOf: (reading: T) => string,
  operation: UpstreamOperation,
  kind: 'differs' | 'pending',
): Pinning<T> {
  return {
    changing: found(kind, operation, undefined, 'Its readings differ from one another.'),
    compare: (one, other) => hashOf(one) === hashOf(other),
  };
}

/**
 * Compares by the validator: another one belongs to another version. Other content under the same strong validator is a repetition that
 * cannot be trusted: 502, unstable, regardless of a third reading. The order of names and white space do not count.
 */
function byTag<T>(operation: UpstreamOperation): Pinning<Tagged<T>> {
  const detail = 'Two readings of the pool belong to different versions.';
  return {
    changing: found('differs', operation, undefined, detail),
    compare(one, other) {
      if (one.etag !== other.etag) return false;
      // Only different bytes need the slower look at their content.
      if (one.bodyHash === other.bodyHash || hashCanonical(one.value) === hashCanonical(other.value))
        return true;
      const unstable = 'Two readings under the same entity tag differ.';
      return found('broken', operation, other.upstreamRequestId, unstable);
    },
  };
}

/**
 * Reads the pool of a run again and compares it with the run's pins: four calls, one deep, since the pins are the first reading and name
 * the root's version [MA-066]. A pool that is another one is 409 `adaptive-pool-version-drift`, even if it is broken too; the pinned one is
 * 502 if it is broken now; one that cannot be read is 424. What contradicts the pins is read again before that is believed.
 *
 * Content binds offers only, so its problem is returned together with the pool: changed, it is 409 `stream-conflict`.
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

/** Reads Content again: the blueprint, if it and the bank's identity are those of the pins. */
async function rereadContent(
  platform: Platform,
  pins: ExecutionPins,
): Promise<Result<Blueprint, Problem | UnconfirmedProblem>> {
  const readings = readingsOf(platform, pins, 'run');
  const [blueprint, bank] = await Promise.all([readings.blueprint(), readings.bank()]);
  if (!blueprint.ok) return blueprint;
  if (!bank.ok) return bank;
  const testSpecHash = testSpecHashOf(blueprint.value);
  const testBankIdentityHash = testBankIdentityHashOf(bank.value);
  const reading = `${testSpecHash} ${testBankIdentityHash}`;
  if (testSpecHash !== pins.testSpecHash)
    return differing(
      operations.readTestSpec,
      reading,
      'The Content blueprint differs from the one that this run is pinned to.',
    );
  return testBankIdentityHash === pins.testBankIdentityHash
    ? ok(blueprint.value.value)
    : differing(
        operations.validateAdaptiveBankIdentity,
        reading,
        'The identity of the Content bank differs from the one that this run is pinned to.',
      );
}

/** Reads the pool again, if manifest and root are those of the pins. */
async function rereadPool(
  platform: Platform,
  pins: ExecutionPins,
): Promise<Result<ReconciledPool, Problem | UnconfirmedProblem>> {
  const readings = readingsOf(platform, pins, 'run');
  const [manifest, root] = await Promise.all([
    readings.manifest(),
    readings.root(pins.qtiPoolArtifactVersionId),
  ]);
  if (!manifest.ok) return unlessRetryable(manifest.error, operations.readAdaptivePoolManifest);
  if (!root.ok) return unlessRetryable(root.error, operations.readAdaptivePoolRoot);
  const drift = differing(operations.readAdaptivePoolManifest, `${manifest.value.etag} ${root.value.etag}`);
  const whole = complete(manifest.value);
  // A manifest was whole when it was pinned. Which version it is comes before whether it is sound.
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

/** A pinned part of the pool cannot be had: a replica that lags looks just like it, unless the owner itself asks to wait. */
function unlessRetryable(problem: Problem, operation: UpstreamOperation): Err<Problem | UnconfirmedProblem> {
  return problem.retryable ? err(problem) : unconfirmed(problem, operation, problem.detail);
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

/** Returns the readings of everything that a pool and its test are made of. */
function readingsOf(
  platform: Platform,
  { testSpecId, testBankId, bankOperationId: operationId }: PoolIds,
  use: 'start' | 'run',
) {
  return {
    blueprint: () => ask(platform, use, operations.readTestSpec, { path: { testSpecId } }),
    bank: () => ask(platform, use, operations.validateAdaptiveBankIdentity, { path: { testBankId } }),
    manifest: async (): Promise<Result<Tagged<Manifest>, Problem>> => {
      const row = operations.readAdaptivePoolManifest;
      const answer = await ask(platform, use, row, { path: { operationId } });
      return answer.ok ? terminal(answer.value) : answer;
    },
    root: async (artifactVersionId: string): Promise<Result<Tagged<DeliveryJson>, Problem>> => {
      const row = operations.readAdaptivePoolRoot;
      const answer = await ask(platform, use, row, { path: { artifactVersionId } });
      return answer.ok ? tagged(row, answer.value) : answer;
    },
  };
}
