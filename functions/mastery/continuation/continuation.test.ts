import { Buffer } from 'node:buffer';
import { CompactEncrypt } from 'jose';
import { describe, expect, it } from 'vitest';
import type { AdaptiveRunState } from './run-state.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { openContinuation, sealContinuation } from './continuation.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const START = Date.parse('2026-03-01T08:00:00Z');
const HASH = 'a'.repeat(64);

const state: AdaptiveRunState = {
  version: 1,
  tenantId: 'tenant-a',
  runMode: 'production_learner',
  selectionPolicyId: 'policy-1',
  selectionPolicyChecksum: HASH,
  scaleCalibrationId: 'calibration-1',
  scaleCalibrationChecksum: HASH,
  pins: {
    testSpecId: 'spec/ä 1',
    testSpecHash: HASH,
    testBankId: 'bank-1',
    testBankIdentityHash: HASH,
    bankOperationId: 'operation-1',
    qtiPoolPackageId: 'package-1',
    qtiPoolArtifactId: 'artifact-1',
    qtiPoolArtifactVersionId: 'version-1',
    qtiPoolPackageHash: HASH,
    qtiPoolEtag: '"root"',
    resolvedPoolHash: HASH,
  },
  candidateRef: 'candidate-1',
  runSeed: HASH,
  startedAt: START,
  resultsStudentId: 'canary-student-7731',
  offers: [{ deliverySessionId: 'session-1', artifactVersionId: 'item-version-1' }],
  consumed: { count: 0, digest: HASH },
  stopReason: null,
  acknowledgements: {},
};

function keyRing(keys: Record<string, number>, active = Object.keys(keys)[0] ?? ''): KeyRing {
  const keyOf = (kid: string): Uint8Array | undefined => {
    const fill = keys[kid];
    return fill === undefined ? undefined : new Uint8Array(32).fill(fill);
  };
  return {
    active: () => Promise.resolve({ kid: active, key: keyOf(active) ?? new Uint8Array(32) }),
    open: (_, kid) => Promise.resolve(keyOf(kid)),
  };
}

const ring = keyRing({ k1: 1 });

/** Changes one character of one of the five parts. */
function tamper(token: string, part: number): string {
  const parts = token.split('.');
  const text = parts[part] ?? '';
  parts[part] = (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
  return parts.join('.');
}

function withHeader(token: string, header: Record<string, unknown>): string {
  const parts = token.split('.');
  parts[0] = Buffer.from(JSON.stringify(header)).toString('base64url');
  return parts.join('.');
}

describe('continuation', () => {
  it('is a compact JWE with A256GCM that opens to the very state that was sealed [MA-059]', async () => {
    const { token } = await sealContinuation(ring, state, START);
    const parts = token.split('.');
    expect(parts).toHaveLength(5);
    expect(parts[1]).toBe('');
    expect(JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString())).toEqual({
      alg: 'dir',
      enc: 'A256GCM',
      kid: 'k1',
      typ: 'mastery-continuation+jwe',
    });
    expect(await openContinuation(ring, token, 'tenant-a', START)).toMatchObject({
      ok: true,
      value: { state, token },
    });
  });

  it('shows nothing of the learner to whoever holds it [MA-058, MA-063]', async () => {
    const { token } = await sealContinuation(ring, state, START);
    const readable = token
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
      .join('|');
    for (const secret of ['canary-student-7731', 'candidate-1', 'bank-1', 'session-1'])
      expect(readable).not.toContain(secret);
  });

  it('opens until 24 hours after its issue and not at that instant [MA-060, MA-075]', async () => {
    const { token, expiresAt } = await sealContinuation(ring, state, START);
    expect(expiresAt).toBe(START + DAY);
    expect(await openContinuation(ring, token, 'tenant-a', expiresAt - 1)).toMatchObject({ ok: true });
    expect(await openContinuation(ring, token, 'tenant-a', expiresAt)).toEqual({
      ok: false,
      error: 'expired',
    });
  });

  it('never outlives seven days from the start, however often it is renewed [MA-060, MA-075]', async () => {
    const lateIssue = START + 7 * DAY - HOUR;
    const { token, expiresAt } = await sealContinuation(ring, state, lateIssue);
    expect(expiresAt).toBe(START + 7 * DAY);
    expect(await openContinuation(ring, token, 'tenant-a', expiresAt)).toEqual({
      ok: false,
      error: 'expired',
    });
  });

  it('gives one answer for another tenant, an unknown or retired key and a broken tag [MA-061, MA-159]', async () => {
    const { token } = await sealContinuation(ring, state, START);
    const late = START + 2 * DAY;
    const refused = { ok: false, error: 'unopenable' };
    expect(await openContinuation(ring, token, 'tenant-b', START)).toEqual(refused);
    expect(await openContinuation(ring, token, 'tenant-b', late)).toEqual(refused);
    expect(await openContinuation(keyRing({ k2: 1 }), token, 'tenant-a', START)).toEqual(refused);
    expect(await openContinuation(keyRing({ k1: 2 }), token, 'tenant-a', START)).toEqual(refused);
    for (const part of [2, 3, 4])
      expect(await openContinuation(ring, tamper(token, part), 'tenant-a', START)).toEqual(refused);
  });

  it('has one spelling: unused bits at the end of a part are not forgiven', async () => {
    const { token } = await sealContinuation(ring, state, START);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(token.slice(-1));
    const respelt = token.slice(0, -1) + (alphabet[last ^ 1] ?? '');
    expect(Buffer.from(respelt.split('.')[4] ?? '', 'base64url')).toEqual(
      Buffer.from(token.split('.')[4] ?? '', 'base64url'),
    );
    expect(await openContinuation(ring, respelt, 'tenant-a', START)).toEqual({
      ok: false,
      error: 'unopenable',
    });
  });

  it('refuses a changed protected header: the key id is authenticated', async () => {
    const { token } = await sealContinuation(ring, state, START);
    const both = keyRing({ k1: 1, k2: 1 }, 'k1');
    const moved = withHeader(token, {
      alg: 'dir',
      enc: 'A256GCM',
      kid: 'k2',
      typ: 'mastery-continuation+jwe',
    });
    expect(await openContinuation(both, moved, 'tenant-a', START)).toEqual({
      ok: false,
      error: 'unopenable',
    });
  });

  it.each([
    ['zip', { zip: 'DEF' }],
    ['crit', { crit: ['exp'] }],
    ['another key management', { alg: 'A256KW' }],
    ['another encryption', { enc: 'A128GCM' }],
    ['another type', { typ: 'JWT' }],
    ['no key id', { kid: undefined }],
    ['an embedded key', { jwk: { kty: 'oct', k: 'AA' } }],
  ])('refuses %s in the header as malformed, before any key is looked up', async (_, change) => {
    const { token } = await sealContinuation(ring, state, START);
    const header = { alg: 'dir', enc: 'A256GCM', kid: 'k1', typ: 'mastery-continuation+jwe', ...change };
    const neverAsked: KeyRing = {
      active: () => Promise.reject(new Error('asked')),
      open: () => Promise.reject(new Error('asked')),
    };
    expect(await openContinuation(neverAsked, withHeader(token, header), 'tenant-a', START)).toEqual({
      ok: false,
      error: 'malformed',
    });
  });

  it('does not trust a state of another form, although it is sealed with the right key', async () => {
    const payload = JSON.stringify({
      issuedAt: START,
      expiresAt: START + HOUR,
      state: { ...state, version: 2 },
    });
    const token = await new CompactEncrypt(new TextEncoder().encode(payload))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: 'k1', typ: 'mastery-continuation+jwe' })
      .encrypt(new Uint8Array(32).fill(1));
    expect(await openContinuation(ring, token, 'tenant-a', START)).toEqual({
      ok: false,
      error: 'unopenable',
    });
  });
});
