import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { attempt } from '#functions/reports/background/invocation.ts';
import { workRun, type RunDependencies } from '#functions/reports/improvement/work-run.ts';
import { analyzeRun } from '#shared/contract/background.ts';
import { once } from '#shared/http/once.ts';
import { releaseFor } from '#shared/http/stages/release-state.ts';
import { parseRunMessage } from '#shared/improvement/run-message.ts';
import { createFunctionLog, type LogPorts } from '#shared/observability/logger.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';

/** A function that an SQS queue calls; messages that it does not list as failures are done. */
export type MessageFunction = (
  event: SQSEvent,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
) => Promise<SQSBatchResponse>;

/**
 * Works on the runs that messages name. A message fails, and the queue redelivers it until it is a dead letter, if an owner does not respond or
 * nothing could be done in time. A malformed message always fails; a message for a run that does not exist is done. A defect ends the invocation with
 * an error, which Lambda counts: the queue delivers one message at a time. While a gate is withdrawn, every message fails unread and returns to its
 * queue. The sweeper sends a new message for a run whose message has become a dead letter by then. A run that is being worked on stops before its
 * next step.
 * @param bind the dependencies; called once per binding
 * @param watch the release; called once per binding
 */
export function createMessageFunction(
  bind: () => RunDependencies,
  runtime: LogPorts,
  watch: () => ReleaseWatch,
): MessageFunction {
  const bound = once(bind);
  const release = once(watch);
  const openLog = createFunctionLog(analyzeRun, runtime);
  return async ({ Records: records }, context) => {
    const { now } = runtime;
    const log = openLog(context);
    const isReleased = async (): Promise<boolean> =>
      (await releaseFor(analyzeRun, await release(), log)) !== undefined;
    if (!(await attempt(log, isReleased)))
      return { batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    const failed: string[] = [];
    for (const { messageId, body, attributes } of records) {
      const received = Number(attributes.ApproximateReceiveCount);
      const key = parseRunMessage(body);
      if (key === undefined) {
        log('MESSAGE_REFUSED', { received });
        failed.push(messageId);
        continue;
      }
      const working = async (): Promise<boolean> => {
        const receivedAt = now();
        const endsAt = receivedAt + context.getRemainingTimeInMillis();
        return workRun(await bound(), key, { received, receivedAt, endsAt, isReleased, log });
      };
      const { improvementRunId } = key;
      if (!(await attempt(log, working, { improvementRunId }))) failed.push(messageId);
    }
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}
