import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { openManifest, type ManifestTrust } from '#shared/release/manifest.ts';
import type {
  ObjectContent,
  ObjectVersion,
  ObjectVersions,
  VersionedObject,
} from '#shared/stores/object-versions.ts';
import { isManifestKey } from '#shared/stores/proof-objects.ts';
import { unrepaired, type Finding } from './finding.ts';

/** One object to write again: where it is absent, or over exactly the damaged version. */
export interface ObjectWrite {
  readonly key: string;
  readonly content: ObjectContent;
  readonly over: ObjectVersion | undefined;
}

/** What proves the objects of the bucket of receipts. */
export interface ReceiptProof {
  readonly objects: Pick<ObjectVersions, 'read'>;
  /** Epoch milliseconds: versions that were written later are not brought back. */
  readonly to: number;
  /** The key whose signature a manifest must have to be brought back. */
  readonly trust: ManifestTrust;
}

/**
 * Compares one object of the bucket of receipts with its former versions. Its name proves it: the SHA-256 of its bytes. What was deleted
 * before `to` stays deleted.
 */
export async function compareReceipt(
  proof: ReceiptProof,
  { key, versions, deletedAt }: VersionedObject,
): Promise<readonly Finding<ObjectWrite>[]> {
  const { to } = proof;
  const digest = /\/([0-9a-f]{64})$/.exec(key)?.[1];
  if (versions.length === 0) return [];
  if (digest === undefined) return [withheld(key, 'its name is not a digest: nothing proves its content')];
  if (deletedAt !== undefined && deletedAt <= to)
    return [withheld(key, `it was deleted before --to, at ${formatInstant(deletedAt)}`)];
  const current = deletedAt === undefined ? versions[0] : undefined;
  const state = current === undefined ? 'missing' : 'damaged';
  const isSound = ({ bytes }: ObjectContent): boolean => sha256Hex(bytes) === digest;
  if (current !== undefined && isSound(await proof.objects.read(key, current))) return [];
  const passedOver: Finding<ObjectWrite>[] = [];
  let newer: ObjectVersion | undefined;
  for (const version of versions.filter((each) => each !== current)) {
    const content = await proof.objects.read(key, version);
    if (!isSound(content)) {
      passedOver.push(withheld(`${key} version ${version.id}`, 'its bytes are not those of its name'));
      continue;
    }
    if (isManifestKey(key) && !(await openManifest(new TextDecoder().decode(content.bytes), proof.trust)).ok)
      return [
        ...passedOver,
        unrepaired(key, state, 'no manifest that the releaseKey of the stage has signed'),
      ];
    if (version.writtenAt <= to)
      return [...passedOver, { what: key, state, writes: [{ key, content, over: current }] }];
    newer = version;
  }
  const note =
    newer === undefined
      ? 'no former version has the bytes of its name'
      : `its sound version is newer than --to: choose ${formatInstant(newer.writtenAt)} or later`;
  return [...passedOver, unrepaired(key, state, note)];
}

function withheld(what: string, note: string): Finding<ObjectWrite> {
  return { what, state: 'withheld', note: `${note}; not copied`, writes: [] };
}
