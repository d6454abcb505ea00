import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createIssuer,
  createIssuerKey,
  loadIssuerKey,
  localAudience,
  localIssuer,
  readIssuerKey,
} from './local-issuer.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'issuer-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

const now = Date.now();

describe('createIssuer', () => {
  it('signs tokens that its published key set verifies', async () => {
    const issuer = await createIssuer(await createIssuerKey());
    const token = await issuer.issueToken(
      {
        tenantId: 't',
        sub: 'client',
        role: 'proctor',
        scopes: ['mastery:run', 'mastery:read'],
        studentIds: ['s1', 's2'],
        expiresInSeconds: 60,
      },
      now,
    );
    const { payload, protectedHeader } = await jwtVerify(
      token,
      createLocalJWKSet({ keys: issuer.jwks.keys.map((key) => ({ ...key, kty: 'EC' })) }),
      { issuer: localIssuer, audience: localAudience },
    );
    expect(payload).toMatchObject({
      tenantId: 't',
      scope: 'mastery:run mastery:read',
      sub: 'client',
      role: 'proctor',
      studentIds: ['s1', 's2'],
      iat: Math.floor(now / 1000),
      exp: Math.floor(now / 1000) + 60,
    });
    expect(payload).not.toHaveProperty('classSourcedIds');
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
  });

  it('publishes no private part', async () => {
    const issuer = await createIssuer(await createIssuerKey());
    const names = Object.keys(issuer.jwks.keys[0] ?? {}).sort();
    expect(names).toStrictEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
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
    expect(await readIssuerKey(file)).toBeUndefined();
    const key = await loadIssuerKey(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await loadIssuerKey(file)).toStrictEqual(key);
    await chmod(file, 0o644);
    expect(await readIssuerKey(file)).toStrictEqual(key);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('replaces what is no key', async () => {
    const file = join(directory, 'other.json');
    for (const text of ['{"kty":"oct"}', '{"kty"']) {
      await writeFile(file, text, { mode: 0o644 });
      expect(await readIssuerKey(file)).toBeUndefined();
      const key = await loadIssuerKey(file);
      expect(await readIssuerKey(file)).toStrictEqual(key);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });
});
