import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { receiptLink } from '#shared/contract/reports/receipt-link.ts';
import type { KeyPurpose } from '#shared/keys/key-ring.ts';
import { sealToken } from '#shared/tokens/sealed-token.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { openReceiptLink, sealReceiptLink, type LinkedReceipt, type LinkParts } from './link.ts';

const NOW = Date.parse('2026-03-01T08:00:00.750Z');
const EXPIRES = Date.parse('2026-03-01T08:05:00Z');
const RECEIPTS_URL = 'https://receipts.example/deep/below';
const keys = createMemoryKeyRing();
const receipt: LinkedReceipt = {
  tenantId: 'tenant-a',
  sha256: '0123456789abcdef'.repeat(4),
  mediaType: 'application/json',
};
const kind = { purpose: 'receipt-link', typ: 'reports-receipt+jwe' } as const;

const digest = fc.stringMatching(/^[0-9a-f]{64}$/);
const anyReceipt = fc.record({
  tenantId: fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }).filter((id) => id.isWellFormed()),
  sha256: digest,
  mediaType: fc.constantFrom('application/json', 'application/zip'),
});
const anyInstant = fc.integer({ min: 0, max: Date.parse('9999-01-01T00:00:00Z') });

/** What stands in a link's URL, by the form that it is documented to have. */
function partsOf(downloadUrl: string): LinkParts {
  const form =
    /^https:\/\/receipts\.example\/deep\/below\/([0-9a-f]{64})\?expires=(\d+)&signature=([\w.-]+)$/;
  const [, sha256 = '', expires = '', signature = ''] = form.exec(downloadUrl) ?? [];
  return { sha256, expires, signature };
}

async function seal(of: LinkedReceipt = receipt, now = NOW): Promise<LinkParts> {
  return partsOf((await sealReceiptLink(keys, RECEIPTS_URL, of, now)).downloadUrl);
}

/** A token as another maker would seal it. */
function sealedAs(
  content: object,
  typ: string = kind.typ,
  purpose: KeyPurpose = kind.purpose,
): Promise<string> {
  return sealToken(keys, { purpose, typ }, content);
}

describe('a receipt link', () => {
  it('opens to the very receipt that it was made for, for every tenant, bundle and time [RP-212]', async () => {
    await fc.assert(
      fc.asyncProperty(anyReceipt, anyInstant, async (of, now) => {
        expect(await openReceiptLink(keys, await seal(of, now), now)).toEqual(of);
      }),
    );
  });

  it('is an https address at the receipts URL that fits the contract, and shows path, expiry and signature only [RP-212]', async () => {
    const tenantId = 'canary-7731';
    const link = await sealReceiptLink(keys, RECEIPTS_URL, { ...receipt, tenantId }, NOW);
    expect(receiptLink.parse(link)).toEqual(link);
    expect(link).toMatchObject({ mediaType: 'application/json', sha256: receipt.sha256 });
    const parts = partsOf(link.downloadUrl);
    expect(parts).toMatchObject({ sha256: receipt.sha256, expires: String(EXPIRES / 1000) });
    const readable = parts.signature
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    expect(JSON.parse(readable[0]!)).toEqual({
      alg: 'dir',
      enc: 'A256GCM',
      kid: 'receipt-link-1',
      typ: kind.typ,
    });
    for (const secret of [tenantId, receipt.sha256, 'application/json'])
      expect(readable.join('|')).not.toContain(secret);
  });

  it('expires five minutes after the second of its issue, and says so in both places [RP-213, RP-214]', async () => {
    await fc.assert(
      fc.asyncProperty(anyInstant, async (now) => {
        const { expiresAt, downloadUrl } = await sealReceiptLink(keys, RECEIPTS_URL, receipt, now);
        const parts = partsOf(downloadUrl);
        const at = Number(parts.expires) * 1000;
        expect(at).toBe(now - (now % 1000) + 300_000);
        expect(Date.parse(expiresAt)).toBe(at);
        expect(await openReceiptLink(keys, parts, at - 1)).toEqual(receipt);
        for (const late of [at, at + 1, at + 86_400_000])
          expect(await openReceiptLink(keys, parts, late)).toBeUndefined();
      }),
    );
  });

  it('opens under no other path and with no other expiry than it was made with [RP-212, RP-213]', async () => {
    const parts = await seal();
    const other = fc.oneof(
      digest.map((sha256) => ({ sha256 })),
      fc.string().map((sha256) => ({ sha256 })),
      fc
        .constantFrom(receipt.sha256.toUpperCase(), `${receipt.sha256} `, `${receipt.sha256}\n`, '')
        .map((sha256) => ({ sha256 })),
      fc.integer().map((expires) => ({ expires: String(expires) })),
      fc.string().map((expires) => ({ expires })),
      fc
        .constantFrom(
          `${parts.expires}.0`,
          `0${parts.expires}`,
          `+${parts.expires}`,
          ` ${parts.expires}`,
          `${Number(parts.expires) / 10}e1`,
        )
        .map((expires) => ({ expires })),
    );
    await fc.assert(
      fc.asyncProperty(other, async (change) => {
        const changed = { ...parts, ...change };
        fc.pre(changed.sha256 !== parts.sha256 || changed.expires !== parts.expires);
        expect(await openReceiptLink(keys, changed, NOW)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it('leads to its own tenant’s bundle only: the signature of another one opens to that other one or to nothing [RP-212]', async () => {
    await fc.assert(
      fc.asyncProperty(anyReceipt, anyReceipt, async (one, other) => {
        const [link, foreign] = [await seal(one), await seal(other)];
        const mixed = await openReceiptLink(keys, { ...link, signature: foreign.signature }, NOW);
        expect(mixed).toEqual(one.sha256 === other.sha256 ? other : undefined);
        const sameBundle = await seal({ ...one, tenantId: other.tenantId });
        expect(await openReceiptLink(keys, sameBundle, NOW)).toEqual({ ...one, tenantId: other.tenantId });
      }),
    );
  });

  it('is none that another kind of token, another purpose’s key or an unknown key has sealed [RP-212]', async () => {
    const parts = await seal();
    const content = { ...receipt, expiresAt: Number(parts.expires) };
    // What the others are told apart from.
    expect(await openReceiptLink(keys, { ...parts, signature: await sealedAs(content) }, NOW)).toEqual(
      receipt,
    );
    const others = [
      await sealedAs(content, 'reports-cursor+jwe'),
      await sealedAs(content, 'reports-cursor+jwe', 'cursor'),
      await sealedAs(content, kind.typ, 'cursor'),
      await sealedAs(content, kind.typ, 'continuation'),
    ];
    for (const signature of others)
      expect(await openReceiptLink(keys, { ...parts, signature }, NOW)).toBeUndefined();
  });

  it.each([
    ['no tenant', { tenantId: undefined }],
    ['a tenant that is no text', { tenantId: 7 }],
    ['another media type', { mediaType: 'text/html' }],
    ['a digest that is none', { sha256: 'x' }],
    ['an expiry of fractions', { expiresAt: EXPIRES / 1000 + 0.5 }],
    ['a member more', { also: 1 }],
  ])('is none that holds %s, whoever sealed it', async (_, change) => {
    const content = { ...receipt, expiresAt: EXPIRES / 1000, ...change };
    const signature = await sealedAs(content);
    const parts = { sha256: content.sha256, expires: String(content.expiresAt), signature };
    expect(await openReceiptLink(keys, parts, NOW)).toBeUndefined();
  });
});
