import { join } from 'node:path';
import { openEnvironment, type StartEnvironment } from '#local/gateway/environment.ts';
import { awsLambda } from '#local/gateway/response-stream.ts';
import { serveInvocations, type InvokedHandler } from '#local/gateway/serve-invocations.ts';
import type { DeployedFunction } from '#shared/contract/functions.ts';
import { createAwsClients, processRuntime } from '#shared/lambda/process-runtime.ts';
import type { AwsClients, Runtime } from '#shared/runtime/runtime.ts';

// Runs functions in this process: the handler of the sources, bound to ports, in the place of a bundle on a worker thread.

// What the Node.js runtime of Lambda gives to functions that stream; a handler's module asks for it when it is loaded.
Object.assign(globalThis, { awslambda: awsLambda });

/** Ports of a function that a test replaces; what it leaves out is this process's, and the variables' AWS. */
export type PortsOf = (functionName: string) => Partial<Omit<Runtime, 'environment'>>;

/**
 * Starts environments in this process, for `createFunctionPool` and `startStack`: the file of a definition is a handler's source instead of a
 * bundle. Each environment is a binding of its own and shares nothing with the others. When it ends, its ports are cut: nothing that its
 * function still does reaches anything, as if its thread had been ended.
 * @example startTestStack({ inProcess: () => ({ now: () => clock.now }) })
 */
export function inProcess(portsOf: PortsOf = () => ({})): StartEnvironment {
  return (definition, onOutput) =>
    openEnvironment(definition, onOutput, ({ onMessage, onCrash }) => {
      const end = new AbortController();
      const runtime = cuttable(
        {
          ...processRuntime(),
          aws: awsClientsOf(definition.variables),
          write: onOutput,
          ...portsOf(definition.name),
          environment: definition.variables,
        },
        end.signal,
      );
      // Powertools tells a cold start by it, and reads it of the process when a function is bound.
      process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] = 'on-demand';
      const served = importBind(definition.bundleUrl).then((bind) =>
        serveInvocations(
          bind(runtime),
          { functionName: definition.name, memoryMb: definition.memoryMb },
          (message) => {
            if (!end.signal.aborted) onMessage(message);
          },
        ),
      );
      return {
        post: (message) =>
          void served.then(
            (receive) => receive(message),
            (error: unknown) => onCrash(String(error)),
          ),
        terminate: () => {
          end.abort(new Error('the environment has ended'));
          return Promise.resolve();
        },
      };
    });
}

/** Where the source of a row's handler is. */
export function sourceOf({ handler }: Pick<DeployedFunction, 'handler'>): string {
  return join(import.meta.dirname, '../..', handler);
}

async function importBind(url: string): Promise<(runtime: Runtime) => InvokedHandler> {
  // SAFETY: what every handler file exports; test/contract/bindings.test.ts holds them to it.
  const { bind } = (await import(/* @vite-ignore */ url)) as { bind: (runtime: Runtime) => InvokedHandler };
  return bind;
}

/** What every SDK client has, of which the port knows nothing. */
interface AnyClient {
  readonly config: {
    readonly retryStrategy: () => Promise<{
      readonly retryBackoffStrategy: { computeNextBackoffDelay: (tries: number) => number };
    }>;
  };
  readonly middlewareStack: {
    add: (
      middleware: (next: (args: unknown) => Promise<unknown>) => (args: unknown) => Promise<unknown>,
      options: { readonly step: 'finalizeRequest'; readonly priority: 'low' },
    ) => void;
  };
  destroy: () => void;
}

/** The clients that a function's own variables describe: nothing of this process's environment is looked at. */
function awsClientsOf(variables: Readonly<Record<string, string>>): AwsClients {
  const { AWS_ENDPOINT_URL: endpoint, AWS_REGION: region } = variables;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = variables;
  return createAwsClients(() => {
    if (!endpoint || !region || !accessKeyId || !secretAccessKey)
      throw new Error('the function reaches for AWS, which its variables do not name');
    return { endpoint, region, credentials: { accessKeyId, secretAccessKey } };
  });
}

const never = new Promise<never>(() => undefined);

/**
 * The same ports until the signal aborts. From then on no call leaves them and none comes back, and calls in flight are cut off. AWS is called
 * again at once: the emulators need no rest.
 */
function cuttable(runtime: Runtime, end: AbortSignal): Runtime {
  const known = new WeakSet();
  return {
    ...runtime,
    fetch: (url, request) =>
      end.aborted
        ? never
        : runtime.fetch(url, { ...request, signal: AbortSignal.any([request.signal, end]) }),
    aws: (make) => {
      const client = runtime.aws(make);
      // SAFETY: whatever make-clients.ts makes is a client of the SDK.
      const { config, middlewareStack, destroy } = client as unknown as AnyClient;
      if (!known.has(client as object)) {
        known.add(client as object);
        void config.retryStrategy().then(({ retryBackoffStrategy }) => {
          retryBackoffStrategy.computeNextBackoffDelay = () => 0;
        });
        middlewareStack.add((next) => (args) => (end.aborted ? never : next(args)), {
          step: 'finalizeRequest',
          priority: 'low',
        });
        end.addEventListener('abort', () => Reflect.apply(destroy, client, []));
      }
      return client;
    },
    sleep: (milliseconds, signal) => (end.aborted ? never : runtime.sleep(milliseconds, signal)),
    write: (line) => {
      if (!end.aborted) runtime.write(line);
    },
  };
}
