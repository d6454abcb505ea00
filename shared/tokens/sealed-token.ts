import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { KeyPurpose, KeyRing } from '#shared/keys/key-ring.ts';

/** One kind of token: another purpose's key does not open it, and another kind under the same key is rejected by its type. */
export interface TokenKind {
  readonly purpose: KeyPurpose;
  /** The header's `typ`. */
  readonly typ: string;
}

/**
 * Why a token was rejected. `malformed`: its header is not that of this kind. `unopenable`: unknown or retired key, broken tag, another spelling;
 * these have one response, so that it reveals nothing.
 */
export type TokenFault = 'malformed' | 'unopenable';

const protectedHeader = z.strictObject({
  alg: z.literal('dir'),
  enc: z.literal('A256GCM'),
  kid: z.string().min(1),
  typ: z.string(),
});

/** Seals a JSON value under the purpose's active key as compact JWE (RFC 7516), `dir` with A256GCM. Throws if the key ring is unreachable. */
export async function sealToken(
  keys: KeyRing,
  { purpose, typ }: TokenKind,
  content: object,
): Promise<string> {
  const { kid, key } = await keys.active(purpose);
  const header = { alg: 'dir', enc: 'A256GCM', kid, typ } satisfies z.input<typeof protectedHeader>;
  return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
    .setProtectedHeader(header)
    .encrypt(key);
}

/** Opens a token of a kind to the sealed JSON value; the caller checks its form. Throws only if the key ring itself is unreachable. */
export async function openToken(
  keys: KeyRing,
  { purpose, typ }: TokenKind,
  token: string,
): Promise<Result<unknown, TokenFault>> {
  const header = readHeader(token);
  if (header?.typ !== typ) return err('malformed');
  if (!isCanonical(token)) return err('unopenable');
  const key = await keys.open(purpose, header.kid);
  if (key === undefined) return err('unopenable');
  try {
    const { plaintext } = await compactDecrypt(token, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      maxDecompressedLength: 0,
    });
    return ok(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(plaintext)));
  } catch {
    return err('unopenable');
  }
}

/** Returns the protected header if it is exactly ours: `zip`, `crit` and every other addition are rejected before any key is used. */
function readHeader(token: string): z.infer<typeof protectedHeader> | undefined {
  try {
    return protectedHeader.parse(decodeProtectedHeader(token));
  } catch {
    return undefined;
  }
}

/** Returns whether a token has its only valid spelling: unused bits at the end of a part would open just as well. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
