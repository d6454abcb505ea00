import { chmod, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import {
  createIssuer,
  createIssuerKey,
  loadIssuerKey,
  localAudience,
  localIssuer,
  readIssuerKey,
} from './local-issuer.ts';

const directory = await mkdtemp(join(tmpdir(), 'issuer-'));
const now = Date.now();

describe('createIssuer', () => {
  it('publishes the key by which its tokens are verified, and no private part', async () => {
    const { jwks, issueToken } = await createIssuer(await createIssuerKey());
    const claims = { tenantId: 't', sub: 'client', role: 'proctor', scopes: ['mastery:run', 'mastery:read'] };
    const token = await issueToken({ ...claims, studentIds: ['s1'], expiresInSeconds: 60 }, now);
    const [key = {}] = jwks.keys;
    expect(Object.keys(key).sort()).toStrictEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [{ ...key, kty: 'EC' }] }));
    const issuedAt = Math.floor(now / 1000);
    expect(payload).toStrictEqual({
      ...{ tenantId: 't', sub: 'client', role: 'proctor', scope: 'mastery:run mastery:read' },
      ...{ studentIds: ['s1'], iss: localIssuer, aud: localAudience, iat: issuedAt, exp: issuedAt + 60 },
    });
  });

  it('knows the tenant of its own valid tokens only', async () => {
    const issuer = await createIssuer(await createIssuerKey());
    const other = await createIssuer(await createIssuerKey());
    const claims = { tenantId: 't', sub: 'client', role: 'proctor', scopes: [] };
    expect(await issuer.tenantOf(await issuer.issueToken(claims, now))).toBe('t');
    expect(await issuer.tenantOf(await other.issueToken(claims, now))).toBeUndefined();
    expect(await issuer.tenantOf(await issuer.issueToken(claims, now - 7_200_000))).toBeUndefined();
    expect(await issuer.tenantOf('no token')).toBeUndefined();
  });
});

describe('loadIssuerKey', () => {
  it('keeps one key in a file that only its owner reads', async () => {
    const file = join(directory, 'new', 'issuer.json');
    expect(await readIssuerKey(file)).toEqual(err(expect.stringContaining('is gone: start the stack')));
    const key = await loadIssuerKey(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await loadIssuerKey(file)).toStrictEqual(key);
    await chmod(file, 0o644);
    expect(await readIssuerKey(file)).toStrictEqual(ok(key));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('replaces what is no key', async () => {
    const file = join(directory, 'other.json');
    for (const text of ['{"kty":"oct"}', '{"kty"']) {
      await writeFile(file, text, { mode: 0o644 });
      expect(await readIssuerKey(file)).toEqual(err(expect.stringContaining('does not contain a key')));
      const key = await loadIssuerKey(file);
      expect(await readIssuerKey(file)).toStrictEqual(ok(key));
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });
});
