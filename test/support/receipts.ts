import { expect } from 'vitest';
import type { ReceiptBundle, SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import type { ReceiptLink } from '#shared/contract/reports/receipt-link.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { checkEvidence, namedDigests, type Evidence } from '#ops/receipts/check-evidence.ts';
import { checkReceipt } from '#ops/receipts/check-receipt.ts';

/** A bundle as its link gives it, with the digest that the link names. */
export interface FetchedReceipt {
  readonly bytes: Uint8Array;
  readonly receipt: ReceiptBundle;
}

/** Fetches the bundle of a link and holds it to everything that it proves by itself. */
export async function fetchReceipt({ downloadUrl, sha256, mediaType }: ReceiptLink): Promise<FetchedReceipt> {
  const response = await fetch(downloadUrl);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, mediaType]);
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(sha256Hex(bytes)).toBe(sha256);
  const checked = checkReceipt({ name: `${sha256}.json`, bytes });
  if (!checked.ok) throw new Error(checked.error);
  const { receipt, checks } = checked.value;
  expect(checks.filter(({ failures }) => failures.length > 0)).toEqual([]);
  if (receipt === undefined) throw new Error('a bundle whose shape holds can be read');
  return { bytes, receipt };
}

/** The bundle behind the link of an alignment. */
export async function sourceReceiptOf(link: ReceiptLink): Promise<SourceReceipt> {
  const { receipt } = await fetchReceipt(link);
  if (receipt.object !== 'source_receipt') throw new Error('the receipt of an alignment is one of a source');
  return receipt;
}

/** Holds a bundle to the artifacts that it names: all of them have to be among the evidence, and to prove it. */
export function expectProven(receipt: ReceiptBundle, files: readonly Uint8Array[]): void {
  const named = namedDigests(receipt);
  const evidence: Evidence = new Map(
    files.map((bytes) => [sha256Hex(bytes), bytes] as const).filter(([sha256]) => named.has(sha256)),
  );
  const checks = checkEvidence(receipt, evidence);
  expect(checks.filter(({ failures, skipped }) => failures.length > 0 || skipped !== undefined)).toEqual([]);
}
