import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { openToken, sealToken, type TokenKind } from './sealed-token.ts';

const kind: TokenKind = { purpose: 'cursor', typ: 'probe+jwe' };
const keys = createMemoryKeyRing();
const refused = err(expect.stringMatching(/^(malformed|unopenable)$/) as string);

describe('a sealed token', () => {
  it('opens to the very value that was sealed, and shows nothing of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (content) => {
        const token = await sealToken(keys, kind, { canary: 'canary-7731', content });
        expect(await openToken(keys, kind, token)).toEqual(
          ok(JSON.parse(JSON.stringify({ canary: 'canary-7731', content })) as unknown),
        );
        const parts = token.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
        expect(parts).toHaveLength(5);
        expect(parts.join('|')).not.toContain('canary');
        expect(JSON.parse(parts[0]!)).toEqual({
          alg: 'dir',
          enc: 'A256GCM',
          kid: 'cursor-1',
          typ: 'probe+jwe',
        });
      }),
    );
  });

  it('is of one kind: neither another type nor another purpose opens it', async () => {
    const token = await sealToken(keys, kind, {});
    expect(await openToken(keys, { ...kind, typ: 'other+jwe' }, token)).toEqual(err('malformed'));
    expect(await openToken(keys, { ...kind, purpose: 'continuation' }, token)).toEqual(err('unopenable'));
    // Were the ids the same, the keys would still differ.
    const sameIds: KeyRing = {
      active: (purpose) => keys.active(purpose),
      open: (purpose) => keys.open(purpose, `${purpose}-1`),
    };
    expect(await openToken(sameIds, kind, token)).toMatchObject({ ok: true });
    expect(await openToken(sameIds, { ...kind, purpose: 'continuation' }, token)).toEqual(err('unopenable'));
  });

  it.each([
    { zip: 'DEF' },
    { crit: ['exp'] },
    { alg: 'A256KW' },
    { enc: 'A128GCM' },
    { typ: 'JWT' },
    { kid: undefined },
    { jwk: { kty: 'oct', k: 'AA' } },
  ])('is malformed with %j in its header, before any key is looked up [MA-059]', async (change) => {
    const [header = '', ...others] = (await sealToken(keys, kind, {})).split('.');
    const known = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...known, ...change })).toString('base64url');
    const asked = () => Promise.reject(new Error('asked'));
    expect(await openToken({ active: asked, open: asked }, kind, [changed, ...others].join('.'))).toEqual(
      err('malformed'),
    );
  });

  it('is refused, whatever text stands in its place, without an exception', async () => {
    const token = await sealToken(keys, kind, {});
    const parts = fc.constantFrom(...token.split('.'), '', 'e30', 'bnVsbA', '=');
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(parts, { maxLength: 7 }).map((some) => some.join('.')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (other) => {
        fc.pre(other !== token);
        expect(await openToken(keys, kind, other)).toEqual(refused);
      }),
    );
  });

  it('is refused with any one character changed, left out or added, and is never the same twice [RP-212, RP-303]', async () => {
    const token = await sealToken(keys, kind, { canary: 'canary-7731' });
    expect(await sealToken(keys, kind, { canary: 'canary-7731' })).not.toBe(token);
    const char = fc.constantFrom(
      ...Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ %\u0000\u00e4'),
    );
    const at = fc.nat({ max: token.length - 1 });
    const change = fc.oneof(
      // The tag: 16 bytes leave four unused bits in its last character, which are not forgiven.
      char.map((put) => token.slice(0, -1) + put),
      fc.tuple(at, char).map(([index, put]) => token.slice(0, index) + put + token.slice(index + 1)),
      fc.tuple(at, char).map(([index, put]) => token.slice(0, index) + put + token.slice(index)),
      at.map((index) => token.slice(0, index) + token.slice(index + 1)),
      at.map((length) => token.slice(0, length)),
    );
    await fc.assert(
      fc.asyncProperty(change, async (changed) => {
        fc.pre(changed !== token);
        expect(await openToken(keys, kind, changed)).toEqual(refused);
      }),
      { numRuns: 400 },
    );
  });

  it('needs its key ring: one that cannot be reached is a defect, not a refusal', async () => {
    const broken: KeyRing = {
      active: () => Promise.reject(new Error('settings are down')),
      open: () => Promise.reject(new Error('settings are down')),
    };
    const token = await sealToken(keys, kind, {});
    await expect(sealToken(broken, kind, {})).rejects.toThrow('settings are down');
    await expect(openToken(broken, kind, token)).rejects.toThrow('settings are down');
  });
});
