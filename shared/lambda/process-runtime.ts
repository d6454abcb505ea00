import { randomBytes } from 'node:crypto';
import { callStore } from '#shared/kernel/store-calls.ts';
import { fetchOverHttp } from '#shared/network/http-client.ts';
import { segmentSender } from '#shared/network/trace-segments.ts';
import type { AwsClients, AwsSettings, Runtime } from '#shared/runtime/runtime.ts';

/** Returns the process itself, for deployed handlers, read only when asked. Lines go to standard output: Lambda's `console` would wrap them. */
export function processRuntime(): Runtime {
  return {
    environment: process.env,
    fetch: fetchOverHttp,
    aws: createAwsClients(() => ({})),
    now: () => Date.now(),
    sleep,
    random: (count) => randomBytes(count),
    write: (line) => process.stdout.write(line),
    traceCall: segmentSender(process.env),
  };
}

/** Creates each client with these settings once; it asks for them with the first. Their calls have the budget of the invocation. */
export function createAwsClients(settings: () => AwsSettings): AwsClients {
  const clients = new Map<unknown, unknown>();
  return <Client>(make: (settings: AwsSettings) => Client) => {
    if (!clients.has(make)) clients.set(make, bounded(make(settings())));
    // SAFETY: under this key is what this very function has created.
    return clients.get(make) as Client;
  };
}

function bounded<Client>(client: Client): Client {
  // SAFETY: everything that make-clients.ts creates is a client of the SDK.
  const any = client as unknown as {
    send: (command: unknown, options?: { readonly abortSignal?: AbortSignal }) => Promise<unknown>;
  };
  const send = any.send.bind(client);
  any.send = (command, { abortSignal: limit } = {}) =>
    callStore(async (end) => {
      if (end === undefined) throw new Error('a store is called outside of an invocation');
      return send(command, { abortSignal: end });
    }, limit);
  return client;
}

/** If aborted, it resolves: `node:timers/promises` would create an error with a stack each time, and each call in time aborts its timer. */
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
