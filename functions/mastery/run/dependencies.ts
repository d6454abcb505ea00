import type { PoolCache } from '#functions/mastery/pool/read-pool.ts';
import type { RunRecords } from '#functions/mastery/records/load.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { PlatformDependencies } from '#shared/platform/open-platform.ts';
import type { IsolationWatch } from '#shared/release/release-state.ts';

/** All that whatever reads a pool may touch. */
export interface PoolDependencies extends PlatformDependencies {
  /** What receipts say of the stage. */
  readonly isolationProof: IsolationWatch;
  readonly records: RunRecords;
  readonly pools: PoolCache;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** All that start, inspect and advance may touch. */
export interface RunDependencies extends PoolDependencies {
  readonly keys: KeyRing;
}
