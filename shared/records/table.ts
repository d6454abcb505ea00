import type { RecordKey } from './record-key.ts';

/** When a record was deprecated and when it will be withdrawn: RFC 3339 UTC instants. The only thing of a record that may change. */
export interface Lifecycle {
  readonly deprecatedAt?: string;
  readonly sunsetAt?: string;
}

/** Where the server-only parameters of a record lie: SHA-256 hex of their canonical JSON text, and how many parts hold it. */
export interface ParametersReference {
  readonly hash: string;
  readonly parts: number;
}

/** A stored record without its parameters. `document` is the canonical JSON text of the public document. */
export interface StoredRecord {
  readonly document: string;
  readonly parameters?: ParametersReference;
  readonly lifecycle: Lifecycle;
}

/** What the release command writes. Texts are canonical JSON. */
export interface NewRecord {
  readonly document: string;
  readonly parameters?: { readonly hash: string; readonly text: string };
}

/** The table `records`: documents are written once and never changed. */
export interface RecordsTable {
  /** A strongly consistent read; parameters are not touched. */
  read(key: RecordKey): Promise<StoredRecord | undefined>;
  /** The parameters' text, or undefined when a part is missing or cannot be unpacked. Whoever calls verifies the hash. */
  readParameters(key: RecordKey, reference: ParametersReference): Promise<string | undefined>;
  /** Writes parts first and the document last, only if no document of that key exists: half a record is never visible. */
  writeOnce(key: RecordKey, record: NewRecord): Promise<'written' | 'exists'>;
  /** Sets or moves the deprecation of an existing record. */
  setLifecycle(key: RecordKey, lifecycle: Lifecycle): Promise<void>;
}
