import type { Result } from '#shared/kernel/result.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Place } from '#shared/stage/access.ts';
import { awsFailure } from '#shared/stage/aws-failure.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { readStacks, type DeployedStack } from './stacks.ts';

export interface Subject {
  readonly stage: Stage;
  readonly place: Place;
  /** The stacks that exist, by name. */
  readonly stacks: () => Promise<ReadonlyMap<string, DeployedStack>>;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly fetch: typeof fetch;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

/** Returns a stage as it is now: its stacks are read once. */
export function subjectOf(stage: Stage, place: Place): Subject {
  let stacks: ReturnType<Subject['stacks']> | undefined;
  return {
    stage,
    place,
    stacks: () => (stacks ??= readStacks(place, stage.name)),
    now: Date.now(),
    fetch: (...request) => fetch(...request),
    pause: (milliseconds) => processRuntime().sleep(milliseconds),
  };
}

export interface Finding {
  readonly status: 'ok' | 'warning' | 'failure';
  /** What was found, and what it means. */
  readonly message: string;
  /** What the operator runs or changes. */
  readonly remedy?: string;
  /** AWS refused the calls of the check. */
  readonly unchecked?: true;
  /** What `--fix` does; returns what it did, or why it could not. */
  readonly mend?: () => Promise<Result<string, string>>;
}

export interface Line extends Finding {
  readonly check: string;
}

/** @returns nothing where there is nothing to check yet */
export type Check = (subject: Subject) => Promise<readonly Finding[]> | readonly Finding[];

export const good = (message: string): Finding => ({ status: 'ok', message });

export const warning = (message: string, remedy: string): Finding => ({ status: 'warning', message, remedy });

export const failure = (message: string, remedy?: string): Finding => ({
  status: 'failure',
  message,
  ...(remedy === undefined ? {} : { remedy }),
});

/** Runs checks side by side. A check that AWS refuses is a failure: nothing is known of what it looks at. */
export async function runChecks(
  checks: Readonly<Record<string, Check>>,
  subject: Subject,
): Promise<readonly Line[]> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([check, run]) => {
      const findings = await attempt(async () => run(subject));
      return findings.map((finding) => ({ check, ...finding }));
    }),
  );
  return found.flat();
}

/** Mends what can be mended. @returns the lines of what could not be mended, or was: with what was done */
export async function mendAll(lines: readonly Line[]): Promise<readonly Line[]> {
  const mended: Line[] = [];
  // One after the other: what one of them makes, another may need.
  for (const { check, mend } of lines) {
    if (mend === undefined) continue;
    const findings = await attempt(async () => {
      const done = await mend();
      return [done.ok ? good(`mended: ${done.value}`) : failure(`not mended: ${done.error}`)];
    });
    for (const finding of findings) mended.push({ check, ...finding });
  }
  return mended;
}

async function attempt(work: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await work();
  } catch (error) {
    const message = awsFailure(error);
    if (message === undefined) throw error;
    const remedy = 'docs/deploy.md lists the permissions that the command needs; then run it again';
    return [{ ...failure(`not checked: ${message}`, remedy), unchecked: true }];
  }
}

/** Returns one line per finding, for a terminal or a log. */
export function renderLine({ check, status, message, remedy }: Line): string {
  const what = `${status.padEnd(7)}  ${check.padEnd(11)}  ${message}`;
  return remedy === undefined || status === 'ok' ? what : `${what}. To mend it: ${remedy}`;
}
