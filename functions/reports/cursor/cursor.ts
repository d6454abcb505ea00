import * as z from 'zod';
import { authorizationOf } from '#functions/reports/access/claims.ts';
import { canonicalQuery } from '#shared/contract/filters.ts';
import { cursorRefusal } from '#shared/contract/reports/page-parameters.ts';
import type { Route } from '#shared/contract/route.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { invalid } from '#shared/http/syntax/issues.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { openToken, sealToken, type TokenKind } from '#shared/tokens/sealed-token.ts';

/** A cursor is valid for one hour after its issue (the reading of RP-304). */
export const LIFETIME_MS = 60 * 60 * 1000;
/** The longest cursor that a client may have to store [RP-134]. */
const MAX_LENGTH = 2048;

const KIND: TokenKind = { purpose: 'cursor', typ: 'reports-cursor+jwe' };

const sealed = z.strictObject({
  issuedAt: z.int(),
  expiresAt: z.int(),
  boundTo: z.string(),
  position: z.array(z.string()),
});

/** A request for a page of a list. */
interface ListRequest extends Pick<OperationRequest, 'principal' | 'receivedAt'> {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number | undefined>> & {
    readonly cursor?: string | undefined;
  };
}

/** The place of a page in its list. */
export interface ListCursor<Name extends string> {
  /** The row that the page follows; undefined for the first page. */
  readonly after: Readonly<Record<Name, string>> | undefined;
  /**
   * Returns the cursor of the page that follows a row of well-formed texts; null without a row, at the end of the list. It is valid for one hour
   * after the request. It has at most 2,048 characters for positions of a few hundred bytes, whichever characters they contain.
   */
  readonly seal: (last: Readonly<Record<Name, string>> | undefined) => Promise<string | null>;
}

/**
 * Opens the cursor of a request. It is bound to its list, its caller's tenant and authorization, path, and every query parameter except the cursor
 * itself, each in canonical form [RP-135, RP-303]. Any other cursor gets the same refusal: changed, cut, respelt, expired, of another caller, list or
 * request, or under an unknown key. Throws only if the key ring itself is unreachable.
 * @param keyset the members of the list's sort key, in order
 */
export async function openListCursor<Name extends string>(
  keys: KeyRing,
  { operationId: list, request }: Pick<Route, 'operationId' | 'request'>,
  keyset: readonly Name[],
  { principal, path, query, receivedAt }: ListRequest,
): Promise<Result<ListCursor<Name>, Problem>> {
  /*
   * A plain digest is enough: it is encrypted in the token, so that it cannot be compared with a guess, and no key has to live as long as a cursor.
   * It hashes the authorization itself instead of its fingerprint.
   */
  const boundTo = hashCanonical({
    list,
    keyset,
    authorization: authorizationOf(principal),
    binding: { ...path, ...canonicalQuery(request.filters, query) },
  });
  let after: Readonly<Record<Name, string>> | undefined;
  if (query.cursor !== undefined) {
    const token = await openToken(keys, KIND, query.cursor);
    const opened = sealed.safeParse(token.ok ? token.value : undefined).data;
    if (opened?.boundTo !== boundTo || receivedAt >= opened.expiresAt) {
      const refused = invalid('query', ['cursor'], cursorRefusal.reason, cursorRefusal.message);
      return err(problem('reports', 'validation', 400, { invalidParams: [refused] }));
    }
    // SAFETY: the digest covers the names, so the position was sealed for exactly these.
    const entries = keyset.map((name, at) => [
      name,
      Buffer.from(opened.position[at] as string, 'base64url').toString(),
    ]);
    after = Object.fromEntries(entries) as Record<Name, string>;
  }
  return ok({
    after,
    async seal(last) {
      if (last === undefined) return null;
      const position = keyset.map((name) => encode(last[name]));
      const expiresAt = receivedAt + LIFETIME_MS;
      const content = { issuedAt: receivedAt, expiresAt, boundTo, position } satisfies z.infer<typeof sealed>;
      const token = await sealToken(keys, KIND, content);
      if (token.length > MAX_LENGTH) throw new RangeError(`${list}: a cursor of ${token.length} characters`);
      return token;
    },
  });
}

/** Encodes text so that its length does not depend on its characters: JSON would write a control character as six. */
function encode(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('a position is not well-formed text');
  return Buffer.from(text).toString('base64url');
}
