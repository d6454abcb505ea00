import { createHmac } from 'node:crypto';
import type { Principal } from '#shared/http/operation.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';

/** Everything that decides what a caller may read, in one form: a JSON value for hashing. */
type Authorization = Readonly<Record<keyof Principal, string | readonly string[]>>;

/**
 * A caller's authorization in its one form: claims that are sets stand sorted, each value once. It is made of verified claims without
 * `iat` and `exp`, never of the token, so a refreshed token has the same one.
 */
export function authorizationOf(principal: Principal): Authorization {
  return {
    tenantId: principal.tenantId,
    sub: principal.sub,
    role: principal.role,
    scopes: asSet(principal.scopes),
    studentIds: asSet(principal.studentIds),
    classSourcedIds: asSet(principal.classSourcedIds),
    schoolSourcedIds: asSet(principal.schoolSourcedIds),
    administrationIds: asSet(principal.administrationIds),
  };
}

/**
 * The authorization fingerprint: HMAC-SHA-256, base64url, over the RFC 8785 form of the caller's authorization. What is kept under it is
 * never given to anybody else [RP-337]; without the key, ids cannot be guessed from it.
 */
export function authorizationFingerprint(principal: Principal, key: Uint8Array): string {
  return createHmac('sha256', key)
    .update(canonicalJson(authorizationOf(principal)))
    .digest('base64url');
}

function asSet(values: readonly string[]): readonly string[] {
  return [...new Set(values)].toSorted();
}
