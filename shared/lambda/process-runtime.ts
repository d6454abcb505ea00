import { randomBytes } from 'node:crypto';
import { callStore } from '#shared/kernel/store-calls.ts';
import { fetchOverHttp } from '#shared/network/http-client.ts';
import type { AwsClients, AwsSettings, Runtime } from '#shared/runtime/runtime.ts';

/**
 * The process itself, for the handlers that deploy. Reads nothing before it is asked. Lines go straight to standard output: `console` would
 * wrap them on Lambda.
 */
export function processRuntime(): Runtime {
  return {
    environment: process.env,
    fetch: fetchOverHttp,
    aws: createAwsClients(() => ({})),
    now: () => Date.now(),
    sleep,
    random: (count) => randomBytes(count),
    write: (line) => process.stdout.write(line),
  };
}

/** Makes each client with these settings once; they are asked for with the first. Their calls have the budget of the invocation. */
export function createAwsClients(settings: () => AwsSettings): AwsClients {
  const clients = new Map<unknown, unknown>();
  return <Client>(make: (settings: AwsSettings) => Client) => {
    if (!clients.has(make)) clients.set(make, bounded(make(settings())));
    // SAFETY: under this key stands what this very function has made.
    return clients.get(make) as Client;
  };
}

/** What every client of the SDK has. */
interface AnyClient {
  send: (command: unknown, options?: { readonly abortSignal?: AbortSignal }) => Promise<unknown>;
}

function bounded<Client>(client: Client): Client {
  // SAFETY: whatever make-clients.ts makes is a client of the SDK.
  const any = client as unknown as AnyClient;
  const send = any.send.bind(client);
  any.send = (command, { abortSignal: limit } = {}) =>
    callStore(async (end) => {
      if (end === undefined) throw new Error('a store is called outside of an invocation');
      return send(command, { abortSignal: end });
    }, limit);
  return client;
}

/**
 * Aborted, it resolves: `node:timers/promises` would make an error with a stack each time, and every call that is answered in time aborts
 * its timer.
 */
const sleep: Runtime['sleep'] = (milliseconds, signal) =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve(undefined);
    };
    const timer = setTimeout(end, milliseconds);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end);
  });
