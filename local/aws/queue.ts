import { randomUUID } from 'node:crypto';
import type { Restore } from './wire.ts';

export interface LocalQueue {
  readonly queueName: string;
  /** How long a received message is out of sight; 30 as in SQS. */
  readonly visibilityTimeoutSeconds?: number;
  /** Where a message goes that has been received this often and was not deleted. That queue precedes this one in the list. */
  readonly redrive?: { readonly deadLetterQueueName: string; readonly maxReceiveCount: number };
}

export interface ReceivedMessage {
  readonly messageId: string;
  readonly body: string;
  /** The handle of this receipt; a later receipt of the same message has another. */
  readonly receiptHandle: string;
  /** 1 at the first time. */
  readonly receiveCount: number;
  /** Epoch milliseconds, as the next. */
  readonly sentAt: number;
  readonly firstReceivedAt: number;
}

/** A queue of the emulator for code in its process: what SQS returns only to repeated requests is a promise here. */
export interface QueueAccess {
  send(body: string): { readonly messageId: string };
  /**
   * The next message, out of sight from now on; waits until there is one. Undefined when the signal is aborted first or the emulator is closed.
   */
  receive(signal?: AbortSignal): Promise<ReceivedMessage | undefined>;
  /** Removes a message that was received. A handle that is not the message's latest does nothing. */
  delete(receiptHandle: string): void;
  /**
   * Gives a message back: the next receiver has it at once, unless it has been received as often as the queue allows and goes to the dead
   * letters. A handle that is not the message's latest does nothing.
   */
  release(receiptHandle: string): void;
  /** Waits until no message is on the queue, in sight or out of it; dead letters lie on another one. */
  idle(): Promise<void>;
  /** The bodies on the queue for dead letters, the oldest first; none when there is no such queue. */
  deadLetters(): readonly string[];
}

/** What the wire needs beyond that. */
export interface Queue extends QueueAccess {
  readonly definition: Required<Pick<LocalQueue, 'queueName' | 'visibilityTimeoutSeconds'>> &
    Pick<LocalQueue, 'redrive'>;
  counts(): { readonly visible: number; readonly inFlight: number };
  bodies(): readonly string[];
  snapshot(): Restore;
  close(): void;
}

interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly sentAt: number;
  /** Epoch milliseconds. */
  visibleAt: number;
  receiveCount: number;
  firstReceivedAt: number;
}

const DEFAULT_VISIBILITY_SECONDS = 30;
/** setTimeout takes no more. */
const MAX_TIMER = 2 ** 31 - 1;

/**
 * A queue in memory: oldest message first, each at least once. A message that was received as often as it may be leaves for the dead letters
 * as soon as it would be in sight again; SQS moves it at the next request, with the same visible effect.
 * @param now epoch milliseconds: visibility goes by this clock
 */
export function createQueue(
  options: LocalQueue,
  deadLetterQueue: Queue | undefined,
  now: () => number,
): Queue {
  const definition = { visibilityTimeoutSeconds: DEFAULT_VISIBILITY_SECONDS, ...options };
  const messages = new Map<string, Message>();
  const waiting = new Set<() => void>();
  const idlers = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** Those in sight, after what has had its chances has left. */
  function inSight(): readonly Message[] {
    const at = now();
    const found = [...messages.values()].filter(({ visibleAt }) => visibleAt <= at);
    const isSpent = ({ receiveCount }: Message): boolean =>
      options.redrive !== undefined && receiveCount >= options.redrive.maxReceiveCount;
    for (const spent of found.filter(isSpent)) {
      messages.delete(spent.messageId);
      deadLetterQueue?.send(spent.body);
    }
    return found.filter((message) => !isSpent(message));
  }

  /** Call after every change: wakes those who wait for what has come true, and looks again when a message comes back into sight. */
  function settle(): void {
    const seen = inSight();
    if (seen.length > 0 || closed) wake(waiting);
    if (messages.size === 0 || closed) wake(idlers);
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size + idlers.size === 0 || messages.size === seen.length) return;
    const next = Math.min(
      ...[...messages.values()]
        .filter((message) => !seen.includes(message))
        .map(({ visibleAt }) => visibleAt),
    );
    // A clock that a test holds still shall not make this spin.
    timer = setTimeout(settle, Math.min(Math.max(next - now(), 1), MAX_TIMER)).unref();
  }

  function until(waiters: Set<() => void>, signal?: AbortSignal): Promise<void> {
    if (closed || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        waiters.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      waiters.add(done);
      signal?.addEventListener('abort', done, { once: true });
      settle();
    });
  }

  /** The oldest message in sight, out of it from now on. */
  function take(): ReceivedMessage | undefined {
    const [message] = inSight();
    if (message === undefined) return undefined;
    const at = now();
    if (message.receiveCount === 0) message.firstReceivedAt = at;
    message.receiveCount += 1;
    message.visibleAt = at + definition.visibilityTimeoutSeconds * 1000;
    settle();
    return { ...message, receiptHandle: handleOf(message) };
  }

  function held(receiptHandle: string): Message | undefined {
    return [...messages.values()].find((message) => handleOf(message) === receiptHandle);
  }

  return {
    definition,
    send(body) {
      const messageId = randomUUID();
      const at = now();
      messages.set(messageId, {
        messageId,
        body,
        sentAt: at,
        visibleAt: at,
        receiveCount: 0,
        firstReceivedAt: at,
      });
      settle();
      return { messageId };
    },
    async receive(signal) {
      for (;;) {
        if (closed || signal?.aborted === true) return undefined;
        const message = take();
        if (message !== undefined) return message;
        await until(waiting, signal);
      }
    },
    delete(receiptHandle) {
      const message = held(receiptHandle);
      if (message !== undefined) messages.delete(message.messageId);
      settle();
    },
    release(receiptHandle) {
      const message = held(receiptHandle);
      if (message !== undefined) message.visibleAt = Math.min(message.visibleAt, now());
      settle();
    },
    async idle() {
      inSight();
      while (messages.size > 0 && !closed) await until(idlers);
    },
    deadLetters: () => {
      inSight();
      return deadLetterQueue?.bodies() ?? [];
    },
    counts() {
      const visible = inSight().length;
      return { visible, inFlight: messages.size - visible };
    },
    bodies: () => [...messages.values()].map(({ body }) => body),
    snapshot() {
      const kept = [...messages.values()].map((message) => ({ ...message }));
      return () => {
        messages.clear();
        for (const message of kept) messages.set(message.messageId, { ...message });
        settle();
      };
    },
    close() {
      closed = true;
      settle();
    },
  };
}

function wake(waiters: ReadonlySet<() => void>): void {
  for (const done of [...waiters]) done();
}

function handleOf({ messageId, receiveCount }: Message): string {
  return `${messageId}#${receiveCount}`;
}
