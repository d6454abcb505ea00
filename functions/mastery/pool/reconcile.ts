import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Manifest } from '#shared/platform/owners/bank.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';
import type { UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { invalidPool } from '../upstream/problems.ts';
import { memberDefect } from './manifest.ts';
import type { PoolIds, TerminalManifest } from './manifest.ts';

/** One item of the pool, as Bank and QTI agree on it. */
export interface PoolMember {
  readonly artifactVersionId: string;
  readonly qtiIdentifier: string;
  readonly caseGuids: readonly string[];
  readonly kcGuids: readonly string[];
}

export type PoolPins = Omit<ExecutionPins, keyof PoolIds | 'testSpecHash' | 'testBankIdentityHash'>;

/** The whole pool, proved: there is no such value for a part of one [MA-222]. */
export interface ReconciledPool {
  readonly pins: PoolPins;
  /** In the order of the root's references. */
  readonly members: readonly PoolMember[];
}

/**
 * Holds Bank's members and QTI's references against each other: both are sound in themselves, both name the same root, and they
 * correspond one to one by artifact version and by QTI identifier, in the same order, since both projections are ordered [MA-027].
 * Gives the pool with its hash [MA-071], or its first defect as the 502 of the owner whose answer shows it: where the two disagree, QTI's.
 * @param etag the root's strong entity tag
 */
export function reconcile(
  { upstreamRequestId }: UpstreamAnswer<Manifest>,
  manifest: TerminalManifest,
  answer: UpstreamAnswer<DeliveryJson>,
  etag: string,
): Result<ReconciledPool, Problem> {
  const root = answer.value;
  const unsound = memberDefect(manifest);
  if (unsound !== undefined)
    return err(invalidPool(operations.readAdaptivePoolManifest, upstreamRequestId, unsound));
  const disagreement = rootDefect(root, manifest.root) ?? bijectionDefect(manifest, root);
  if (disagreement !== undefined)
    return err(invalidPool(operations.readAdaptivePoolRoot, answer.upstreamRequestId, disagreement));
  const members = manifest.members.map(({ artifactVersionId, qtiIdentifier, caseGuids, kcGuids }) => ({
    artifactVersionId,
    qtiIdentifier,
    caseGuids,
    kcGuids,
  }));
  const { packageId, packageHash, artifactId, artifactVersionId, qtiIdentifier } = manifest.root;
  return ok({
    pins: {
      qtiPoolPackageId: packageId,
      qtiPoolArtifactId: artifactId,
      qtiPoolArtifactVersionId: artifactVersionId,
      qtiPoolPackageHash: packageHash,
      qtiPoolEtag: etag,
      resolvedPoolHash: hashCanonical({
        manifestRoot: { packageId, packageHash, artifactId, artifactVersionId, qtiIdentifier },
        qtiRoot: { artifactVersionId: root.artifactVersionId, etag },
        members: members.map((member) => [
          member.artifactVersionId,
          member.qtiIdentifier,
          member.caseGuids,
          member.kcGuids,
        ]),
      }),
    },
    members,
  });
}

/** Every reference takes its member away: what resolves twice finds nothing, and what is left over lies outside the graph [MA-221]. */
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

/** The first way in which QTI's root is not the assessment test that the manifest names, or undefined [MA-024, MA-065]. */
function rootDefect(root: DeliveryJson, named: TerminalManifest['root']): string | undefined {
  if (root.type !== 'assessment-test') return 'The pool’s root is not an assessment test.';
  if (root.artifactVersionId !== named.artifactVersionId || root.artifactId !== named.artifactId) {
    return 'QTI’s root is another artifact version than the manifest’s.';
  }
  if (root.packageId !== named.packageId || root.packageHash !== named.packageHash) {
    return 'Package identity or hash disagree between Bank and QTI.';
  }
  if (root.qtiIdentifier !== named.qtiIdentifier)
    return 'The root’s QTI identifier disagrees between Bank and QTI.';
  return undefined;
}
