import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from 'jose';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';

/** Issuer and audience of local tokens: fixed, so that a token stays valid after a restart on another port. */
export const localIssuer = 'https://issuer.mastery-reports.example';
export const localAudience = 'https://api.mastery-reports.example';
export const localAlgorithm = 'ES256';

/** The claims of a token [MA-044, RP-312]; an absent resource claim permits no access to its resources. */
export interface TokenClaims {
  readonly tenantId: string;
  readonly scopes: readonly string[];
  readonly sub: string;
  readonly role: string;
  /** Default 3600. */
  readonly expiresInSeconds?: number | undefined;
  readonly studentIds?: readonly string[] | undefined;
  readonly classSourcedIds?: readonly string[] | undefined;
  readonly schoolSourcedIds?: readonly string[] | undefined;
  readonly administrationIds?: readonly string[] | undefined;
}

const privateJwk = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
});
export type IssuerKey = z.infer<typeof privateJwk>;

/** An issuer of local tokens. Production issues none: the platform's own issuer signs there. */
export interface Issuer {
  /** The public key set, as served at `/.well-known/jwks.json`. */
  readonly jwks: { readonly keys: readonly Readonly<Record<string, string>>[] };
  /** Returns a signed JWT. `now` in epoch milliseconds. */
  readonly issueToken: (claims: TokenClaims, now: number) => Promise<string>;
  /** Returns the tenant of a valid token that this issuer signed; undefined for any other text. */
  readonly tenantOf: (token: string) => Promise<string | undefined>;
}

export async function createIssuerKey(): Promise<IssuerKey> {
  const { privateKey } = await generateKeyPair(localAlgorithm, { extractable: true });
  return privateJwk.parse(await exportJWK(privateKey));
}

/** Returns the key in the file, readable only by its owner. If there is none, or other content, creates a new one. */
export async function loadIssuerKey(file: string): Promise<IssuerKey> {
  const kept = await readIssuerKey(file);
  if (kept.ok) return kept.value;
  await mkdir(dirname(file), { recursive: true });
  const key = await createIssuerKey();
  await writeFile(file, `${JSON.stringify(key)}\n`, { mode: 0o600 });
  // An existing file keeps its mode.
  await chmod(file, 0o600);
  return key;
}

/** Returns the key in the file. @returns err: a sentence, if there is no file or no key in it */
export async function readIssuerKey(file: string): Promise<Result<IssuerKey, string>> {
  const again = 'start the stack again with `npm start`';
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return err(`${file} is gone: ${again}`);
    throw error;
  }
  await chmod(file, 0o600);
  try {
    return ok(privateJwk.parse(JSON.parse(text)));
  } catch {
    return err(`${file} does not contain a key: ${again}`);
  }
}

export async function createIssuer(key: IssuerKey): Promise<Issuer> {
  const publicJwk = { kty: key.kty, crv: key.crv, x: key.x, y: key.y };
  const kid = await calculateJwkThumbprint(publicJwk);
  const signingKey = await importJWK(key, localAlgorithm);
  const verifyingKey = await importJWK(publicJwk, localAlgorithm);
  return {
    jwks: { keys: [{ ...publicJwk, kid, alg: localAlgorithm, use: 'sig' }] },
    issueToken(claims, now) {
      const issuedAt = Math.floor(now / 1000);
      const { tenantId, scopes, sub, role, expiresInSeconds, ...resources } = claims;
      return new SignJWT({ tenantId, role, scope: scopes.join(' '), ...resources })
        .setProtectedHeader({ alg: localAlgorithm, kid, typ: 'at+jwt' })
        .setIssuer(localIssuer)
        .setAudience(localAudience)
        .setSubject(sub)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + (expiresInSeconds ?? 3600))
        .sign(signingKey);
    },
    async tenantOf(token) {
      try {
        const { payload } = await jwtVerify(token, verifyingKey, {
          issuer: localIssuer,
          audience: localAudience,
          algorithms: [localAlgorithm],
        });
        return typeof payload['tenantId'] === 'string' ? payload['tenantId'] : undefined;
      } catch {
        // Any invalid token names no tenant.
        return undefined;
      }
    },
  };
}
