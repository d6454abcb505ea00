import type { ManifestFault } from './manifest.ts';

/** Why a manifest proves nothing to a stage: the end of a sentence that begins with the manifest, and what to do about it. */
export function describeFault(fault: ManifestFault, stage: string): string {
  switch (fault) {
    case 'malformed':
      return 'is no prerequisite manifest: a compact JWS as docs/release.md describes it';
    case 'unsigned':
      return `is not signed with the key that ${stage} trusts, or was changed after it was signed`;
    case 'expired':
      return 'has expired: have its receipts looked at again and sign a new one';
    case 'not-yet-issued':
      return 'was issued in the future: see to the clocks';
    case 'other-stage':
      return `was signed for another stage than ${stage}`;
    case 'rehearsal':
      return `is a rehearsal, which opens nothing but a local stage, never ${stage}`;
  }
}
