import type { ManifestFault } from './manifest.ts';

/** Returns why a manifest is not valid for a stage, and what to do, as the end of a sentence that begins with the manifest. */
export function describeFault(fault: ManifestFault, stage: string): string {
  switch (fault) {
    case 'malformed':
      return 'is not a prerequisite manifest: expected a compact JWS (docs/release.md)';
    case 'unsigned':
      return `is not signed with the key that ${stage} trusts, or was changed after it was signed`;
    case 'expired':
      return 'has expired: review its receipts again and sign a new one';
    case 'not-yet-issued':
      return 'was issued in the future: check the clocks';
    case 'other-stage':
      return `was not signed for ${stage} but for another stage`;
    case 'rehearsal':
      return `is a rehearsal, which opens gates of a local stage only, never of ${stage}`;
  }
}
