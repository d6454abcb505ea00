import { errors, jwtVerify } from 'jose';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { decodeUtf8, parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { Principal } from '../operation.ts';
import { Refusal } from '../refusal.ts';
import type { KeySet } from './key-set.ts';

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  /** From configuration; a token's own `alg` is only compared with these. */
  readonly algorithms: readonly string[];
  /** The reports service requires `iat` [RP-312]. */
  readonly issuedAtRequired: boolean;
}

const CLOCK_SKEW_SECONDS = 60;
const BEARER = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/i;
const REQUIRED = ['iss', 'aud', 'sub', 'tenantId', 'exp', 'role'];
/** Members that would let a token choose its own key or change how it is read. */
const FORBIDDEN_HEADER = ['jku', 'x5u', 'jwk', 'x5c', 'crit', 'b64'];
/** A media type: in any case, with or without the prefix that may be left out (RFC 7515 section 4.1.9, RFC 9068 section 4). */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;

/** Without white space and control characters, which a person would overlook: a tenant has one spelling. */
const TENANT_ID = /^[^\s\p{Cc}]+$/u;
/** One visible character: not white space, not a control or format character, and not one that fonts leave blank. */
const VISIBLE = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

const ids = z.array(z.string()).default([]);
const claims = z.object({
  sub: z.string().regex(VISIBLE),
  tenantId: z.string().regex(TENANT_ID),
  role: z.string().regex(VISIBLE),
  scope: z.string().default(''),
  iat: z.number().optional(),
  studentIds: ids,
  classSourcedIds: ids,
  schoolSourcedIds: ids,
  administrationIds: ids,
});

/**
 * Verifies the one bearer token of a request: signature under a pinned key set and configured algorithms, issuer, audience, times with at most 60 s
 * of skew, required claims, no repeated member names [MA-044, MA-148, RP-311, RP-312]. A `role` has no effect. Throws the key set's Refusal.
 * @param authorization every Authorization header of the request
 * @returns err: why the caller could not be authenticated, only for the log, since callers always get the same response
 */
export async function verifyToken(
  authorization: readonly string[],
  rules: TokenRules,
  { keySet, now, log }: { readonly keySet: KeySet; readonly now: () => number; readonly log: Log },
): Promise<Result<Principal, string>> {
  const [value, second] = authorization;
  if (value === undefined) return err('no-header');
  if (second !== undefined) return err('repeated-header');
  const parts = BEARER.exec(value);
  if (parts === null) return err('no-bearer-token');
  const [, header = '', payload = ''] = parts;
  const headerReason = refusalOfHeader(header);
  if (headerReason !== undefined) return err(headerReason);

  try {
    await jwtVerify(
      value.slice('Bearer '.length),
      (protectedHeader, token) => keySet(protectedHeader, token, log),
      {
        algorithms: [...rules.algorithms],
        issuer: rules.issuer,
        audience: rules.audience,
        clockTolerance: CLOCK_SKEW_SECONDS,
        currentDate: new Date(now()),
        requiredClaims: rules.issuedAtRequired ? [...REQUIRED, 'iat'] : REQUIRED,
      },
    );
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error instanceof errors.JOSEError) return err(error.code.toLowerCase());
    // Web Crypto rejects a key that does not fit its algorithm with errors of its own.
    return err('unusable-key');
  }

  const decoded = claims.safeParse(decode(payload));
  if (!decoded.success) return err('claims');
  const { scope, iat, ...identity } = decoded.data;
  if (iat !== undefined && iat > now() / 1000 + CLOCK_SKEW_SECONDS) return err('issued-in-the-future');
  return ok({ ...identity, scopes: scope.split(' ').filter((name) => name !== '') });
}

/** Checks the header before any key is used: nothing that a header names is ever fetched. */
function refusalOfHeader(segment: string): string | undefined {
  const header = decode(segment);
  if (typeof header !== 'object' || header === null) return 'header';
  const members = header as Readonly<Record<string, unknown>>;
  if (FORBIDDEN_HEADER.some((member) => Object.hasOwn(members, member))) return 'forbidden-header-member';
  const { typ } = members;
  return typ === undefined || (typeof typ === 'string' && TYPE.test(typ)) ? undefined : 'typ';
}

/** Returns the JSON value of a segment; undefined if it is not UTF-8 or not I-JSON, which includes repeated member names. */
function decode(segment: string): unknown {
  const parsed = parseStrictJson(decodeUtf8(Buffer.from(segment, 'base64url')) ?? '');
  return parsed.ok ? parsed.value : undefined;
}
