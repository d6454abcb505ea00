import type { BundleRef } from './records.ts';

/** An immutable receipt bundle: named by the SHA-256 of its own bytes. */
export interface Bundle extends BundleRef {
  readonly bytes: Uint8Array;
}

/** The bucket of receipts. A tenant's bundles are found by its own id only, whoever else holds the same bytes. */
export interface ReceiptStore {
  /** Writes a bundle, once: the same bytes again change nothing. */
  put(tenantId: string, bundle: Bundle): Promise<void>;
  /** The bytes, or undefined when the tenant has no such bundle. */
  get(tenantId: string, sha256: string): Promise<Uint8Array | undefined>;
}
