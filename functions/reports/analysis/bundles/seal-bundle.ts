import type { ReceiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import { canonicalJson, hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';

/** Gives a bundle its digest, its one form in bytes (RFC 8785, UTF-8), and the address that these make [RP-211]. */
export function sealBundle<Receipt extends ReceiptBundle>(content: Omit<Receipt, 'digest'>): Bundle {
  const bytes = new TextEncoder().encode(canonicalJson({ ...content, digest: hashCanonical(content) }));
  return { bytes, sha256: sha256Hex(bytes), mediaType: 'application/json' };
}

/**
 * No receipt bundle is larger, nor are the decisions on one evidence: what a worker holds of four metrics and a source stays below a third of
 * a gigabyte, and the text of a bundle far below the longest string that there is (512 MB).
 */
const MAX_BUNDLE_BYTES = 64 * 1024 * 1024;

/** Whether the JSON text of plain data takes no more bytes of UTF-8 than these. The text is not made, and the count ends where it fails. */
export function fitsBundle(value: unknown, bytes = MAX_BUNDLE_BYTES): boolean {
  let left = bytes;
  // What is still to be counted.
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left >= 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) {
      left -= Buffer.byteLength(JSON.stringify(next));
      continue;
    }
    const isList = Array.isArray(next);
    const members: readonly unknown[] = isList ? next : Object.values(next);
    // Brackets, commas; names and colons.
    left -= 2 + Math.max(0, members.length - 1);
    if (!isList) for (const name of Object.keys(next)) left -= Buffer.byteLength(JSON.stringify(name)) + 1;
    for (const member of members) waiting.push(member);
  }
  return left >= 0;
}
