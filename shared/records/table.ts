import type { RecordKey } from './record-key.ts';

/** The only part of a record that may change. Instants are RFC 3339 UTC. */
export interface Lifecycle {
  readonly deprecatedAt?: string;
  readonly sunsetAt?: string;
  /** When an operator blocked the record, because it turned out to be wrong. */
  readonly blockedAt?: string;
  /** Why, for operators only. */
  readonly blockedBecause?: string;
}

/** New values of a lifecycle; null takes one away, and what is not named stays. */
export type LifecycleChange = { readonly [Name in keyof Lifecycle]?: string | null };

/** The place of a record's server-only parameters: SHA-256 hex of their canonical JSON text, and the number of parts. */
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

/** The input of the release command. Texts are canonical JSON. */
export interface NewRecord {
  readonly document: string;
  readonly parameters?: { readonly hash: string; readonly text: string };
}

/** The table `records`: documents are written once and never changed. */
export interface RecordsTable {
  /** Makes a strongly consistent read, without the parameters. */
  read(key: RecordKey): Promise<StoredRecord | undefined>;
  /** Makes a strongly consistent read of the lifecycle of a record that exists. */
  readLifecycle(key: RecordKey): Promise<Lifecycle>;
  /** Returns the parameters' text, or undefined if a part is missing or cannot be unpacked. The caller verifies the hash. */
  readParameters(key: RecordKey, reference: ParametersReference): Promise<string | undefined>;
  /** Writes parts first and the document last, only if no document of that key exists: half a record is never visible. */
  writeOnce(key: RecordKey, record: NewRecord): Promise<'written' | 'exists'>;
  /** Changes the lifecycle of an existing record. */
  changeLifecycle(key: RecordKey, change: LifecycleChange): Promise<void>;
}
