import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { gates, provable, type GateName, type Provable } from '#shared/contract/gates.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { formatReference } from '#shared/release/applied-manifest.ts';
import type { AppliedGates } from '#shared/release/read-release.ts';
import { parseReleaseKey, type ReleaseKey } from '#shared/release/release-key.ts';
import type { ReleaseManifest } from '#shared/release/manifest.ts';
import type { AppliedRelease, GateFlags, ReleaseState } from '#shared/release/release-state.ts';
import { signManifest } from '#ops/gates/sign-manifest.ts';

/** Who signs manifests in a test. */
export interface TestSigner {
  readonly key: ReleaseKey;
  readonly privateKey: KeyObject;
}

export function createSigner(): TestSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = parseReleaseKey(JSON.stringify(publicKey.export({ format: 'jwk' })));
  if (key === undefined) throw new Error('Node made a key that is none');
  return { key, privateKey };
}

/** Everything is open and proved. */
export const wholeRelease: ReleaseState = {
  open: new Set(provable.filter((name) => name.length === 1)) as ReleaseState['open'],
  proved: new Set(provable),
};

/** Every gate's flag open, without those that are withdrawn. */
export function openFlags(...withdrawn: readonly GateName[]): GateFlags {
  return Object.fromEntries(gates.map((gate) => [gate, withdrawn.includes(gate) ? 'closed' : 'open']));
}

/** A manifest that proves what is named, from 2020 to 2999, for the local stage. */
export function sampleManifest(
  proves: readonly Provable[],
  changed: Partial<ReleaseManifest> = {},
): ReleaseManifest {
  return {
    manifestVersion: 1,
    stage: 'local',
    rehearsal: true,
    issuedAt: '2020-01-01T00:00:00Z',
    expiresAt: '2999-01-01T00:00:00Z',
    receipts: proves.map((name) => ({
      proves: name,
      location: `s3://receipts/${name}`,
      sha256: '0'.repeat(64),
      summary: `proof of ${name}`,
    })),
    ...changed,
  };
}

/** That manifest, signed. */
export function signedManifest(
  { privateKey }: Pick<TestSigner, 'privateKey'>,
  proves: readonly Provable[] = provable,
  changed: Partial<ReleaseManifest> = {},
): string {
  return signManifest(sampleManifest(proves, changed), privateKey);
}

/** What the parameters of the stage `prod` and its bucket hold: flags, and the manifest that is applied, if one is. */
export function appliedToProd(
  flags: Readonly<Record<string, string>>,
  jws: string | undefined,
): AppliedGates {
  const reference = jws && formatReference({ sha256: sha256Hex(jws), location: 's3://b/k' });
  return {
    readFlags: (path) => Promise.resolve(new Map(path === '/prod/gates' ? Object.entries(flags) : [])),
    readParameter: (name) => Promise.resolve(name === '/prod/gates-manifest' ? reference : undefined),
    readManifest: () => Promise.resolve(jws === undefined ? undefined : Buffer.from(jws)),
  };
}

/** What was applied last, as the table gives it. */
export function applied(manifest: string, flags: GateFlags = openFlags()): AppliedRelease {
  return { manifest, flags, appliedAt: Date.parse('2026-01-01T00:00:00Z') };
}
