import * as z from 'zod';
import { authorizationOf } from '#functions/reports/access/claims.ts';
import type { Principal } from '#shared/http/operation.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { openToken, sealToken } from '#shared/tokens/sealed-token.ts';
import type { TokenKind } from '#shared/tokens/sealed-token.ts';

/** A cursor opens for one hour after its issue (the reading of RP-304). */
const LIFETIME_MS = 60 * 60 * 1000;
/** What a client has to store at most [RP-134]. */
const MAX_LENGTH = 2048;

const KIND: TokenKind = { purpose: 'cursor', typ: 'reports-cursor+jwe' };

const sealed = z.strictObject({
  issuedAt: z.int(),
  expiresAt: z.int(),
  boundTo: z.string(),
  position: z.array(z.string()),
});

/** A JSON value; an absent member and an undefined one are the same. */
type Bindable =
  string | number | boolean | null | readonly Bindable[] | { readonly [name: string]: Bindable | undefined };

/** The one list, caller and request that a cursor works with [RP-135, RP-303]. */
export interface CursorUse<Name extends string> {
  /** The list's operation id: the cursor of one list opens in no other. */
  readonly list: string;
  /** The members of the list's sort key, in order. */
  readonly keyset: readonly Name[];
  /** Tenant and authorization fingerprint come from here. */
  readonly principal: Principal;
  /** Resource id, normalized filters, sort and limit. */
  readonly binding: Bindable;
}

/**
 * Seals the position after which the next page begins: at most 2,048 characters for positions of a few hundred bytes, whatever characters
 * they consist of. Throws when the key ring is unreachable.
 * @param position the last row's sort key: well-formed texts
 * @param issuedAt epoch milliseconds; the cursor opens for one hour
 */
export async function sealCursor<Name extends string>(
  keys: KeyRing,
  use: CursorUse<Name>,
  position: Readonly<Record<Name, string>>,
  issuedAt: number,
): Promise<string> {
  const content = {
    issuedAt,
    expiresAt: issuedAt + LIFETIME_MS,
    boundTo: digestOf(use),
    position: use.keyset.map((name) => encode(position[name])),
  } satisfies z.infer<typeof sealed>;
  const token = await sealToken(keys, KIND, content);
  if (token.length > MAX_LENGTH) throw new RangeError(`${use.list}: a cursor of ${token.length} characters`);
  return token;
}

/**
 * The position that a cursor holds. Refused, always alike: changed, cut, respelt, expired, of another caller, list or request, under an
 * unknown key. Throws only when the key ring itself is unreachable.
 * @param now epoch milliseconds
 */
export async function openCursor<Name extends string>(
  keys: KeyRing,
  use: CursorUse<Name>,
  cursor: string,
  now: number,
): Promise<Result<Readonly<Record<Name, string>>, 'refused'>> {
  const opened = await openToken(keys, KIND, cursor);
  const content = sealed.safeParse(opened.ok ? opened.value : undefined);
  if (!content.success) return err('refused');
  const { expiresAt, boundTo, position } = content.data;
  if (now >= expiresAt || boundTo !== digestOf(use)) return err('refused');
  // SAFETY: the digest covers the names, so the position was sealed for exactly these.
  const entries = use.keyset.map((name, at) => [name, decode(position[at] as string)]);
  return ok(Object.fromEntries(entries) as Record<Name, string>);
}

/**
 * What a cursor is bound to, as one digest. A plain one: it lies encrypted in the token, so nobody can compare a guess with it, and
 * no key has to live as long as a cursor. It hashes the authorization itself in place of a fingerprint of it.
 */
function digestOf({ list, keyset, principal, binding }: CursorUse<string>): string {
  return hashCanonical({ list, keyset, authorization: authorizationOf(principal), binding });
}

/** Text whose length does not depend on its characters: JSON would write a control character in six. */
function encode(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('sealCursor: a position is not well-formed text');
  return Buffer.from(text).toString('base64url');
}

function decode(text: string): string {
  return Buffer.from(text, 'base64url').toString();
}
