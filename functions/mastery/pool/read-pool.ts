import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { createRecent } from '#shared/kernel/recent.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Manifest } from '#shared/platform/owners/bank.ts';
import type { Blueprint } from '#shared/platform/owners/content.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';
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
import type { IdOrigin } from '../upstream/problems.ts';
import { contentDefect, readContent } from './content.ts';
import { checkManifest, reconcile, tagged } from './reconcile.ts';
import type { PoolIds, ReconciledPool, Tagged, TerminalManifest } from './reconcile.ts';

/** A pool that may be selected from. */
export interface ReadPool {
  readonly pool: ReconciledPool;
  readonly pins: ExecutionPins;
  /** What Content says of the test, or why no item may be offered by it; undefined where it is not read. */
  readonly content: Result<Blueprint, Problem> | undefined;
}

/**
 * Reconciled pools by the content addresses of what they were made of. It spares the proof of a pool that was proved before, never the
 * reading.
 */
const proved = createRecent<ReconciledPool>(4);

/**
 * Reads and proves the pool that a caller names: six calls, three deep. Blueprint, bank and manifest; then the manifest again and the root
 * that it names; then the root again. Two readings that differ are drift (409) before anything is said about their content, so that a
 * change under way is not taken for a broken pool; the second one is repeated before that is believed. Nothing is returned of a pool that is
 * not whole [MA-222].
 */
export async function readPool(platform: Platform, ids: PoolIds): Promise<Result<ReadPool, Problem>> {
  const mismatch = mismatchProblem(
    '/body/bankOperationId',
    'The Bank operation was not run for this test spec and bank.',
  );
  const [content, manifest] = await Promise.all([
    readContent(platform, ids, 'caller'),
    readTerminalManifest(platform, ids, mismatch, 'caller'),
  ]);
  if (!content.ok) return content;
  const defect = contentDefect(content.value, ids);
  if (defect !== undefined) return err(defect);
  if (!manifest.ok) return manifest;

  const { answer, root: named } = manifest.value;
  const [steadyManifest, root] = await Promise.all([
    readAgain(platform, operations.readAdaptivePoolManifest, answer, () => readManifest(platform, ids)),
    readRoot(platform, named.artifactVersionId),
  ]);
  if (!steadyManifest.ok) return steadyManifest;
  if (!root.ok) return root;
  const steadyRoot = await readAgain(platform, operations.readAdaptivePoolRoot, root.value, () =>
    readRoot(platform, named.artifactVersionId),
  );
  if (!steadyRoot.ok) return steadyRoot;

  const pool = prove(manifest.value, root.value);
  if (!pool.ok) return pool;
  if (root.value.value.itemRefs.some(({ normalMaximum = 1 }) => normalMaximum !== 1))
    return err(
      invalidCalibration(
        'An item of the pool has a maximum score other than 1, which no calibration can measure.',
      ),
    );
  return ok({
    pool: pool.value,
    content: ok(content.value.blueprint.value),
    pins: { ...content.value.pins, bankOperationId: ids.bankOperationId, ...pool.value.pins },
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
  first: Tagged<T>,
  read: () => Promise<Result<UpstreamAnswer<T>, Problem>>,
): Promise<Result<undefined, Problem>> {
  return confirmed(platform, async () => {
    const answer = await read();
    if (!answer.ok) return answer;
    const second = tagged(operation, answer.value);
    if (!second.ok) return second;
    const { etag, value, bodyHash, upstreamRequestId } = second.value;
    if (first.etag !== etag)
      return err(driftProblem('Two readings of the pool belong to different versions.'));
    // Only different bytes need the slower look at what they say.
    return first.bodyHash === bodyHash || hashCanonical(first.value) === hashCanonical(value)
      ? ok(undefined)
      : err(invalidPool(operation, upstreamRequestId, 'Two readings under the same entity tag differ.'));
  });
}

/**
 * Reads the pool of a run again and holds it against the run's pins: four calls, one deep, since the pins are the first reading and name
 * the root's version [MA-066]. A pool that is valid but another one is 409 `adaptive-pool-version-drift`; one that is there and broken is
 * 502; one that cannot be read is 424. What contradicts the pins is read again before that is believed.
 *
 * Content binds offers only, so its problem is returned beside the pool: changed, it is 409 `stream-conflict`.
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

/** The blueprint, if it and the bank's identity are those of the pins. */
async function rereadContent(platform: Platform, pins: ExecutionPins): Promise<Result<Blueprint, Problem>> {
  const content = await readContent(platform, pins, 'derived');
  if (!content.ok) return content;
  const { testSpecHash, testBankIdentityHash } = content.value.pins;
  if (testSpecHash !== pins.testSpecHash)
    return err(contentDriftProblem('The Content blueprint differs from the one that this run is pinned to.'));
  return testBankIdentityHash === pins.testBankIdentityHash
    ? ok(content.value.blueprint.value)
    : err(
        contentDriftProblem(
          'The identity of the Content bank differs from the one that this run is pinned to.',
        ),
      );
}

/** The pool, if manifest and root are those of the pins. */
async function rereadPool(platform: Platform, pins: ExecutionPins): Promise<Result<ReconciledPool, Problem>> {
  const mismatch = driftProblem('The Bank operation now names another test spec or bank.');
  const [manifest, root] = await Promise.all([
    readTerminalManifest(platform, pins, mismatch, 'derived'),
    readRoot(platform, pins.qtiPoolArtifactVersionId),
  ]);
  if (!manifest.ok) return manifest;
  if (!root.ok) return root;
  // Which version it is comes before whether it is sound: a root that moved on has every right to differ from the pinned manifest.
  const isPinned =
    root.value.etag === pins.qtiPoolEtag &&
    [manifest.value.root, root.value.value].every(
      ({ packageId, packageHash, artifactId, artifactVersionId }) =>
        packageId === pins.qtiPoolPackageId &&
        packageHash === pins.qtiPoolPackageHash &&
        artifactId === pins.qtiPoolArtifactId &&
        artifactVersionId === pins.qtiPoolArtifactVersionId,
    );
  if (!isPinned) return err(driftProblem());
  const pool = prove(manifest.value, root.value);
  return pool.ok && pool.value.pins.resolvedPoolHash !== pins.resolvedPoolHash ? err(driftProblem()) : pool;
}

function prove(manifest: TerminalManifest, root: Tagged<DeliveryJson>): Result<ReconciledPool, Problem> {
  const key = `${manifest.answer.bodyHash} ${root.bodyHash} ${root.etag}`;
  const known = proved.get(key);
  if (known !== undefined) return ok(known);
  const reconciled = reconcile(manifest, root);
  if (reconciled.ok) proved.set(key, reconciled.value);
  return reconciled;
}

async function readTerminalManifest(
  platform: Platform,
  ids: PoolIds,
  mismatch: Problem,
  origin: IdOrigin,
): Promise<Result<TerminalManifest, Problem>> {
  const answer = await readManifest(platform, ids, origin);
  return answer.ok ? checkManifest(answer.value, ids, mismatch) : answer;
}

async function readManifest(
  platform: Platform,
  { bankOperationId: operationId }: PoolIds,
  origin?: IdOrigin,
): Promise<Result<UpstreamAnswer<Manifest>, Problem>> {
  const answer = await platform.call(operations.readAdaptivePoolManifest, { path: { operationId } });
  return answer.ok ? answer : err(upstreamProblem(answer.error, origin));
}

async function readRoot(
  platform: Platform,
  artifactVersionId: string,
): Promise<Result<Tagged<DeliveryJson>, Problem>> {
  const row = operations.readAdaptivePoolRoot;
  const answer = await platform.call(row, { path: { artifactVersionId } });
  return answer.ok ? tagged(row, answer.value) : err(upstreamProblem(answer.error));
}
