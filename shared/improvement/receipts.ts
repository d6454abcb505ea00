import type { BundleRef } from './records.ts';

/** An immutable receipt bundle: named by the SHA-256 of its own bytes. */
export interface Bundle extends BundleRef {
  readonly bytes: Uint8Array;
}

/** The bucket of receipts. A tenant's bundles are found only by its own id, even if another tenant has the same bytes. */
export interface ReceiptStore {
  /** Writes a bundle, once: writing the same bytes again changes nothing. */
  put(tenantId: string, bundle: Bundle): Promise<void>;
  /** Returns the bytes, or undefined if the tenant has no such bundle. */
  get(tenantId: string, sha256: string): Promise<Uint8Array | undefined>;
}
