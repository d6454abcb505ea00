import type { S3Client } from '@aws-sdk/client-s3';
import type { SSMClient } from '@aws-sdk/client-ssm';
import { gatesPath } from '#shared/release/applied-manifest.ts';
import { MAX_MANIFEST_BYTES } from '#shared/release/manifest.ts';
import { readAppliedManifest, readRelease, type AppliedGates } from '#shared/release/read-release.ts';
import { readGateFlags, readGateParameter } from '#shared/stores/gate-parameters.ts';
import { makeS3, makeSsm } from '#shared/stores/make-clients.ts';
import { readObject } from '#shared/stores/proof-objects.ts';
import { daysUntil, failure, good, warning, type Check, type Subject } from './finding.ts';

/** Returns what `npm run gates -- show`, a synth and the checks read of a stage. */
export function gatesIn(ssm: SSMClient, s3: () => S3Client): AppliedGates {
  return {
    readFlags: (path) => readGateFlags(ssm, path),
    readParameter: (name) => readGateParameter(ssm, name),
    readManifest: (location) => readObject(s3(), location, MAX_MANIFEST_BYTES),
  };
}

const useOf = ({ stage, now }: Subject) => ({ key: stage.config.releaseKey, stage: stage.name, now });
const gatesOf = ({ aws }: Subject): AppliedGates => gatesIn(aws(makeSsm), () => aws(makeS3));

/** Reads the open gates of the stage, as a synth does. */
export function releaseOf(subject: Subject): ReturnType<typeof readRelease> {
  return readRelease(useOf(subject), gatesOf(subject));
}

/** Signing and applying a new manifest needs people. */
const MANIFEST_DAYS = 30;

/** Marker, flags and manifest: what a synth would make of them. */
export const release: Check = async (subject) => {
  const { stage, now, place = { account: 'ACCOUNT', region: 'REGION' } } = subject;
  const applied = gatesOf(subject);
  if ((await applied.readFlags(gatesPath(stage.name))).size === 0)
    return [
      warning(
        'not-deployed',
        `${stage.name} is not deployed in account ${place.account}, region ${place.region}`,
        `npm run deploy -- -c stage=${stage.name} -c first=${place.account}/${place.region}`,
      ),
    ];
  const read = await releaseOf(subject);
  const look = `npm run gates -- show --stage ${stage.name}`;
  if (!read.ok) return [failure('release-unproved', read.error, look)];
  const open = [...read.value.release.open];
  const state = good(
    open.length === 0 ? 'marker present; all gates are closed' : `open gates: ${open.join(', ')}`,
  );
  const manifest = open.length === 0 ? undefined : await readAppliedManifest(useOf(subject), applied);
  if (manifest?.ok !== true || manifest.value === undefined) return [state];
  const { expiresAt } = manifest.value.manifest;
  const daysLeft = daysUntil(Date.parse(expiresAt), now);
  const message = `the manifest is valid until ${expiresAt} (${daysLeft} days)`;
  const lasts =
    daysLeft >= MANIFEST_DAYS
      ? good(message)
      : warning(
          'manifest-ends',
          `${message}; then its gates close`,
          `sign a new one and apply it: npm run gates -- apply MANIFEST --stage ${stage.name}`,
        );
  return [state, { ...lasts, daysLeft }];
};
