import type { RunKey } from './records.ts';

/** The queue of improvement runs. A message names a run and nothing else; it may arrive twice, late and out of order. */
export interface RunQueue {
  send(run: RunKey): Promise<void>;
}
