import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import { areCanonicalGuids } from '#shared/kernel/guid.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Manifest, ManifestMember } from '#shared/platform/owners/bank.ts';
import type { UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { invalidOwnerData, invalidPool } from '../upstream/problems.ts';

/** A manifest that names its root and has members; whether these are sound is for `reconcile` to say. */
export interface TerminalManifest {
  readonly root: NonNullable<Manifest['root']>;
  readonly members: readonly ManifestMember[];
}

/** What a caller names a pool by. */
export type PoolIds = Pick<ExecutionPins, 'testSpecId' | 'testBankId' | 'bankOperationId'>;

/**
 * The manifest, if its operation has succeeded and it is complete [MA-025, MA-055].
 *
 * - still queued or running: 424, retryable, since the same request succeeds once Bank has finished
 * - failed: 424, not retryable; it will never have a pool
 * - of another spec or bank: `mismatch`
 * - of another operation, without a strong ETag, root or members: 502
 */
export function checkManifest(
  answer: UpstreamAnswer<Manifest>,
  asked: PoolIds,
  mismatch: Problem,
): Result<TerminalManifest, Problem> {
  const row = operations.readAdaptivePoolManifest;
  const { upstreamRequestId } = answer;
  const invalid = (detail: string): Result<never, Problem> =>
    err(invalidPool(row, upstreamRequestId, detail));
  const manifest = answer.value;
  if (manifest.operationId !== asked.bankOperationId) {
    return invalid('Bank answered with the manifest of another operation.');
  }
  if (manifest.testSpecId !== asked.testSpecId || manifest.testBankId !== asked.testBankId) {
    return err(mismatch);
  }
  if (manifest.state === 'failed')
    return err(invalidOwnerData(row, upstreamRequestId, 'The Bank operation failed and has no pool.'));
  if (manifest.state !== 'succeeded') {
    return err(invalidOwnerData(row, upstreamRequestId, 'The Bank operation has not ended yet.', true));
  }
  if (strongTagOf(answer) === undefined) return invalid('The manifest has no strong entity tag.');
  const { root, members } = manifest;
  if (root === undefined) return invalid('The manifest names no root.');
  if (members === undefined || members.length === 0) return invalid('The manifest has no members.');
  return ok({ root, members });
}

/** The first defect of the members in themselves, or undefined [MA-026]. */
export function memberDefect({ root, members }: TerminalManifest): string | undefined {
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

/** The strong ETag of an answer; undefined when it has none, or a weak one, which vouches for nothing. */
export function strongTagOf(answer: UpstreamAnswer<unknown>): string | undefined {
  return answer.etag !== undefined && isStrongEntityTag(answer.etag) ? answer.etag : undefined;
}
