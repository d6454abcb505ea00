import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { PlatformDependencies } from '#shared/platform/open-platform.ts';
import type { RecordStore } from '#shared/records/store.ts';
import type { IsolationWatch } from '#shared/release/release-state.ts';

/** All that whatever reads a pool may touch. */
export interface PoolDependencies extends PlatformDependencies {
  /** What receipts say of the stage. */
  readonly isolationProof: IsolationWatch;
  readonly store: RecordStore;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** All that start, inspect and advance may touch. */
export interface RunDependencies extends PoolDependencies {
  readonly keys: KeyRing;
}
