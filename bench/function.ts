import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Call, Invocation } from './function-process.ts';

/** A bundled function that runs in a process of its own. Disposing of it ends the process. */
export interface OpenFunction extends AsyncDisposable {
  /** Milliseconds of all threads from the import of its bundle until it was ready for events. */
  readonly startCpu: number;
  /** One event at a time. Rejects when the process ends instead of answering. */
  readonly invoke: (event: unknown) => Promise<Invocation>;
  /** Moves its clock ahead of this machine's by so many milliseconds, from the next event on. */
  readonly setClock: (ahead: number) => void;
}

interface FunctionProcess {
  readonly file: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Megabytes that its heap may have; absent: as many as the runtime likes. */
  readonly heapMb?: number;
  /** Collects garbage after each event, so that `heap` is what the function keeps. */
  readonly collects?: true;
}

/** Starts the process as Lambda does; resolves once the function is ready for events. */
export async function openFunction({
  file,
  variables,
  heapMb,
  collects,
}: FunctionProcess): Promise<OpenFunction> {
  const child = fork(fileURLToPath(new URL('./function-process.ts', import.meta.url)), [file], {
    env: { ...variables, AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' },
    execArgv: [
      ...(heapMb === undefined ? [] : [`--max-old-space-size=${Math.floor(heapMb)}`]),
      ...(collects === undefined ? [] : ['--expose-gc']),
    ],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the function’s process has ended');
  });
  // The caller that waits for the answer gets the error.
  ended.catch(() => undefined);
  const message = async (): Promise<unknown> => {
    const [value] = (await Promise.race([once(child, 'message'), ended])) as unknown[];
    return value;
  };
  const startCpu = (await message()) as number;
  let ahead = 0;
  return {
    startCpu,
    setClock: (milliseconds) => {
      ahead = milliseconds;
    },
    invoke: async (event) => {
      const answer = message();
      child.send({ event, ahead } satisfies Call);
      return (await answer) as Invocation;
    },
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
