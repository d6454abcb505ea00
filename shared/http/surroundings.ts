import { randomBytes } from 'node:crypto';
import { fetchOverHttp } from '#shared/network/http-client.ts';
import type { Fetch } from '#shared/network/http-client.ts';
import type { EnvironmentSource } from './environment.ts';

/** Everything of the process that the pipeline may touch. Tests hand in their own; nothing is read at module load. */
export interface Surroundings {
  readonly environment: EnvironmentSource;
  readonly fetch: Fetch;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Cryptographically random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  /** Takes one complete log line. */
  readonly write: (line: string) => void;
}

/** The process itself. Lines go straight to standard output: `console` would wrap them on Lambda. */
export function processSurroundings(): Surroundings {
  return {
    environment: process.env,
    fetch: fetchOverHttp,
    now: () => Date.now(),
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    random: (bytes) => randomBytes(bytes),
    write: (line) => process.stdout.write(line),
  };
}
