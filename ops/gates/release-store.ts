import type { Clients } from '#shared/stores/clients.ts';
import { readGateFlags, writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { keepProof, placeOfProof } from '#shared/stores/proof-objects.ts';
import { createReleaseStateTable } from '#shared/stores/release-state-table.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { bucketParameter } from '#shared/release/applied-manifest.ts';
import type { ReleaseStore } from './apply.ts';

/** Where a stage keeps its release, and the clients that reach it. */
export interface ReleasePlaces extends Pick<Clients, 'dynamo' | 's3' | 'ssm'> {
  readonly stage: string;
  readonly settingsTable: string;
  /** The bucket of receipts; undefined if the stage has none. */
  readonly bucket: () => Promise<string | undefined>;
}

/** Returns the release of a stage in its table, parameters and bucket. */
export function createReleaseStore(places: ReleasePlaces): ReleaseStore {
  const { dynamo, s3, ssm, stage, settingsTable, bucket } = places;
  return {
    state: createReleaseStateTable(dynamo, settingsTable),
    readFlags: (path) => readGateFlags(ssm, path),
    writeParameter: (name, value) => writeGateParameter(ssm, name, value),
    placeOf: async (jws) => {
      const name = await bucket();
      return name === undefined
        ? err(
            `the parameter ${bucketParameter(stage)} does not exist in this account and region: deploy the stage first`,
          )
        : ok(placeOfProof(name, 'manifest', jws));
    },
    keepManifest: async (jws) => {
      const name = await bucket();
      if (name !== undefined) await keepProof(s3, name, 'manifest', jws);
    },
  };
}
