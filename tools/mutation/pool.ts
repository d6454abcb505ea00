import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/** Runs test files with one mutant active, or with none. */
export interface RunRequest {
  /** Distinguishes the replies; the process's own libraries may send messages, too. */
  readonly number: number;
  readonly mutant?: string;
  /** Parts of the paths of test files. */
  readonly tests: readonly string[];
}

export interface RunReply {
  readonly number: number;
  readonly files: number;
  /** The file and the test that failed first. */
  readonly killedBy?: string;
}

/** A process that runs tests in the instrumented tree, restarted when a run does not come to its end. */
export interface Runner {
  /** @returns undefined when the run took longer than it may, or when its process died */
  readonly run: (request: Omit<RunRequest, 'number'>, milliseconds: number) => Promise<RunReply | undefined>;
  readonly close: () => void;
}

/** @param tree the folder that holds the instrumented tree */
export function openRunner(tree: string): Runner {
  let process: ChildProcess | undefined;
  let last = 0;
  // A process group of its own: its test processes end with it.
  const start = (): ChildProcess =>
    fork(join(import.meta.dirname, 'runner.ts'), { cwd: tree, detached: true, stdio: 'ignore' });
  const end = (): void => {
    if (process?.pid !== undefined && process.exitCode === null && process.signalCode === null)
      globalThis.process.kill(-process.pid, 'SIGKILL');
    process = undefined;
  };
  return {
    run: (request, milliseconds) =>
      new Promise((resolve) => {
        const current = (process ??= start());
        const number = ++last;
        const finish = (reply: RunReply | undefined): void => {
          clearTimeout(timer);
          current.removeAllListeners();
          if (reply === undefined) end();
          resolve(reply);
        };
        const timer = setTimeout(() => finish(undefined), milliseconds);
        current.on('message', (message) => {
          // SAFETY: nothing else has a number of ours.
          const reply = message as Partial<RunReply>;
          if (reply.number === number) finish(reply as RunReply);
        });
        current.once('exit', () => finish(undefined));
        current.send({ number, ...request } satisfies RunRequest);
      }),
    close: end,
  };
}
