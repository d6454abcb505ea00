import { CompactEncrypt, compactDecrypt } from 'jose';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { anyPrincipal, principalWith } from '#test/support/principal.ts';
import { openListCursor } from './cursor.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import type { Principal } from '#shared/http/operation.ts';
import type { Result } from '#shared/kernel/result.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-01T08:00:00Z');
// Every token, changed or under another key: shared/tokens/sealed-token.property.test.ts.

const keys = createMemoryKeyRing();
const refused = { ok: false, error: { status: 400, invalidParams: [{ name: '/query/cursor' }] } };

/** What a cursor is bound to. */
interface Use {
  readonly list: typeof listCandidateReports | typeof listRevisionOrders;
  readonly keyset: readonly ('modifiedAt' | 'attemptId')[];
  readonly principal: Principal;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number | undefined>>;
}
const use: Use = {
  list: listCandidateReports,
  keyset: ['modifiedAt', 'attemptId'],
  principal: principalWith({ studentIds: ['student-1'], scopes: ['reports:read'] }),
  path: { candidateSourcedId: 'student-1' },
  query: { testKind: 'mastery_gate', sort: '-modifiedAt', limit: 25 },
};
const position = { modifiedAt: '2026-02-28T23:59:59.999999999Z', attemptId: 'attempt/ä 1' };

const place = ({ list, keyset, ...request }: Use, receivedAt: number, cursor?: string) =>
  openListCursor(keys, list, keyset, { ...request, query: { ...request.query, cursor }, receivedAt });

/** The cursor of the page behind a position, as a request at this time is given it. */
async function seal(own: Use, there: typeof position, receivedAt = NOW): Promise<string> {
  const first = await place(own, receivedAt);
  if (!first.ok) throw new Error('a request without a cursor is refused');
  return (await first.value.seal(there))!;
}
/** The position that a cursor opens to. */
async function open(cursor: string, own = use, now = NOW): Promise<Result<unknown, unknown>> {
  const opened = await place(own, now, cursor);
  return opened.ok ? { ok: true, value: opened.value.after } : opened;
}

describe('a cursor', () => {
  it('opens to the very position that was sealed, for every caller and request', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 255 }).filter((value) => value.isWellFormed());
    const query = fc.dictionary(text, fc.oneof(text, fc.integer()));
    await fc.assert(
      fc.asyncProperty(
        anyPrincipal,
        query,
        fc.record({ modifiedAt: text, attemptId: text }),
        async (principal, query, there) => {
          const own = { ...use, principal, query };
          expect(await open(await seal(own, there), own)).toEqual({ ok: true, value: there });
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
      const own = { ...use, principal: longest, path: { candidateSourcedId: attemptId } };
      const cursor = await seal(own, there);
      expect(cursor).toMatch(/^[\w.-]{1,2048}$/);
      expect(await open(cursor, own)).toEqual({ ok: true, value: there });
    }
  });

  it('that could not be sent back is a defect, and is so from 2,049 characters on, as is a position that is no text [RP-134]', async () => {
    const lengths: number[] = [];
    for (let length = 900; lengths.length === length - 900; length += 1) {
      const there = { ...position, attemptId: 'a'.repeat(length) };
      await seal(use, there).then(
        (cursor) => lengths.push(cursor.length),
        (error: unknown) => expect(error).toBeInstanceOf(RangeError),
      );
    }
    expect(lengths.at(-1)).toBe(2_048);
    await expect(seal(use, { ...position, attemptId: '\ud800' })).rejects.toThrow(TypeError);
  });

  it('opens for one hour after its issue and not at that instant [RP-303]', async () => {
    const cursor = await seal(use, position);
    expect(await open(cursor, use, NOW + HOUR - 1)).toEqual({ ok: true, value: position });
    for (const late of [NOW + HOUR, NOW + HOUR + 1, NOW + 48 * HOUR])
      expect(await open(cursor, use, late)).toMatchObject(refused);
  });

  const other = (change: Partial<Use>): Use => ({ ...use, ...change });
  const asking = (change: Use['query']): Use => other({ query: { ...use.query, ...change } });
  const caller = (change: Parameters<typeof principalWith>[0]): Use =>
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
    ['another candidate', other({ path: { candidateSourcedId: 'Student-1' } })],
    ['another filter value', asking({ testKind: 'formative' })],
    ['a filter more', asking({ status: 'scored' })],
    ['a filter less', asking({ testKind: undefined })],
    ['another sort', asking({ sort: 'modifiedAt' })],
    ['another limit', asking({ limit: 24 })],
    ['another list', other({ list: listRevisionOrders })],
    ['another sort key', other({ keyset: ['attemptId', 'modifiedAt'] })],
  ])('is refused with %s [RP-135, RP-303]', async (_, use) => {
    expect(await open(await seal(other({}), position), use)).toMatchObject(refused);
    expect(await open(await seal(use, position), other({}))).toMatchObject(refused);
  });

  it('works with the same request, however its members and claims are ordered [RP-303]', async () => {
    const cursor = await seal(use, position);
    const { principal } = use;
    const reordered = {
      ...use,
      principal: { ...principal, studentIds: [...principal.studentIds, ...principal.studentIds] },
      query: { limit: 25, sort: '-modifiedAt', testKind: 'mastery_gate', status: undefined },
    };
    expect(await open(cursor, reordered)).toEqual({ ok: true, value: position });
  });

  it.each(['a'.repeat(2_049), JSON.stringify(position)])('is not %s [RP-134, RP-303]', async (cursor) => {
    expect(await open(cursor)).toMatchObject(refused);
  });

  it('is not a token of another kind, nor one with another content [RP-303]', async () => {
    const { kid, key } = await keys.active('cursor');
    const { plaintext } = await compactDecrypt(await seal(use, position), key);
    const content = JSON.parse(Buffer.from(plaintext).toString()) as object;
    const sealAs = (typ: string, change = {}): Promise<string> =>
      new CompactEncrypt(Buffer.from(JSON.stringify({ ...content, ...change })))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid, typ })
        .encrypt(key);
    expect(await open(await sealAs('reports-cursor+jwe'))).toEqual({ ok: true, value: position });
    expect(await open(await sealAs('mastery-continuation+jwe'))).toMatchObject(refused);
    for (const change of [{ position: 'x' }, { boundTo: undefined }, { more: 1 }])
      expect(await open(await sealAs('reports-cursor+jwe', change))).toMatchObject(refused);
  });
});
