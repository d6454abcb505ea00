import { createHash, sign, type KeyObject } from 'node:crypto';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { MANIFEST_TYPE, type ReleaseManifest } from '#shared/release/manifest.ts';

/** Returns what is signed: protected header and payload of the compact JWS. The same manifest gives the same text. */
export function signingInput(manifest: ReleaseManifest): string {
  const encode = (value: unknown): string => Buffer.from(canonicalJson(value)).toString('base64url');
  return `${encode({ alg: 'ES256', typ: MANIFEST_TYPE })}.${encode(manifest)}`;
}

/** Returns SHA-256 of what is signed, for a key that is held elsewhere. */
export function signingDigest(manifest: ReleaseManifest): Uint8Array {
  return createHash('sha256').update(signingInput(manifest)).digest();
}

/** Returns the compact JWS of a manifest under a private key of P-256. */
export function signManifest(manifest: ReleaseManifest, key: KeyObject): string {
  const input = signingInput(manifest);
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

/**
 * Returns the compact JWS from a signature in DER, as KMS and OpenSSL return it; a JWS contains the two numbers side by side.
 * @returns err: the end of a sentence that begins with the signature
 */
export function attachSignature(manifest: ReleaseManifest, der: Uint8Array): Result<string, string> {
  const numbers = numbersOf(Buffer.from(der));
  return numbers === undefined
    ? err('is not a DER signature of a P-256 key')
    : ok(`${signingInput(manifest)}.${numbers.toString('base64url')}`);
}

/** `SEQUENCE { INTEGER r, INTEGER s }` as r and s of 32 bytes each. */
function numbersOf(der: Buffer): Buffer | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const first = integerAt(der, 2);
  const second = first && integerAt(der, first.end);
  return first === undefined || second?.end !== der.length
    ? undefined
    : Buffer.concat([first.number, second.number]);
}

function integerAt(der: Buffer, at: number): { readonly number: Buffer; readonly end: number } | undefined {
  const length = der[at + 1] ?? 0;
  const end = at + 2 + length;
  if (der[at] !== 0x02 || length < 1 || end > der.length) return undefined;
  // A leading zero only marks the number as positive.
  const digits = der.subarray(at + 2, end);
  const significant = digits.subarray(
    Math.max(
      0,
      digits.findIndex((byte) => byte !== 0),
    ),
  );
  return significant.length > 32
    ? undefined
    : { number: Buffer.concat([Buffer.alloc(32 - significant.length), significant]), end };
}
