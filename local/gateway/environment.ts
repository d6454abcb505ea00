import { Worker } from 'node:worker_threads';

/** What an environment is started with. */
export interface Initialization {
  readonly bundleUrl: string;
  readonly functionName: string;
  readonly memoryMb: number;
}

export interface Invocation {
  readonly id: number;
  readonly event: unknown;
  readonly requestId: string;
  /** Epoch milliseconds at which the function is stopped. */
  readonly deadline: number;
}

export type FromEnvironment =
  | { readonly kind: 'ready' }
  | { readonly kind: 'output'; readonly text: string }
  /** `json` is undefined when the handler returned undefined. */
  | { readonly kind: 'answer'; readonly id: number; readonly json: string | undefined }
  | { readonly kind: 'threw'; readonly id: number; readonly message: string };

/** A function as an environment runs it. */
export interface FunctionDefinition {
  readonly name: string;
  /** File URL of the bundle, the very bytes that deploy. */
  readonly bundleUrl: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** The whole environment of the function: nothing of this process leaks in. */
  readonly variables: Readonly<Record<string, string>>;
}

/** `timed-out` and `crashed` end the environment; after `threw` it goes on, as in Lambda. */
export type Outcome =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'threw' | 'timed-out' | 'crashed'; readonly message: string };

/** One execution environment: a worker thread with its own memory, module state and variables, serving one invocation at a time. */
export interface Environment {
  readonly alive: boolean;
  readonly busy: boolean;
  /** Call only while alive and not busy. */
  readonly invoke: (event: unknown, requestId: string) => Promise<Outcome>;
  /** Ends the thread wherever it is; an invocation in flight comes out as `crashed`. */
  readonly kill: () => Promise<void>;
}

/**
 * Starts an environment. Loading the bundle counts towards the first invocation, as a cold start does.
 * @param onOutput gets what the function writes, as it writes it
 */
export function startEnvironment(
  definition: FunctionDefinition,
  onOutput: (text: string) => void,
): Environment {
  const initialization: Initialization = {
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

  let alive = true;
  let lastId = 0;
  let settle: ((outcome: Outcome) => void) | undefined;

  function finish(outcome: Outcome): void {
    const waiting = settle;
    settle = undefined;
    waiting?.(outcome);
  }

  function end(outcome: Outcome): void {
    alive = false;
    finish(outcome);
  }

  worker.on('message', (message: FromEnvironment) => {
    switch (message.kind) {
      case 'ready':
        return;
      case 'output':
        onOutput(message.text);
        return;
      case 'answer':
        if (message.id === lastId) {
          finish({
            kind: 'answered',
            value: message.json === undefined ? undefined : (JSON.parse(message.json) as unknown),
          });
        }
        return;
      case 'threw':
        if (message.id === lastId) finish({ kind: 'threw', message: message.message });
        return;
    }
  });
  worker.on('error', (error: unknown) => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    onOutput(`${message}\n`);
    end({ kind: 'crashed', message });
  });
  worker.on('exit', (code) => {
    end({ kind: 'crashed', message: `the environment ended with code ${code}` });
  });

  return {
    get alive() {
      return alive;
    },
    get busy() {
      return settle !== undefined;
    },
    invoke(event, requestId) {
      if (!alive || settle !== undefined) throw new Error('an environment serves one invocation at a time');
      lastId += 1;
      const milliseconds = definition.timeoutSeconds * 1000;
      const invocation: Invocation = { id: lastId, event, requestId, deadline: Date.now() + milliseconds };
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          end({ kind: 'timed-out', message: `no answer within ${definition.timeoutSeconds} s` });
          void worker.terminate();
        }, milliseconds);
        settle = (outcome) => {
          clearTimeout(timer);
          resolve(outcome);
        };
        worker.postMessage(invocation);
      });
    },
    async kill() {
      end({ kind: 'crashed', message: 'the environment was killed' });
      await worker.terminate();
    },
  };
}
