import { hashCanonical } from '#shared/kernel/canonical-json.ts';

/** The scope text of the hash that is computed here. A catalog with any other scope text may hash other, unknown bytes. */
export const hashScope =
  'SHA-256 over the RFC 8785 (JCS) form of this record without catalog_revision_hash, 64 lower-case hexadecimal characters';

/** Returns the SHA-256 over the RFC 8785 form of a catalog without `catalog_revision_hash`, as 64 lower-case hexadecimal characters. */
export function catalogHash(catalog: Readonly<Record<string, unknown>>): string {
  const covered: Record<string, unknown> = { ...catalog };
  delete covered['catalog_revision_hash'];
  return hashCanonical(covered);
}

/** Returns whether a catalog declares the hash that is computed here; any other hash cannot be verified. */
export function isHashVerifiable(catalog: Readonly<Record<string, unknown>>): boolean {
  return catalog['catalog_revision_hash_scope'] === hashScope;
}
