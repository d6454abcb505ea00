import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';

export interface Initialization {
  readonly bundleUrl: string;
  readonly functionName: string;
  readonly memoryMb: number;
  /** One number: the invocations that have been posted and are not through yet. */
  readonly pending: Int32Array;
}

export interface Invocation {
  readonly kind: 'invoke';
  readonly id: number;
  readonly event: unknown;
  readonly requestId: string;
  /** Epoch milliseconds at which the function is stopped. */
  readonly deadline: number;
}

export type ToEnvironment =
  | Invocation
  /** There is room for another chunk of a stream, or it has no reader any more. */
  | { readonly kind: 'taken' | 'abandon'; readonly id: number };

export type FromEnvironment =
  | { readonly kind: 'ready' }
  | { readonly kind: 'output'; readonly text: string }
  /** `json` is undefined when the handler returned undefined. */
  | { readonly kind: 'answer'; readonly id: number; readonly json: string | undefined }
  | { readonly kind: 'chunk'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** A streaming handler is through, and its stream as well. */
  | { readonly kind: 'ended'; readonly id: number }
  | { readonly kind: 'threw'; readonly id: number; readonly message: string };

export interface FunctionDefinition {
  readonly name: string;
  /** File URL of the bundle, the very bytes that deploy. */
  readonly bundleUrl: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** The whole environment of the function: nothing of this process leaks in. */
  readonly variables: Readonly<Record<string, string>>;
}

/** `timed-out` and `crashed` end the environment; after `threw` it continues, as in Lambda. */
export type Outcome =
  | { readonly kind: 'answered'; readonly value: unknown }
  /**
   * A streaming function has begun to answer. The stream fails when the function does. The caller must read it to its end or destroy
   * it, since the environment is busy until then.
   */
  | { readonly kind: 'streaming'; readonly stream: Readable }
  | { readonly kind: 'threw' | 'timed-out' | 'crashed'; readonly message: string };

export interface Invoked {
  readonly outcome: Promise<Outcome>;
  /** Resolves when the environment is not busy with it any more. */
  readonly done: Promise<unknown>;
}

/** One execution environment, serving one invocation at a time. */
export interface Environment {
  readonly alive: boolean;
  readonly busy: boolean;
  /** Call only while alive and not busy. */
  readonly invoke: (event: unknown, requestId: string) => Invoked;
  /** Ends it wherever it is; an invocation in flight comes out as `crashed`, a stream as failed. */
  readonly kill: () => Promise<void>;
}

/**
 * Starts an environment. Loading the function counts towards the first invocation, as a cold start does.
 * @param onOutput gets what the function writes, as it writes it
 */
export type StartEnvironment = (
  definition: FunctionDefinition,
  onOutput: (text: string) => void,
) => Environment;

/** What runs the function of an environment. */
export interface FunctionHost {
  readonly post: (message: ToEnvironment) => void;
  /** Ends the function wherever it is. */
  readonly terminate: () => Promise<unknown>;
}

/** A message from the host to an environment. */
export interface HostEvents {
  readonly onMessage: (message: FromEnvironment) => void;
  /** The host is gone. */
  readonly onCrash: (message: string) => void;
}

/** Starts an environment on a worker thread, with memory, module state and variables of its own. */
export const startEnvironment: StartEnvironment = (definition, onOutput) =>
  openEnvironment(definition, onOutput, (events) => startWorker(definition, onOutput, events));

function startWorker(
  definition: FunctionDefinition,
  onOutput: (text: string) => void,
  { onMessage, onCrash }: HostEvents,
): FunctionHost {
  const pending = new Int32Array(new SharedArrayBuffer(4));
  const initialization: Initialization = {
    pending,
    bundleUrl: definition.bundleUrl,
    functionName: definition.name,
    memoryMb: definition.memoryMb,
  };
  const worker = new Worker(new URL('./environment-worker.ts', import.meta.url), {
    workerData: initialization,
    env: {
      ...definition.variables,
      AWS_LAMBDA_FUNCTION_NAME: definition.name,
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
      AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
      AWS_LAMBDA_LOG_STREAM_NAME: 'local',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      _HANDLER: 'index.handler',
    },
    // Flags of a test runner or debugger are not the function's.
    execArgv: [],
    argv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: definition.memoryMb },
  });
  // What the runtime itself prints (not the function, which writes through its port).
  worker.stdout.on('data', (chunk: Buffer) => onOutput(chunk.toString('utf8')));
  worker.stderr.on('data', (chunk: Buffer) => onOutput(chunk.toString('utf8')));
  worker.on('message', onMessage);
  worker.on('error', (error: unknown) => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    onOutput(`${message}\n`);
    onCrash(message);
  });
  worker.on('exit', (code) => onCrash(`the environment ended with code ${code}`));
  return {
    post(message) {
      worker.postMessage(message);
      if (message.kind !== 'invoke') return;
      Atomics.add(pending, 0, 1);
      Atomics.notify(pending, 0);
    },
    terminate: () => worker.terminate(),
  };
}

/** An environment over a host: what the invocations come to, their time limit, and the way of a stream's chunks. */
export function openEnvironment(
  definition: FunctionDefinition,
  onOutput: (text: string) => void,
  startHost: (events: HostEvents) => FunctionHost,
): Environment {
  let alive = true;
  let lastId = 0;
  let running: Running | undefined;

  /** Ends the invocation under way: its outcome, or what its stream has come to, is known. */
  function finish(outcome: Outcome | { readonly kind: 'ended' }): void {
    const run = running;
    running = undefined;
    if (run === undefined) return;
    clearTimeout(run.timer);
    if (outcome.kind === 'ended') {
      run.stream?.push(null);
      run.resolve({ kind: 'threw', message: 'the function ended its stream without a chunk' });
    } else {
      if ('message' in outcome) run.stream?.destroy(new Error(outcome.message));
      run.resolve(outcome);
    }
    run.free();
  }

  function end(outcome: Outcome): void {
    alive = false;
    finish(outcome);
  }

  function open(run: Running): ChunkStream {
    const id = lastId;
    const stream = new ChunkStream(
      () => host.post({ kind: 'taken', id }),
      () => {
        if (running === run) host.post({ kind: 'abandon', id });
      },
    );
    run.resolve({ kind: 'streaming', stream });
    return stream;
  }

  function receive(message: FromEnvironment): void {
    if (message.kind === 'ready') return;
    if (message.kind === 'output') {
      onOutput(message.text);
      return;
    }
    if (message.id !== lastId || running === undefined) return;
    switch (message.kind) {
      case 'answer':
        finish({
          kind: 'answered',
          value: message.json === undefined ? undefined : (JSON.parse(message.json) as unknown),
        });
        return;
      case 'chunk':
        running.stream ??= open(running);
        running.stream.accept(message.bytes);
        return;
      case 'ended':
        finish({ kind: 'ended' });
        return;
      case 'threw':
        finish({ kind: 'threw', message: message.message });
        return;
    }
  }

  const host = startHost({ onMessage: receive, onCrash: (message) => end({ kind: 'crashed', message }) });

  return {
    get alive() {
      return alive;
    },
    get busy() {
      return running !== undefined;
    },
    invoke(event, requestId) {
      if (!alive || running !== undefined) throw new Error('an environment serves one invocation at a time');
      lastId += 1;
      const milliseconds = definition.timeoutSeconds * 1000;
      const outcome = Promise.withResolvers<Outcome>();
      const done = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => {
        end({ kind: 'timed-out', message: `no answer within ${definition.timeoutSeconds} s` });
        void host.terminate();
      }, milliseconds);
      running = { timer, resolve: outcome.resolve, free: () => done.resolve(undefined), stream: undefined };
      host.post({ kind: 'invoke', id: lastId, event, requestId, deadline: Date.now() + milliseconds });
      return { outcome: outcome.promise, done: done.promise };
    },
    async kill() {
      end({ kind: 'crashed', message: 'the environment was killed' });
      await host.terminate();
    },
  };
}

interface Running {
  readonly timer: NodeJS.Timeout;
  readonly resolve: (outcome: Outcome) => void;
  readonly free: () => void;
  /** Open once the first chunk has come. */
  stream: ChunkStream | undefined;
}

/** What a function streams, chunk after chunk: the next one is asked for when there is room for it. */
class ChunkStream extends Readable {
  readonly #taken: () => void;
  readonly #abandon: () => void;
  #full = false;

  constructor(taken: () => void, abandon: () => void) {
    super({ highWaterMark: 64 * 1024 });
    this.#taken = taken;
    this.#abandon = abandon;
    // It may fail before it has a listener: its reader then finds it destroyed.
    this.on('error', () => undefined);
  }

  accept(bytes: Uint8Array): void {
    if (this.destroyed) return;
    if (this.push(bytes)) this.#taken();
    else this.#full = true;
  }

  override _read(): void {
    if (!this.#full) return;
    this.#full = false;
    this.#taken();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#abandon();
    done(error);
  }
}
