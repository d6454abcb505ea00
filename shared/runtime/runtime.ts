import type { RandomBytes } from '#shared/kernel/random.ts';
import type { Sleep } from '#shared/kernel/sleep.ts';
import type { Fetch } from '#shared/network/http-client.ts';
import type { SendSegment } from '#shared/network/trace-segments.ts';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The address and credentials that SDK clients use. A member that is absent comes from the process's environment. */
export interface AwsSettings {
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: Credentials | (() => Promise<Credentials>);
  /** A profile of the shared configuration files, instead of the environment's. */
  readonly profile?: string;
  /** Milliseconds that one attempt of a call may take, to connect and until its response begins or continues; default: those of a function. */
  readonly timeLimits?: { readonly connectMs: number; readonly attemptMs: number };
}

/**
 * The SDK clients of one runtime: creates a client when it is first asked for and caches it.
 * @param make one of the functions of `shared/stores/make-clients.ts`, so that a bundle contains only the clients that its function uses
 */
export type AwsClients = <Client>(make: (settings: AwsSettings) => Client) => Client;

/**
 * The ports of a function: everything outside of its code that it may use. A function is bound to one runtime, and everything that it keeps between
 * requests belongs to that binding, so that functions of different runtimes can run in one process and share nothing.
 */
export interface Runtime {
  readonly environment: EnvironmentVariables;
  /** Reaches the token issuer and the owners. */
  readonly fetch: Fetch;
  readonly aws: AwsClients;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: Sleep;
  readonly random: RandomBytes;
  /** Takes one complete log line. */
  readonly write: (line: string) => void;
  /** Absent where nothing is traced. */
  readonly traceCall?: SendSegment | undefined;
  /**
   * Begins work that the first request would otherwise wait for, such as a read that every request needs. Only a function that Lambda is starting has it
   * (`startFunction`). A failure changes nothing: the request does the work again, and reports it.
   */
  readonly prepare?: ((work: () => Promise<unknown>) => void) | undefined;
}
