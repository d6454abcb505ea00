import type { ReceiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import { canonicalJson, hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';

/** Gives a bundle its digest, its one form in bytes (RFC 8785, UTF-8), and the address that these make [RP-211]. */
export function sealBundle<Receipt extends ReceiptBundle>(content: Omit<Receipt, 'digest'>): Bundle {
  const bytes = new TextEncoder().encode(canonicalJson({ ...content, digest: hashCanonical(content) }));
  return { bytes, sha256: sha256Hex(bytes), mediaType: 'application/json' };
}
