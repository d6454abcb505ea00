import type { Fetch } from '#shared/network/http-client.ts';
import type { Result } from '#shared/kernel/result.ts';
import { isStoreOutage } from '#shared/kernel/store-calls.ts';
import type { AwsClients } from '#shared/runtime/runtime.ts';
import { awsFailure } from '#shared/stage/aws-failure.ts';
import type { WatchedSettings } from '#shared/stage/checks.ts';

/** A stack as it is deployed. */
export interface DeployedStack {
  readonly status: string;
  readonly terminationProtection: boolean;
  readonly outputs: ReadonlyMap<string, string>;
}

/** What the checks look at: a deployed stage, through the clients and permissions of the operator or the watcher. */
export interface Subject {
  readonly stage: { readonly name: string; readonly config: WatchedSettings };
  /** Where it is, for a person. */
  readonly place?: { readonly account: string; readonly region: string };
  readonly aws: AwsClients;
  /** Returns the deployed name of a table. */
  readonly table: (name: 'records' | 'settings') => Promise<Result<string, string>>;
  /** The stacks that exist, by name. */
  readonly stacks: () => Promise<ReadonlyMap<string, DeployedStack>>;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly fetch: Fetch;
}

export interface Finding {
  readonly status: 'ok' | 'warning' | 'failure';
  /** What is wrong, as a word for a log line. Absent: nothing. */
  readonly code?: string;
  /** What it concerns: a tenant, a stack, an ARN, an address. */
  readonly about?: string;
  /** What was found, and what it means. */
  readonly message: string;
  /** What the operator runs or changes. */
  readonly remedy?: string;
  /** AWS refused the calls of the check. */
  readonly unchecked?: true;
  /** For how many days what was looked at is still valid. */
  readonly daysLeft?: number;
  /** A warning that the alarm of its check counts, as it does every failure. */
  readonly rings?: true;
}

/** @returns nothing where there is nothing to check yet */
export type Check<S = Subject, F extends Finding = Finding> = (
  subject: S,
) => Promise<readonly F[]> | readonly F[];

export const good = (message: string): Finding => ({ status: 'ok', message });

export const warning = (code: string, message: string, remedy: string, about?: string): Finding => ({
  ...{ status: 'warning', code, message, remedy },
  ...(about !== undefined && { about }),
});

export const failure = (code: string, message: string, remedy?: string, about?: string): Finding => ({
  ...{ status: 'failure', code, message },
  ...(remedy !== undefined && { remedy }),
  ...(about !== undefined && { about }),
});

const DAY_MS = 86_400_000;

/** Returns how many whole days are left until an instant: negative after it. */
export function daysUntil(end: number, now: number): number {
  return Math.floor((end - now) / DAY_MS);
}

/** Runs a check. One that AWS refuses is a failure: nothing is known of what it looks at. */
export async function examine<F extends Finding>(
  work: () => Promise<readonly F[]> | readonly F[],
): Promise<readonly (F | Finding)[]> {
  try {
    return await work();
  } catch (error) {
    // Within an invocation, a store that is overloaded or silent comes as its own error.
    const message = isStoreOutage(error) ? 'AWS did not respond in time' : awsFailure(error);
    if (message === undefined) throw error;
    const remedy = 'docs/deploy.md lists the permissions that the command needs; then run it again';
    return [{ ...failure('not-checked', `not checked: ${message}`, remedy), unchecked: true }];
  }
}
