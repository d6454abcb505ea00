import { sha256Hex } from './canonical-json.ts';

/**
 * Returns an RFC 9562 version 8 UUID made of a SHA-256 over a purpose and its parts, so that a retry names the same thing again. Parts are
 * length-prefixed: no two lists of parts share a digest by concatenation.
 */
export function deterministicUuid(purpose: string, ...parts: readonly string[]): string {
  const hex = sha256Hex([purpose, ...parts].map((part) => `${part.length}:${part}`).join('|'));
  const variant = ((parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
