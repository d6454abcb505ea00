import { createHash, hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * Returns the RFC 8785 (JCS) form of a JSON value: sorted keys, ECMAScript numbers, no white space. Throws for a value that is not I-JSON (NaN,
 * Infinity, lone surrogates, undefined), which no parser returns.
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('canonicalJson: the value has no JSON form');
  return text;
}

/** Returns the SHA-256 as 64 lower-case hexadecimal characters [MA-043]. A string is hashed as UTF-8. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data);
}

/** Returns the SHA-256 hex of bytes that are in several pieces. */
export function sha256OfChunks(chunks: readonly Uint8Array[]): string {
  const digest = createHash('sha256');
  for (const chunk of chunks) digest.update(chunk);
  return digest.digest('hex');
}

/** Returns the SHA-256 hex of the RFC 8785 form of a JSON value. */
export function hashCanonical(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}
