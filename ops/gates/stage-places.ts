import type { AppliedGates } from '#shared/release/read-release.ts';
import { localBucketName, localStage } from '#shared/stage/local-stage.ts';
import { dynamo, s3, ssm } from '#shared/stores/clients.ts';
import { readGateParameter } from '#shared/stores/gate-parameters.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import { bucketParameter } from '#shared/release/applied-manifest.ts';
import { gatesIn } from '#shared/stage-checks/release.ts';
import { deployedTable } from '#ops/reach-stage.ts';
import type { ReleaseStore } from './apply.ts';
import { createReleaseStore } from './release-store.ts';

/** Returns what `show` and a synth read of a stage. */
export function appliedGates(): AppliedGates {
  return gatesIn(ssm(), s3);
}

export async function releaseStore(
  stage: string,
  table: string | undefined,
): Promise<Result<ReleaseStore, string>> {
  const settings = await deployedTable(stage, 'settings', table);
  if (!settings.ok) return settings;
  let bucket: string | undefined;
  return ok(
    createReleaseStore({
      dynamo: dynamo(),
      s3: s3(),
      ssm: ssm(),
      stage,
      settingsTable: settings.value,
      bucket: async () => (bucket ??= await receiptsBucket(stage)),
    }),
  );
}

/** Returns the name of a stage's bucket of receipts; undefined if it has none in this account and region. */
export async function receiptsBucket(stage: string): Promise<string | undefined> {
  return stage === localStage ? localBucketName : readGateParameter(ssm(), bucketParameter(stage));
}
