import { hashCanonical } from '#shared/kernel/canonical-json.ts';

/** Returns the SHA-256 hex of the RFC 8785 form of a document without its own `checksum` [MA-115, MA-122]. */
export function documentChecksum(document: Readonly<Record<string, unknown>>): string {
  return hashCanonical(Object.fromEntries(Object.entries(document).filter(([name]) => name !== 'checksum')));
}
