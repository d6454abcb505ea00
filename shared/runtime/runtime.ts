import type { RandomBytes } from '#shared/kernel/random.ts';
import type { Sleep } from '#shared/kernel/sleep.ts';
import type { Fetch } from '#shared/network/http-client.ts';

/** The names and texts of a function's environment variables. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Where SDK clients send their calls, and as whom. What is absent comes from the process's environment. */
export interface AwsSettings {
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: Credentials | (() => Promise<Credentials>);
  /** A profile of the shared configuration files, in place of the environment's. */
  readonly profile?: string;
  /** Milliseconds that one attempt of a call may take, to connect and until its response begins or goes on; default: those of a function. */
  readonly timeLimits?: { readonly connectMs: number; readonly attemptMs: number };
}

/**
 * The SDK clients of one runtime: makes a client when it is first asked for and keeps it.
 * @param make one of the functions of `shared/stores/make-clients.ts`, so that a bundle holds only the clients that its function uses
 */
export type AwsClients = <Client>(make: (settings: AwsSettings) => Client) => Client;

/**
 * The ports of a function: everything outside of its code that it may touch. A function is bound to one runtime, and whatever it keeps
 * between requests hangs on that binding, so that functions of different runtimes can live in one process and share nothing.
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
}
