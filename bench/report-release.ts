import { createReleaseStateTable } from '#shared/stores/release-state-table.ts';
import { provable } from '#shared/contract/gates.ts';
import { startTestAws } from '#test/support/aws.ts';
import { applied, createSigner, signedManifest } from '#test/support/release.ts';

/** A release in which everything is open, for a function that waits for gates. */
export interface BenchRelease extends AsyncDisposable {
  /** The variables by which the function finds it. */
  readonly variables: Readonly<Record<string, string>>;
}

export async function openBenchRelease(stage: string): Promise<BenchRelease> {
  const aws = await startTestAws();
  const { SETTINGS_TABLE = '' } = aws.env;
  const signer = createSigner();
  const manifest = signedManifest(signer, provable, { stage, rehearsal: stage === 'local' });
  await createReleaseStateTable(aws.dynamo, SETTINGS_TABLE).write(applied(manifest), undefined);
  return {
    variables: { ...aws.env, STAGE: stage, RELEASE_KEY: JSON.stringify(signer.key) },
    [Symbol.asyncDispose]: () => aws.close(),
  };
}
