import type { ReportsClient } from './client.ts';
import { MasteryReportsError } from './errors.ts';
import type { ImprovementRun } from './generated/reports.ts';
import type { Reply, RequestOptions } from './operations.ts';
import { sleep as sleepFor } from './retry.ts';
import type { Sleep } from './retry.ts';

export interface WaitForImprovementRunOptions extends RequestOptions {
  /** Milliseconds after which the wait ends. Default: ten minutes, which is longer than the largest run takes. */
  readonly deadline?: number | undefined;
  /** Called with every state except the last one. */
  readonly onProgress?: ((run: ImprovementRun) => void) | undefined;
  /** Replaces timers, for tests. */
  readonly sleep?: Sleep | undefined;
}

/** An improvement run was still under way at the deadline. It continues: wait for it again. */
export class WaitTimeoutError extends MasteryReportsError {
  override name = 'WaitTimeoutError';
  readonly run: ImprovementRun;
  constructor(run: ImprovementRun, deadline: number) {
    super(
      `the improvement run ${run.improvementRunId} is still ${run.status} after ${Math.round(deadline / 1000)} s. It continues by itself: call waitForImprovementRun again, with a longer deadline if need be.`,
    );
    this.run = run;
  }
}

const DEADLINE_MILLISECONDS = 600_000;
const FIRST_WAIT_MILLISECONDS = 250;
const LONGEST_WAIT_MILLISECONDS = 10_000;

/**
 * Reads an improvement run until it is no longer `queued` or `analyzing`, with growing waits. It also returns a run that is `blocked_upstream`: that
 * run waits for a receiver and may continue days later.
 * @throws {WaitTimeoutError} at the deadline
 * @example
 * const { data: begun } = await reports.analyzeAdministration({ administrationId });
 * const { data: run } = await waitForImprovementRun(reports, begun.improvementRunId, { signal });
 */
export async function waitForImprovementRun(
  reports: Pick<ReportsClient, 'readImprovementRun'>,
  improvementRunId: string,
  options: WaitForImprovementRunOptions = {},
): Promise<Reply<ImprovementRun>> {
  const { deadline = DEADLINE_MILLISECONDS, onProgress, sleep = sleepFor, ...request } = options;
  const end = Date.now() + deadline;
  for (let wait = FIRST_WAIT_MILLISECONDS; ; wait = Math.min(wait * 1.5, LONGEST_WAIT_MILLISECONDS)) {
    const reply = await reports.readImprovementRun({ improvementRunId }, request);
    if (reply.data.status !== 'queued' && reply.data.status !== 'analyzing') return reply;
    onProgress?.(reply.data);
    const left = end - Date.now();
    if (left <= 0) throw new WaitTimeoutError(reply.data, deadline);
    await sleep(Math.min(wait, left), request.signal);
  }
}
