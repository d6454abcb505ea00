import type { Result } from '#shared/kernel/result.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { AwsClients, AwsSettings } from '#shared/runtime/runtime.ts';
import type { Place } from '#shared/stage/access.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { cloudFormationOf } from '#shared/stage-checks/clients.ts';
import {
  examine,
  failure,
  good,
  type Check as CheckOf,
  type Finding as Found,
  type Subject as Deployed,
} from '#shared/stage-checks/finding.ts';
import { readStacks } from '#shared/stage-checks/stacks.ts';
import { clientLimits } from '#shared/stores/clients.ts';
import { deployedTable } from '#ops/reach-stage.ts';

/** A stage as an operator looks at it and mends it. */
export interface Subject extends Deployed {
  readonly stage: Stage;
  readonly place: Place;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

/** Returns a stage as it is now: its stacks are read once. */
export function subjectOf(stage: Stage, place: Place): Subject {
  const { sleep, fetch } = processRuntime();
  const aws = clientsIn(place);
  let stacks: ReturnType<Subject['stacks']> | undefined;
  return {
    stage,
    place,
    aws,
    table: (name) => deployedTable(stage.name, name, undefined),
    stacks: () => (stacks ??= readStacks((id) => aws(cloudFormationOf(id)), stage.name)),
    now: Date.now(),
    fetch,
    pause: (milliseconds) => sleep(milliseconds),
  };
}

/** Returns the clients of a command, each created once: an operator's calls have no budget but their own time limits. */
function clientsIn({ region, credentials }: Place): AwsClients {
  const clients = new Map<unknown, unknown>();
  return <Client>(make: (settings: AwsSettings) => Client) => {
    if (!clients.has(make)) clients.set(make, make({ region, credentials, timeLimits: clientLimits }));
    // SAFETY: under this key is what this very function has created.
    return clients.get(make) as Client;
  };
}

export interface Finding extends Found {
  /** What `--fix` does; returns what it did, or why it could not. */
  readonly mend?: () => Promise<Result<string, string>>;
}

export interface Line extends Finding {
  readonly check: string;
}

export type Check = CheckOf<Subject, Finding>;

/** Runs checks side by side. */
export async function runChecks(
  checks: Readonly<Record<string, Check>>,
  subject: Subject,
): Promise<readonly Line[]> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([check, run]) => {
      const findings: readonly Finding[] = await examine(async () => run(subject));
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
    const findings = await examine(async () => {
      const done = await mend();
      return [done.ok ? good(`mended: ${done.value}`) : failure('not-mended', `not mended: ${done.error}`)];
    });
    for (const finding of findings) mended.push({ check, ...finding });
  }
  return mended;
}

/** Returns one line per finding, for a terminal or a log. */
export function renderLine({ check, status, message, remedy }: Line): string {
  const what = `${status.padEnd(7)}  ${check.padEnd(11)}  ${message}`;
  return remedy === undefined || status === 'ok' ? what : `${what}. To mend it: ${remedy}`;
}
