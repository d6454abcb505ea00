import type { Manifest } from '#shared/platform/owners/bank.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';

type ManifestRoot = NonNullable<Manifest['root']>;

/** The first way in which QTI's root is not the assessment test that the manifest names, or undefined [MA-024, MA-065]. */
export function rootDefect(root: DeliveryJson, named: ManifestRoot): string | undefined {
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
