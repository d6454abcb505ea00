import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { ManifestUse } from '#shared/release/manifest.ts';
import { readAppliedManifest, type AppliedGates } from '#shared/release/read-release.ts';

/**
 * Verifies what the release of a stage is based on: the applied manifest has the digest that Systems Manager names, and the signature of the
 * stage's `releaseKey`. A restore never brings back the state of the gates, so an operator applies this manifest again.
 */
export async function checkAppliedManifest(
  use: ManifestUse,
  applied: Pick<AppliedGates, 'readParameter' | 'readManifest'>,
  print: (line: string) => void,
): Promise<Result<undefined, string>> {
  const found = await readAppliedManifest(use, {
    ...applied,
    readManifest: async (location) => {
      try {
        return await applied.readManifest(location);
      } catch (error) {
        // The answer of S3 for an absent object to a role without s3:ListBucket.
        if (error instanceof Error && error.name === 'AccessDenied') return undefined;
        throw error;
      }
    },
  });
  if (!found.ok) return err(`${found.error}: apply a valid manifest (npm run gates -- apply)`);
  print(
    found.value === undefined
      ? 'No manifest is applied to this stage.'
      : `The applied manifest ${found.value.reference.location} is intact, and its signature is valid.`,
  );
  return ok(undefined);
}
