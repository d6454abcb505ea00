import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { gates, provable, type GateName, type Provable } from '#shared/contract/gates.ts';
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

/** A signed manifest that proves what is named, from 2020 to 2999, for the local stage. */
export function signedManifest(
  { privateKey }: Pick<TestSigner, 'privateKey'>,
  proves: readonly Provable[] = provable,
  changed: Partial<ReleaseManifest> = {},
): string {
  const manifest: ReleaseManifest = {
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
  return signManifest(manifest, privateKey);
}

/** What was applied last, as the table gives it. */
export function applied(manifest: string, flags: GateFlags = openFlags()): AppliedRelease {
  return { manifest, flags, appliedAt: Date.parse('2026-01-01T00:00:00Z') };
}
