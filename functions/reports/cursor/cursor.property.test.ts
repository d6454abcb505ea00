import { CompactEncrypt, compactDecrypt } from 'jose';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { anyPrincipal, principalWith } from '#test/support/principal.ts';
import { openCursor, sealCursor } from './cursor.ts';
import type { CursorUse } from './cursor.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-01T08:00:00Z');
// Every token, changed or under another key: shared/tokens/sealed-token.property.test.ts.

const keys = createMemoryKeyRing();
const refused = { ok: false, error: 'refused' };

type Name = 'modifiedAt' | 'attemptId';
const candidate = { candidateSourcedId: 'student-1' };
const binding = { ...candidate, testKind: 'mastery_gate', sort: '-modifiedAt', limit: 25 };
const use: CursorUse<Name> = {
  list: 'listCandidateReports',
  keyset: ['modifiedAt', 'attemptId'],
  principal: principalWith({ studentIds: ['student-1'], scopes: ['reports:read'] }),
  binding,
};
const position = { modifiedAt: '2026-02-28T23:59:59.999999999Z', attemptId: 'attempt/ä 1' };

const open = (cursor: string, other: CursorUse<Name> = use, now = NOW): ReturnType<typeof openCursor> =>
  openCursor(keys, other, cursor, now);

describe('a cursor', () => {
  it('opens to the very position that was sealed, for every caller and request', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 255 }).filter((value) => value.isWellFormed());
    const bindable = fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null), fc.array(text)));
    await fc.assert(
      fc.asyncProperty(
        anyPrincipal,
        bindable,
        fc.record({ modifiedAt: text, attemptId: text }),
        async (principal, bound, there) => {
          const own = { ...use, principal, binding: bound };
          expect(await open(await sealCursor(keys, own, there, NOW), own)).toEqual({
            ok: true,
            value: there,
          });
        },
      ),
    );
  });

  it('is 1 to 2,048 characters, also for ids of 255 bytes that JSON would write in six times as many [RP-134]', async () => {
    const worst = ['\u0001', '"', '\\', '\u00e4', '\u20ac', '\ud83d\ude00', 'a'].map((char) =>
      char.repeat(Math.floor(255 / Buffer.byteLength(char))),
    );
    const longest = principalWith({
      tenantId: '\u0001'.repeat(255),
      studentIds: Array.from({ length: 500 }, (_, at) => `${at}${'\u0001'.repeat(250)}`),
    });
    for (const attemptId of worst) {
      const there = { ...position, attemptId };
      const own = { ...use, principal: longest, binding: { ...binding, candidateSourcedId: attemptId } };
      const cursor = await sealCursor(keys, own, there, NOW);
      expect(cursor).toMatch(/^[\w.-]{1,2048}$/);
      expect(await open(cursor, own)).toEqual({ ok: true, value: there });
    }
  });

  it('that could not be sent back is a defect, and is so from 2,049 characters on, as is a position that is no text [RP-134]', async () => {
    const lengths: number[] = [];
    for (let length = 900; lengths.length === length - 900; length += 1) {
      const there = { ...position, attemptId: 'a'.repeat(length) };
      await sealCursor(keys, use, there, NOW).then(
        (cursor) => lengths.push(cursor.length),
        (error: unknown) => expect(error).toBeInstanceOf(RangeError),
      );
    }
    expect(lengths.at(-1)).toBe(2_048);
    await expect(sealCursor(keys, use, { ...position, attemptId: '\ud800' }, NOW)).rejects.toThrow(TypeError);
  });

  it('opens for one hour after its issue and not at that instant [RP-303]', async () => {
    const cursor = await sealCursor(keys, use, position, NOW);
    expect(await open(cursor, use, NOW + HOUR - 1)).toEqual({ ok: true, value: position });
    for (const late of [NOW + HOUR, NOW + HOUR + 1, NOW + 48 * HOUR])
      expect(await open(cursor, use, late)).toEqual(refused);
  });

  const other = (change: Partial<CursorUse<Name>>): CursorUse<Name> => ({ ...use, ...change });
  const bound = (change: object): CursorUse<Name> => other({ binding: { ...binding, ...change } });
  const caller = (change: Parameters<typeof principalWith>[0]): CursorUse<Name> =>
    other({ principal: { ...use.principal, ...change } });

  it.each([
    ['another tenant', caller({ tenantId: 'tenant-b' })],
    ['another subject', caller({ sub: 'user-2' })],
    ['another role', caller({ role: 'Teacher' })],
    ['more scopes', caller({ scopes: ['reports:read', 'reports:write'] })],
    ['one candidate more in the claims', caller({ studentIds: ['student-1', 'student-2'] })],
    ['a class in the claims', caller({ classSourcedIds: ['class-1'] })],
    ['a school in the claims', caller({ schoolSourcedIds: ['school-1'] })],
    ['an administration in the claims', caller({ administrationIds: ['administration-1'] })],
    ['another candidate', bound({ candidateSourcedId: 'Student-1' })],
    ['another filter value', bound({ testKind: 'formative' })],
    ['a filter more', bound({ status: 'scored' })],
    ['a filter less', bound({ testKind: undefined })],
    ['another sort', bound({ sort: 'modifiedAt' })],
    ['another limit', bound({ limit: 24 })],
    ['another list', other({ list: 'listRevisionOrders' })],
    ['another sort key', other({ keyset: ['attemptId', 'modifiedAt'] })],
  ])('is refused with %s [RP-135, RP-303]', async (_, use) => {
    const cursor = await sealCursor(keys, other({}), position, NOW);
    expect(await open(cursor, use)).toEqual(refused);
    expect(await open(await sealCursor(keys, use, position, NOW), other({}))).toEqual(refused);
  });

  it('works with the same request, however its members and claims are ordered [RP-303]', async () => {
    const cursor = await sealCursor(keys, use, position, NOW);
    const { principal } = use;
    const reordered = {
      ...use,
      principal: { ...principal, studentIds: [...principal.studentIds, ...principal.studentIds] },
      binding: { limit: 25, sort: '-modifiedAt', testKind: 'mastery_gate', ...candidate, status: undefined },
    };
    expect(await open(cursor, reordered)).toEqual({ ok: true, value: position });
  });

  it.each([
    ['2,049 characters', 'a'.repeat(2_049)],
    ['one character', 'x'],
    ['four dots', '....'],
    ['a position in clear', Buffer.from(JSON.stringify(position)).toString('base64url')],
  ])('is not %s [RP-134, RP-303]', async (_, cursor) => {
    expect(await open(cursor)).toEqual(refused);
  });

  it('is not a token of another kind, nor one with another content [RP-303]', async () => {
    const { kid, key } = await keys.active('cursor');
    const { plaintext } = await compactDecrypt(await sealCursor(keys, use, position, NOW), key);
    const content = JSON.parse(Buffer.from(plaintext).toString()) as object;
    const sealAs = (typ: string, change = {}): Promise<string> =>
      new CompactEncrypt(Buffer.from(JSON.stringify({ ...content, ...change })))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid, typ })
        .encrypt(key);
    expect(await open(await sealAs('reports-cursor+jwe'))).toEqual({ ok: true, value: position });
    expect(await open(await sealAs('mastery-continuation+jwe'))).toEqual(refused);
    for (const change of [{ position: 'x' }, { boundTo: undefined }, { more: 1 }])
      expect(await open(await sealAs('reports-cursor+jwe', change))).toEqual(refused);
  });
});
