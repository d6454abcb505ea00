import type { SourceReader } from '#functions/reports/sources/reader.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { ImprovementStore, RunRecord } from '#shared/improvement/records.ts';
import type { ReceiptStore } from '#shared/improvement/receipts.ts';
import type { Platform } from '#shared/platform/platform.ts';

/** What one invocation works on one run with. */
export interface Worker {
  readonly run: RunRecord;
  /** The one that the run is pinned to. */
  readonly policy: AnalysisPolicy;
  readonly store: ImprovementStore;
  readonly receipts: ReceiptStore;
  readonly platform: Platform;
  readonly reader: SourceReader;
  /** Epoch milliseconds, never before the run was created: what is recorded of a run is not older than the run. */
  readonly now: () => number;
  /** Whether another step may begin: there is time for it, and what the worker waits for is released still. */
  readonly shouldContinue: () => Promise<boolean>;
  /** What this worker has recorded so far. */
  readonly tally: Tally;
}

/** How many of each a worker has recorded: what it has done, and whether it has got on. */
export interface Tally {
  evaluated: number;
  opened: number;
  delivered: number;
  /** Orders whose receiver was missing, counted each time. */
  blocked: number;
  /** Those of them that had not been blocked before. */
  newlyBlocked: number;
}

export function emptyTally(): Tally {
  return { evaluated: 0, opened: 0, delivered: 0, blocked: 0, newlyBlocked: 0 };
}

/** Whether anything is recorded that was not before: a run that is handed on without it would be handed on for ever. */
export function hasProgress({ evaluated, opened, delivered, newlyBlocked }: Tally): boolean {
  return evaluated + opened + delivered + newlyBlocked > 0;
}
