import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { PlatformDependencies } from '#shared/platform/open-platform.ts';
import type { RecordStore } from '#shared/records/store.ts';
import type { IsolationWatch } from '#shared/release/release-state.ts';

/** The dependencies of every operation that reads a pool. */
export interface PoolDependencies extends PlatformDependencies {
  /** Whether the stage's isolation is proved. */
  readonly isolationProof: IsolationWatch;
  readonly store: RecordStore;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The dependencies of start, inspect and advance. */
export interface RunDependencies extends PoolDependencies {
  readonly keys: KeyRing;
}
