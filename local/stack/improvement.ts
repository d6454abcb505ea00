import { createHash, randomUUID } from 'node:crypto';
import type { SQSEvent } from 'aws-lambda';
import type { QueueAccess, ReceivedMessage } from '#local/aws/queue.ts';
import { localQueueName, localAccount, localRegion } from '#shared/stage/local-stage.ts';
import type { Outcome } from '#local/gateway/environment.ts';
import type { FunctionPool } from '#local/gateway/function-pool.ts';
import { analyzeRun, sweepRuns, type BackgroundFunction } from '#shared/contract/background.ts';

/** The workflow of improvement runs, as AWS drives it and for a test to drive. */
export interface Improvement {
  /** Waits until no message is on the queue; while it is paused, only until no worker is at work. */
  readonly settled: () => Promise<void>;
  /** Runs the sweeper once, as its schedule does. Rejects when it fails. */
  readonly sweep: () => Promise<void>;
  /** No message is taken from the queue any more; a worker that has one continues. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Puts any text on the queue. */
  readonly send: (message: string) => void;
  /** What was received in vain as often as a message may be, the oldest first. */
  readonly deadLetters: () => readonly string[];
}

export interface ImprovementParts {
  readonly queue: QueueAccess;
  readonly pool: Pick<FunctionPool, 'invoke' | 'kill'>;
  /** The background functions that are deployed: of one that is not, nothing is invoked. */
  readonly deployed: readonly BackgroundFunction[];
  /** Absent: the sweeper runs on demand only. */
  readonly sweepEverySeconds?: number | undefined;
}

/** How many messages are worked on at a time: as many as a stage starts with (lib/constructs/triggers.ts). */
const MAX_WORKERS = 2;

/**
 * Does what an event source mapping with one message a batch and a schedule do: hands every message to the worker, deletes it when the worker
 * is through and gives it back at once when it fails, and runs the sweeper by a timer.
 */
export function startImprovement(
  parts: ImprovementParts,
): Improvement & { readonly stop: () => Promise<void> } {
  const { queue, pool, deployed, sweepEverySeconds } = parts;
  const stopping = new AbortController();
  const invoke = (row: BackgroundFunction, event: unknown): Promise<Outcome> =>
    pool.invoke(row.operationId, event, randomUUID(), stopping.signal);

  /** Aborted while no message is to be taken. */
  let taking = new AbortController();
  let resumed = Promise.withResolvers<undefined>();
  const atWork = new Set<Promise<void>>();

  async function takeMessages(): Promise<void> {
    while (!stopping.signal.aborted) {
      const { signal } = taking;
      const message = await queue.receive(signal);
      if (message !== undefined) await track(work(message));
      // The emulator is closed: there will be no other message.
      else if (!signal.aborted) return;
      else if (taking.signal.aborted) await resumed.promise;
    }
  }

  async function work(message: ReceivedMessage): Promise<void> {
    const done = !stopping.signal.aborted && isDone(await invoke(analyzeRun, eventOf(message)));
    if (done) queue.delete(message.receiptHandle);
    else queue.release(message.receiptHandle);
  }

  async function track(working: Promise<void>): Promise<void> {
    atWork.add(working);
    await working.finally(() => atWork.delete(working));
  }

  async function sweep(): Promise<void> {
    const outcome = await invoke(sweepRuns, {});
    if (outcome.kind !== 'answered') throw new Error(`${sweepRuns.operationId} failed: ${outcome.kind}`);
  }

  let sweeping: Promise<void> | undefined;
  const timer =
    sweepEverySeconds === undefined || !deployed.includes(sweepRuns)
      ? undefined
      : setInterval(() => {
          // The function's log has the cause; the next sweep is the repetition.
          sweeping ??= sweep()
            .catch(() => undefined)
            .finally(() => (sweeping = undefined));
        }, sweepEverySeconds * 1000).unref();
  const takers = deployed.includes(analyzeRun) ? Array.from({ length: MAX_WORKERS }, takeMessages) : [];

  function resume(): void {
    if (stopping.signal.aborted || !taking.signal.aborted) return;
    taking = new AbortController();
    resumed.resolve(undefined);
    resumed = Promise.withResolvers();
  }

  return {
    async settled() {
      if (taking.signal.aborted) await Promise.all(atWork);
      else await queue.idle();
    },
    sweep,
    pause: () => taking.abort(),
    resume,
    send: (message) => void queue.send(message),
    deadLetters: () => queue.deadLetters(),
    async stop() {
      clearInterval(timer);
      stopping.abort();
      taking.abort();
      resumed.resolve(undefined);
      await Promise.all([analyzeRun, sweepRuns].map(({ operationId }) => pool.kill(operationId)));
      await Promise.all([...takers, sweeping]);
    },
  };
}

/** Whether a function took all of its batch, by its partial batch response. */
function isDone(outcome: Outcome): boolean {
  if (outcome.kind !== 'answered') return false;
  const answer = outcome.value;
  if (answer === undefined || answer === null) return true;
  if (typeof answer !== 'object' || !('batchItemFailures' in answer)) return true;
  const failures = answer.batchItemFailures;
  return failures === null || (Array.isArray(failures) && failures.length === 0);
}

function eventOf(message: ReceivedMessage): SQSEvent {
  const { messageId, body, receiptHandle, receiveCount, sentAt, firstReceivedAt } = message;
  return {
    Records: [
      {
        messageId,
        receiptHandle,
        body,
        attributes: {
          ApproximateReceiveCount: String(receiveCount),
          SentTimestamp: String(sentAt),
          SenderId: 'local',
          ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
        },
        messageAttributes: {},
        md5OfBody: createHash('md5').update(body).digest('hex'),
        eventSource: 'aws:sqs',
        eventSourceARN: `arn:aws:sqs:${localRegion}:${localAccount}:${localQueueName}`,
        awsRegion: localRegion,
      },
    ],
  };
}
