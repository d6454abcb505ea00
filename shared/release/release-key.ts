import * as z from 'zod';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';

/** A coordinate of a point of P-256: 32 bytes in base64url. */
const coordinate = z.string().regex(/^[\w-]{43}$/);

/** The public key that a stage trusts, as a JWK (RFC 7517). A private one has an additional member and is rejected. */
export const releaseKey = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: coordinate,
  y: coordinate,
});
export type ReleaseKey = z.infer<typeof releaseKey>;

/** Returns the key in a function's environment variable; undefined for a text that is no key. */
export function parseReleaseKey(text: string): ReleaseKey | undefined {
  const json = parseStrictJson(text);
  return releaseKey.safeParse(json.ok ? json.value : undefined).data;
}
