import { areCanonicalGuids } from '#shared/kernel/guid.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Manifest, ManifestMember } from '#shared/platform/owners/bank.ts';
import type { UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { driftProblem, invalidOwnerData, invalidPool, mismatchProblem } from '../upstream/problems.ts';
import { strongTagOf } from './readings.ts';

/** A manifest that names its root and has members; whether these are sound is for `reconcile` to say. */
export interface TerminalManifest {
  readonly root: NonNullable<Manifest['root']>;
  readonly members: readonly ManifestMember[];
}

export interface AskedManifest {
  readonly bankOperationId: string;
  readonly testSpecId: string;
  readonly testBankId: string;
  /** `caller`: the three ids come from this request; `pins`: from a run that has seen them agree. */
  readonly from: 'caller' | 'pins';
}

/**
 * The manifest, if its operation has succeeded and it is complete [MA-025, MA-055].
 *
 * - still queued or running: 424, retryable, since the same request succeeds once Bank has finished
 * - failed: 424, not retryable; it will never have a pool
 * - of another spec or bank: the caller combined ids wrongly, 400; against pins, Bank has changed it, 409
 * - of another operation, without a strong ETag, root or members: 502
 */
export function checkManifest(
  answer: UpstreamAnswer<Manifest>,
  asked: AskedManifest,
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
    return err(
      asked.from === 'pins'
        ? driftProblem('The Bank operation now names another test spec or bank.')
        : mismatchProblem(
            '/body/bankOperationId',
            'The Bank operation was not run for this test spec and bank.',
          ),
    );
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
