import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { localBucketName, localStage, localTableName } from '#shared/stage/local-stage.ts';
import type { Clients } from '#shared/stores/clients.ts';
import { keepProof, placeOfProof } from '#shared/stores/proof-objects.ts';
import { provable, type Provable } from '#shared/contract/gates.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { parseReleaseKey, type ReleaseKey } from '#shared/release/release-key.ts';
import type { ReleaseManifest } from '#shared/release/manifest.ts';
import { applyManifest } from '#ops/gates/apply.ts';
import { gatesPath, markerName } from '#shared/release/applied-manifest.ts';
import { writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { createReleaseStore } from '#ops/gates/release-store.ts';
import { signManifest } from '#ops/gates/sign-manifest.ts';

/** How the gates of a local stack come to be open: by a manifest that was made for it. */
export interface Rehearsal {
  /** The key whose signature the stack trusts. */
  readonly releaseKey: ReleaseKey;
  readonly manifest: string;
}

/** A private key for one signature. */
export function ephemeralKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

/** Longer than any local stack runs. */
const GOOD_FOR_MS = 365 * 24 * 60 * 60_000;

/**
 * Signs a rehearsal that proves what is named and applies it, as `npm run gates -- apply` does. Its receipts lie in the emulator's bucket and
 * are marked as proving nothing: the manifest opens no stage but `local`.
 * @param signer a private key of P-256
 * @param now epoch milliseconds
 */
export async function rehearse(
  clients: Pick<Clients, 'dynamo' | 's3' | 'ssm'>,
  proved: ReadonlySet<Provable>,
  signer: KeyObject,
  now: number,
): Promise<Rehearsal> {
  const releaseKey = parseReleaseKey(JSON.stringify(createPublicKey(signer).export({ format: 'jwk' })));
  if (releaseKey === undefined) throw new TypeError('a release is signed with a key of P-256');

  const receipts = provable
    .filter((name) => proved.has(name))
    .map((name) => ({ name, text: JSON.stringify({ rehearsal: true, opens: name, proves: null }) }));
  const manifest: ReleaseManifest = {
    manifestVersion: 1,
    stage: localStage,
    rehearsal: true,
    issuedAt: formatInstant(now),
    expiresAt: formatInstant(now + GOOD_FOR_MS),
    receipts: receipts.map(({ name, text }) => ({
      proves: name,
      ...placeOfProof(localBucketName, 'rehearsal', text),
      summary: 'Rehearsal: opens the local stage, proves nothing',
    })),
  };
  const jws = signManifest(manifest, signer);
  await Promise.all(receipts.map(({ text }) => keepProof(clients.s3, localBucketName, 'rehearsal', text)));
  const store = createReleaseStore({
    ...clients,
    stage: localStage,
    settingsTable: localTableName('settings'),
    bucket: () => Promise.resolve(localBucketName),
  });
  // What the stack of the stores creates in a deployed stage.
  await writeGateParameter(clients.ssm, `${gatesPath(localStage)}/${markerName}`, localStage);
  const applied = await applyManifest(store, { jws, manifest }, new Set(), {
    stage: localStage,
    now,
    dryRun: false,
    print: () => undefined,
  });
  if (!applied.ok) throw new Error(applied.error);
  return { releaseKey, manifest: jws };
}
