import { MasteryReportsError, waitForImprovementRun } from '#client/index.ts';
import type {
  AlignmentReport,
  ImprovementRun,
  ReportsClient,
  RevisionOrder,
  WaitForImprovementRunOptions,
} from '#client/index.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { renderImprovement, renderProgress } from './improvement-view.ts';
import type { LineSpace } from '#tools/terminal/line.ts';

interface ImproveOptions extends Pick<WaitForImprovementRunOptions, 'sleep'> {
  readonly reports: Pick<
    ReportsClient,
    'analyzeAdministration' | 'readImprovementRun' | 'readAlignmentReport' | 'iterateRevisionOrders'
  >;
  readonly administrationId: string;
  readonly space: LineSpace;
  /** Draws over the line before. */
  readonly draw: (line: string) => void;
  /** Adds lines that stay. */
  readonly write: (lines: readonly string[]) => void;
}

const PAGE_ROWS = 100;

/**
 * Has an administration analyzed, shows the progress of the run until it ends, and then its results.
 * @returns a message for the person when the run does not come to its end
 */
export async function improve(options: ImproveOptions): Promise<Result<ImprovementRun, string>> {
  try {
    return await improved(options);
  } catch (error) {
    if (error instanceof MasteryReportsError) return err(error.message);
    throw error;
  }
}

async function improved(options: ImproveOptions): Promise<Result<ImprovementRun, string>> {
  const { reports, administrationId, space, sleep, draw, write } = options;
  const { improvementRunId } = (await reports.analyzeAdministration({ administrationId })).data;
  const { data: run } = await waitForImprovementRun(reports, improvementRunId, {
    sleep,
    onProgress: (progress) => draw(renderProgress(progress, space)),
  });

  const alignments: AlignmentReport[] = [];
  for (const sourceKey of run.sourceKeys) {
    try {
      alignments.push((await reports.readAlignmentReport({ improvementRunId, sourceKey })).data);
    } catch (error) {
      // A run that has not ended has not made all of them.
      if (isComplete(run) || !(error instanceof MasteryReportsError)) throw error;
    }
  }
  const orders: RevisionOrder[] = [];
  for await (const order of reports.iterateRevisionOrders({ improvementRunId, limit: PAGE_ROWS }))
    orders.push(order);
  write(renderImprovement(run, alignments, orders, space));
  return isComplete(run) ? ok(run) : err(whyNot(run));
}

function isComplete({ status }: ImprovementRun): boolean {
  return status === 'completed' || status === 'completed_with_omissions';
}

function whyNot({ status, blockedOrderCount, improvementRunId }: ImprovementRun): string {
  return status === 'blocked_upstream'
    ? `the run waits for a receiver: ${blockedOrderCount} orders are not delivered yet. It continues when the receiver is available`
    : `the run is ${status}: search the function log for ${improvementRunId}`;
}
