import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { areCanonicalGuids } from '#shared/kernel/guid.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Manifest, ManifestMember } from '#shared/platform/owners/bank.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';
import type { UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { answerProblem, found } from '../upstream/problems.ts';

/** The ids by which a caller names a pool. */
export type PoolIds = Pick<ExecutionPins, 'testSpecId' | 'testBankId' | 'bankOperationId'>;

/** An answer with a strong entity tag. */
export type Tagged<T> = UpstreamAnswer<T> & { readonly etag: string };

/** A manifest that names its root and has members; `reconcile` checks whether these are sound. */
export interface TerminalManifest {
  readonly answer: Tagged<Manifest>;
  readonly root: NonNullable<Manifest['root']>;
  readonly members: readonly ManifestMember[];
}

/** One item of the pool, on which Bank and QTI agree. */
export type PoolMember = Readonly<
  Pick<ManifestMember, 'artifactVersionId' | 'qtiIdentifier' | 'caseGuids' | 'kcGuids'>
>;

/** The whole pool, proved: there is no such value for a part of one [MA-222]. */
export interface ReconciledPool {
  readonly pins: Omit<ExecutionPins, keyof PoolIds | 'testSpecHash' | 'testBankIdentityHash'>;
  /** In the order of the root's references. */
  readonly members: readonly PoolMember[];
}

/** Returns an answer that has a strong ETag; 502 without one, or with a weak one, which guarantees nothing. */
export function tagged<T>(
  operation: UpstreamOperation,
  answer: UpstreamAnswer<T>,
): Result<Tagged<T>, Problem> {
  const { etag, upstreamRequestId } = answer;
  return etag !== undefined && isStrongEntityTag(etag)
    ? ok({ ...answer, etag })
    : err(found('broken', operation, upstreamRequestId, 'The answer has no strong entity tag.'));
}

/**
 * Returns the manifest of an operation that has succeeded [MA-025, MA-055]; 424 for one that is queued or running (retryable, since the same request
 * succeeds once Bank has finished) or has failed (not retryable: it will never have a pool); 502 without a strong ETag.
 */
export function terminal(answer: UpstreamAnswer<Manifest>): Result<Tagged<Manifest>, Problem> {
  const row = operations.readAdaptivePoolManifest;
  const { value: manifest, upstreamRequestId } = answer;
  if (manifest.state === 'failed') {
    // There is no pool that could be broken.
    const fault = { kind: 'rejected', transient: false, upstreamRequestId } as const;
    return err(answerProblem(row, 'start', fault, 'The Bank operation failed and has no pool.'));
  }
  return manifest.state === 'succeeded'
    ? tagged(row, answer)
    : err(found('pending', row, upstreamRequestId, 'The Bank operation has not ended yet.'));
}

/** Returns a complete manifest; 502 for one without root or members. */
export function complete(answer: Tagged<Manifest>): Result<TerminalManifest, Problem> {
  const { root, members = [] } = answer.value;
  if (root !== undefined && members.length > 0) return ok({ answer, root, members });
  const detail = root === undefined ? 'The manifest names no root.' : 'The manifest has no members.';
  return err(found('broken', operations.readAdaptivePoolManifest, answer.upstreamRequestId, detail));
}

/** Returns the SHA-256 of the pool as Bank and QTI name it, sound or not; a run pins it [MA-071]. */
export function poolHashOf(
  { root, members }: Pick<TerminalManifest, 'root' | 'members'>,
  { value: { artifactVersionId }, etag }: Tagged<DeliveryJson>,
): string {
  return hashCanonical({
    manifestRoot: {
      packageId: root.packageId,
      packageHash: root.packageHash,
      artifactId: root.artifactId,
      artifactVersionId: root.artifactVersionId,
      qtiIdentifier: root.qtiIdentifier,
    },
    qtiRoot: { artifactVersionId, etag },
    members: members.map((member) => [
      member.artifactVersionId,
      member.qtiIdentifier,
      member.caseGuids,
      member.kcGuids,
    ]),
  });
}

/**
 * Compares Bank's members with QTI's references: both must be sound in themselves, name the same root, and correspond one to one by artifact version and
 * QTI identifier, in the same order [MA-027]. Returns the pool with its hash [MA-071], or its first defect as a 502 naming the owner whose answer
 * shows it: QTI if the two disagree.
 */
export function reconcile(
  manifest: TerminalManifest,
  root: Tagged<DeliveryJson>,
): Result<ReconciledPool, Problem> {
  const unsound = memberDefect(manifest);
  if (unsound !== undefined)
    return err(
      found('broken', operations.readAdaptivePoolManifest, manifest.answer.upstreamRequestId, unsound),
    );
  const disagreement = rootDefect(root.value, manifest.root) ?? bijectionDefect(manifest, root.value);
  if (disagreement !== undefined)
    return err(found('broken', operations.readAdaptivePoolRoot, root.upstreamRequestId, disagreement));
  const { packageId, packageHash, artifactId, artifactVersionId } = manifest.root;
  return ok({
    pins: {
      qtiPoolPackageId: packageId,
      qtiPoolArtifactId: artifactId,
      qtiPoolArtifactVersionId: artifactVersionId,
      qtiPoolPackageHash: packageHash,
      qtiPoolEtag: root.etag,
      resolvedPoolHash: poolHashOf(manifest, root),
    },
    members: manifest.members.map(({ artifactVersionId: version, qtiIdentifier, caseGuids, kcGuids }) => ({
      artifactVersionId: version,
      qtiIdentifier,
      caseGuids,
      kcGuids,
    })),
  });
}

/** Returns the first defect of the members in themselves, or undefined [MA-026]. */
function memberDefect({ root, members }: TerminalManifest): string | undefined {
  const versions = new Set<string>([root.artifactVersionId]);
  const identifiers = new Set<string>();
  for (const member of members) {
    if (versions.has(member.artifactVersionId)) return 'An artifact version occurs twice in the manifest.';
    if (identifiers.has(member.qtiIdentifier)) return 'A QTI identifier occurs twice in the manifest.';
    versions.add(member.artifactVersionId);
    identifiers.add(member.qtiIdentifier);
    if (!areCanonicalGuids(member.caseGuids))
      return 'A member’s CASE GUIDs are empty, not lower-case UUIDs, repeated or unsorted.';
    if (!areCanonicalGuids(member.kcGuids))
      return 'A member’s knowledge-component GUIDs are empty, not lower-case UUIDs, repeated or unsorted.';
  }
  return undefined;
}

/** Takes each reference's member away: a second reference to it finds nothing, and a member that is left is outside the graph [MA-221]. */
function bijectionDefect({ members }: TerminalManifest, { itemRefs }: DeliveryJson): string | undefined {
  const unreferenced = new Map(members.map((member) => [member.artifactVersionId, member]));
  for (const ref of itemRefs) {
    const member = unreferenced.get(ref.artifactVersionId);
    if (member === undefined) return 'A reference of the root does not resolve to exactly one member.';
    if (member.qtiIdentifier !== ref.identifier)
      return 'A reference and its member have different QTI identifiers.';
    unreferenced.delete(ref.artifactVersionId);
  }
  if (unreferenced.size > 0) return 'A member of the manifest lies outside the root’s graph.';
  const ordered = itemRefs.every((ref, index) => members[index]?.artifactVersionId === ref.artifactVersionId);
  return ordered ? undefined : 'The manifest’s members are not in the order of the root’s references.';
}

/** Returns the first way in which QTI's root is not the assessment test that the manifest names, or undefined [MA-024, MA-065]. */
function rootDefect(root: DeliveryJson, named: TerminalManifest['root']): string | undefined {
  if (root.type !== 'assessment-test') return 'The pool’s root is not an assessment test.';
  if (root.artifactVersionId !== named.artifactVersionId || root.artifactId !== named.artifactId)
    return 'QTI’s root is another artifact version than the manifest’s.';
  if (root.packageId !== named.packageId || root.packageHash !== named.packageHash)
    return 'Package identity or hash disagree between Bank and QTI.';
  return root.qtiIdentifier === named.qtiIdentifier
    ? undefined
    : 'The root’s QTI identifier disagrees between Bank and QTI.';
}
