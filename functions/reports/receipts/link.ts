import * as z from 'zod';
import { receiptLink, type ReceiptLink } from '#shared/contract/reports/receipt-link.ts';
import type { BundleRef } from '#shared/improvement/records.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { openToken, sealToken, type TokenKind } from '#shared/tokens/sealed-token.ts';

/** How long a link is valid after its issue (the reading of RP-214). */
export const LIFETIME_SECONDS = 5 * 60;

const KIND: TokenKind = { purpose: 'receipt-link', typ: 'reports-receipt+jwe' };

const sealed = z.strictObject({
  tenantId: z.string(),
  sha256: receiptLink.shape.sha256,
  mediaType: receiptLink.shape.mediaType,
  /** Epoch seconds. */
  expiresAt: z.int(),
});

/** The receipt bundle that a link leads to, of its own tenant. */
export type LinkedReceipt = { readonly tenantId: string } & BundleRef;

/** The parts of a link, as they are in the URL. */
export interface LinkParts {
  /** The last segment of the path. */
  readonly sha256: string;
  /** Epoch seconds, in decimal digits. */
  readonly expires: string;
  readonly signature: string;
}

/**
 * Returns a link to a receipt bundle, `{receipts_url}/<sha256>?expires=<epoch seconds>&signature=<sealed token>`. It is valid until five minutes
 * after the whole second in which it was made. Throws if the key ring is unreachable.
 * @param receiptsUrl without a slash at its end
 * @param now epoch milliseconds
 */
export async function sealReceiptLink(
  keys: KeyRing,
  receiptsUrl: string,
  { tenantId, sha256, mediaType }: LinkedReceipt,
  now: number,
): Promise<ReceiptLink> {
  const expiresAt = Math.floor(now / 1000) + LIFETIME_SECONDS;
  const content = { tenantId, sha256, mediaType, expiresAt } satisfies z.infer<typeof sealed>;
  const signature = await sealToken(keys, KIND, content);
  return {
    mediaType,
    sha256,
    downloadUrl: `${receiptsUrl}/${sha256}?expires=${expiresAt}&signature=${signature}`,
    expiresAt: formatInstant(expiresAt * 1000),
  };
}

/**
 * Returns the bundle that a link was made for; undefined if the service did not make exactly this link, or if it has expired. Throws only if the key
 * ring itself is unreachable.
 * @param now epoch milliseconds
 */
export async function openReceiptLink(
  keys: KeyRing,
  { sha256, expires, signature }: LinkParts,
  now: number,
): Promise<LinkedReceipt | undefined> {
  const opened = await openToken(keys, KIND, signature);
  const content = sealed.safeParse(opened.ok ? opened.value : undefined);
  if (!content.success) return undefined;
  const { expiresAt, ...receipt } = content.data;
  const isThisLink = receipt.sha256 === sha256 && String(expiresAt) === expires;
  return isThisLink && now < expiresAt * 1000 ? receipt : undefined;
}
