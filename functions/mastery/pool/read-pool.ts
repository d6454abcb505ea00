import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { createRecent } from '#shared/kernel/recent.ts';
import type { Recent } from '#shared/kernel/recent.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Manifest } from '#shared/platform/owners/bank.ts';
import type { Blueprint } from '#shared/platform/owners/content.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Platform, UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { confirmed } from '../upstream/confirmed.ts';
import {
  contentDriftProblem,
  driftProblem,
  invalidCalibration,
  invalidPool,
  mismatchProblem,
  upstreamProblem,
} from '../upstream/problems.ts';
import { bankIdentityHash, blueprintHash, checkBankIdentity, checkBlueprint } from './content.ts';
import { checkManifest, strongTagOf } from './manifest.ts';
import type { PoolIds, TerminalManifest } from './manifest.ts';
import { reconcile } from './reconcile.ts';
import type { ReconciledPool } from './reconcile.ts';

/** A pool that may be selected from. */
export interface ReadPool {
  readonly pool: ReconciledPool;
  readonly pins: ExecutionPins;
  /** What Content says of the test; undefined where Content does not bind. */
  readonly blueprint: Blueprint | undefined;
  /** How Content stands to the pins. */
  readonly content: 'as_pinned' | 'differs' | 'not_read';
}

/** What Content is to a run: `binding` while items are offered, `noted` where a difference is only written down, `none` where it is not read. */
export type ContentUse = 'binding' | 'noted' | 'none';

/**
 * Reconciled pools by the content addresses of what they were made of. It spares the proof of a pool that was proved before, never the
 * reading. The same pool is the same object, so that whatever is built on it can be kept beside it.
 */
export type PoolCache = Recent<ReconciledPool>;

/** A cache of the pools used last, one per container. */
export const createPoolCache = (): PoolCache => createRecent(4);

/**
 * Reads and proves the pool that a caller names: six calls, three deep. Blueprint, bank and manifest; then the manifest again and the root
 * that it names; then the root again. Two readings that differ are drift (409) before anything is said about their content, so that a
 * change under way is not taken for a broken pool; the second one is repeated before that is believed. Nothing is returned of a pool that is
 * not whole [MA-222].
 */
export async function readPool(
  platform: Platform,
  cache: PoolCache,
  ids: PoolIds,
): Promise<Result<ReadPool & { readonly blueprint: Blueprint }, Problem>> {
  const [blueprint, bank, manifest] = await Promise.all([
    readBlueprint(platform, ids.testSpecId),
    readBank(platform, ids.testBankId),
    readManifest(platform, ids.bankOperationId),
  ]);
  if (!blueprint.ok) return err(upstreamProblem(blueprint.error, 'caller'));
  const testSpecHash = checkBlueprint(blueprint.value, ids);
  if (!testSpecHash.ok) return testSpecHash;
  if (!bank.ok) return err(upstreamProblem(bank.error, 'caller'));
  const testBankIdentityHash = checkBankIdentity(bank.value, ids);
  if (!testBankIdentityHash.ok) return testBankIdentityHash;
  if (!manifest.ok) return err(upstreamProblem(manifest.error, 'caller'));
  const mismatch = mismatchProblem(
    '/body/bankOperationId',
    'The Bank operation was not run for this test spec and bank.',
  );
  const terminal = checkManifest(manifest.value, ids, mismatch);
  if (!terminal.ok) return terminal;

  const rootId = terminal.value.root.artifactVersionId;
  const [steadyManifest, root] = await Promise.all([
    readAgain(platform, operations.readAdaptivePoolManifest, manifest.value, () =>
      readManifest(platform, ids.bankOperationId),
    ),
    readRoot(platform, rootId),
  ]);
  if (!steadyManifest.ok) return steadyManifest;
  if (!root.ok) return err(upstreamProblem(root.error));
  const steadyRoot = await readAgain(platform, operations.readAdaptivePoolRoot, root.value, () =>
    readRoot(platform, rootId),
  );
  if (!steadyRoot.ok) return steadyRoot;

  const pool = prove(cache, manifest.value, terminal.value, root.value);
  if (!pool.ok) return pool;
  if (root.value.value.itemRefs.some(({ normalMaximum = 1 }) => normalMaximum !== 1))
    return err(
      invalidCalibration(
        'An item of the pool has a maximum score other than 1, which no calibration can measure.',
      ),
    );
  return ok({
    pool: pool.value,
    blueprint: blueprint.value.value,
    content: 'as_pinned',
    pins: {
      testSpecId: ids.testSpecId,
      testSpecHash: testSpecHash.value,
      testBankId: ids.testBankId,
      testBankIdentityHash: testBankIdentityHash.value,
      bankOperationId: ids.bankOperationId,
      ...pool.value.pins,
    },
  });
}

/**
 * A document read once more: two readings must agree [MA-024, MA-027]. Another validator says that the document has changed: 409, drift.
 * Other content under the same strong validator, or a reading without one, is a repetition that cannot be trusted: 502, unstable. The order
 * of names and white space do not count.
 */
async function readAgain<T>(
  platform: Platform,
  operation: UpstreamOperation,
  first: UpstreamAnswer<T>,
  read: () => Promise<Result<UpstreamAnswer<T>, UpstreamFault>>,
): Promise<Result<undefined, Problem>> {
  return confirmed(platform, async () => {
    const answer = await read();
    if (!answer.ok) return err(upstreamProblem(answer.error));
    const second = answer.value;
    const untagged = [first, second].find((reading) => strongTagOf(reading) === undefined);
    if (untagged !== undefined)
      return err(invalidPool(operation, untagged.upstreamRequestId, 'The answer has no strong entity tag.'));
    if (first.etag !== second.etag)
      return err(driftProblem('Two readings of the pool belong to different versions.'));
    // Only different bytes need the slower look at what they say.
    return first.bodyHash === second.bodyHash || hashCanonical(first.value) === hashCanonical(second.value)
      ? ok(undefined)
      : err(
          invalidPool(operation, second.upstreamRequestId, 'Two readings under the same entity tag differ.'),
        );
  });
}

/**
 * Reads the pool of a run again and holds it against the run's pins: four calls, one deep, since the pins are the first reading and name
 * the root's version [MA-066]. Content that changed is 409 `stream-conflict`; a pool that is valid but another one is 409
 * `adaptive-pool-version-drift`; one that is there and broken is 502; one that cannot be read is 424. What contradicts the pins is read
 * again before that is believed.
 *
 * A run that has stopped offers nothing, so Content binds it no longer: an edit there neither blocks what is published nor changes it.
 */
export async function revalidatePool(
  platform: Platform,
  cache: PoolCache,
  pins: ExecutionPins,
  use: ContentUse,
): Promise<Result<ReadPool, Problem>> {
  const [content, pool] = await Promise.all([
    use === 'none' ? undefined : confirmed(platform, () => rereadContent(platform, pins)),
    confirmed(platform, () => rereadPool(platform, cache, pins)),
  ]);
  if (content?.ok === false && (use === 'binding' || content.error.status !== 409)) return content;
  if (!pool.ok) return pool;
  return ok({
    pool: pool.value,
    pins,
    blueprint: use === 'binding' && content?.ok === true ? content.value : undefined,
    content: content === undefined ? 'not_read' : content.ok ? 'as_pinned' : 'differs',
  });
}

/** The blueprint, if it and the bank's identity are those of the pins. */
async function rereadContent(platform: Platform, pins: ExecutionPins): Promise<Result<Blueprint, Problem>> {
  const [blueprint, bank] = await Promise.all([
    readBlueprint(platform, pins.testSpecId),
    readBank(platform, pins.testBankId),
  ]);
  if (!blueprint.ok) return err(upstreamProblem(blueprint.error));
  if (blueprintHash(blueprint.value.value) !== pins.testSpecHash) {
    return err(contentDriftProblem('The Content blueprint differs from the one that this run is pinned to.'));
  }
  if (!bank.ok) return err(upstreamProblem(bank.error));
  if (bankIdentityHash(bank.value.value) !== pins.testBankIdentityHash) {
    return err(
      contentDriftProblem(
        'The identity of the Content bank differs from the one that this run is pinned to.',
      ),
    );
  }
  return ok(blueprint.value.value);
}

/** The pool, if manifest and root are those of the pins. */
async function rereadPool(
  platform: Platform,
  cache: PoolCache,
  pins: ExecutionPins,
): Promise<Result<ReconciledPool, Problem>> {
  const [manifest, root] = await Promise.all([
    readManifest(platform, pins.bankOperationId),
    readRoot(platform, pins.qtiPoolArtifactVersionId),
  ]);
  if (!manifest.ok) return err(upstreamProblem(manifest.error));
  const mismatch = driftProblem('The Bank operation now names another test spec or bank.');
  const terminal = checkManifest(manifest.value, pins, mismatch);
  if (!terminal.ok) return terminal;
  if (!root.ok) return err(upstreamProblem(root.error));
  const etag = strongTagOf(root.value);
  if (etag === undefined) return err(noStrongTag(root.value));
  // Which version it is comes before whether it is sound: a root that moved on has every right to differ from the pinned manifest.
  if (
    etag !== pins.qtiPoolEtag ||
    !isPinned(pins, terminal.value.root) ||
    !isPinned(pins, root.value.value)
  ) {
    return err(driftProblem());
  }
  const pool = prove(cache, manifest.value, terminal.value, root.value);
  return pool.ok && pool.value.pins.resolvedPoolHash !== pins.resolvedPoolHash ? err(driftProblem()) : pool;
}

/** Whether Bank's or QTI's own description of the root is the pinned one. */
function isPinned(
  pins: ExecutionPins,
  root: Readonly<Record<'packageId' | 'packageHash' | 'artifactId' | 'artifactVersionId', string>>,
): boolean {
  return (
    root.packageId === pins.qtiPoolPackageId &&
    root.packageHash === pins.qtiPoolPackageHash &&
    root.artifactId === pins.qtiPoolArtifactId &&
    root.artifactVersionId === pins.qtiPoolArtifactVersionId
  );
}

function prove(
  cache: PoolCache,
  answer: UpstreamAnswer<Manifest>,
  manifest: TerminalManifest,
  root: UpstreamAnswer<DeliveryJson>,
): Result<ReconciledPool, Problem> {
  const etag = strongTagOf(root);
  if (etag === undefined) return err(noStrongTag(root));
  const key = `${answer.bodyHash} ${root.bodyHash} ${etag}`;
  const known = cache.get(key);
  if (known !== undefined) return ok(known);
  const reconciled = reconcile(answer, manifest, root, etag);
  if (!reconciled.ok) return reconciled;
  cache.set(key, reconciled.value);
  return reconciled;
}

function noStrongTag(root: UpstreamAnswer<DeliveryJson>): Problem {
  return invalidPool(
    operations.readAdaptivePoolRoot,
    root.upstreamRequestId,
    'The pool’s root has no strong entity tag.',
  );
}

const readBlueprint = (platform: Platform, testSpecId: string) =>
  platform.call(operations.readTestSpec, { path: { testSpecId } });
const readBank = (platform: Platform, testBankId: string) =>
  platform.call(operations.validateAdaptiveBankIdentity, { path: { testBankId } });
const readManifest = (platform: Platform, operationId: string) =>
  platform.call(operations.readAdaptivePoolManifest, { path: { operationId } });
const readRoot = (platform: Platform, artifactVersionId: string) =>
  platform.call(operations.readAdaptivePoolRoot, { path: { artifactVersionId } });
