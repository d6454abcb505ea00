import type { AlignmentReport } from '#shared/contract/reports/alignment-report.ts';
import type { ImprovementRun } from '#shared/contract/reports/improvement-run.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { describeCallFailure } from '#client/calls.ts';
import type { ImprovementClient } from '#client/improvement-client.ts';
import { renderImprovement, renderProgress } from './improvement-view.ts';
import type { LineSpace } from '#tools/terminal/line.ts';

interface ImproveOptions {
  readonly client: ImprovementClient;
  readonly space: LineSpace;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Draws over the line before. */
  readonly draw: (line: string) => void;
  /** Adds lines that stay. */
  readonly write: (lines: readonly string[]) => void;
}

const POLL_MILLISECONDS = 250;
/** Ten minutes: longer than a worker takes for the largest run. */
const MOST_POLLS = 2_400;

/**
 * Has an administration analyzed, shows how the run goes on until it stands, and then what it has found.
 * @returns what to tell the person when the run does not come to its end
 */
export async function improve({
  client,
  space,
  sleep,
  draw,
  write,
}: ImproveOptions): Promise<Result<ImprovementRun, string>> {
  let answer = await client.analyze();
  if (!answer.ok) return err(`cannot analyze the administration: ${describeCallFailure(answer.error)}`);
  for (let polls = 0; answer.ok && isUnderWay(answer.value) && polls < MOST_POLLS; polls += 1) {
    draw(renderProgress(answer.value, space));
    await sleep(POLL_MILLISECONDS);
    answer = await client.readRun(answer.value.improvementRunId);
  }
  if (!answer.ok) return err(`cannot read the run: ${describeCallFailure(answer.error)}`);
  const run = answer.value;

  const alignments: AlignmentReport[] = [];
  for (const key of run.sourceKeys) {
    const alignment = await client.readAlignment(run.improvementRunId, key);
    if (alignment.ok) alignments.push(alignment.value);
    else if (isComplete(run))
      return err(`cannot read the alignment of ${key}: ${describeCallFailure(alignment.error)}`);
  }
  const orders = await client.listOrders(run.improvementRunId);
  if (!orders.ok) return err(`cannot read the orders: ${describeCallFailure(orders.error)}`);
  write(renderImprovement(run, alignments, orders.value, space));
  return isComplete(run) ? ok(run) : err(whyNot(run));
}

function isUnderWay({ status }: ImprovementRun): boolean {
  return status === 'queued' || status === 'analyzing';
}

function isComplete({ status }: ImprovementRun): boolean {
  return status === 'completed' || status === 'completed_with_omissions';
}

function whyNot({ status, blockedOrderCount, improvementRunId }: ImprovementRun): string {
  switch (status) {
    case 'blocked_upstream':
      return `the run waits for a receiver: ${blockedOrderCount} orders are not delivered yet. It continues when the receiver is available`;
    case 'failed':
      return `the run failed: search the function log for ${improvementRunId}`;
    default:
      return `the run is still ${status}: read run ${improvementRunId} again later`;
  }
}
