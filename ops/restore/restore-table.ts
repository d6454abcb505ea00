import { formatInstant } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { TableBackup } from '#shared/stores/table-backup.ts';
import type { Compare, Finding } from './finding.ts';

/** What a restore needs of its runtime. */
export interface RestoreRuntime {
  readonly print: (line: string) => void;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

export interface TableRestore extends RestoreRuntime {
  readonly backup: TableBackup;
  readonly table: string;
  /** Epoch milliseconds; DynamoDB restores whole seconds. */
  readonly to: number;
  readonly isDryRun: boolean;
}

const POLL_MS = 15_000;

/**
 * Restores a table to a point in time into a second table, compares the two, copies back what is missing or damaged, and deletes the second
 * table. Throws what AWS throws.
 * @returns err: one sentence when something could not be repaired, or nothing could be restored
 */
export async function restoreTable(
  restore: TableRestore,
  compare: Compare,
): Promise<Result<undefined, string>> {
  const { backup, table, to, print } = restore;
  const fault = await windowFault(backup, table, to);
  if (fault !== undefined) return err(fault);
  const second = `${table}-restored-${formatInstant(to).replaceAll(/\D/g, '').slice(0, 14)}`;
  print(`Restoring ${table} as of ${formatInstant(to)} into ${second}. This takes minutes.`);
  await backup.restoreInto(second, to);
  await untilActive(restore, second);
  try {
    return await copyBack(restore, second, compare);
  } finally {
    await backup.remove(second);
    print(`Deleted ${second}.`);
  }
}

async function windowFault(backup: TableBackup, table: string, to: number): Promise<string | undefined> {
  const window = await backup.window();
  if (window === undefined)
    return `point-in-time recovery of ${table} is not enabled: there is nothing to restore from`;
  const { earliest, latest } = window;
  if (to >= earliest && to < latest + 1000) return undefined;
  return `--to is outside of what can be restored of ${table}: ${formatInstant(earliest)} to ${formatInstant(latest)}`;
}

async function untilActive({ backup, print, pause }: TableRestore, table: string): Promise<void> {
  for (let polls = 1; ; polls += 1) {
    if (await backup.isActive(table)) return;
    if (polls % 4 === 0) print(`Still restoring, ${(polls * POLL_MS) / 60_000} min.`);
    await pause(POLL_MS);
  }
}

async function copyBack(
  restore: TableRestore,
  second: string,
  compare: Compare,
): Promise<Result<undefined, string>> {
  const { backup, table, print } = restore;
  const counts = { partitions: 0, restored: 0, left: 0 };
  const report = async (findings: readonly Finding[]): Promise<void> => {
    for (const finding of findings) {
      const outcome = await apply(restore, finding);
      print(`${finding.state.padEnd(8)}  ${finding.what}: ${outcome.text}`);
      counts.restored += outcome.isRestored ? 1 : 0;
      counts.left += outcome.isLeft ? 1 : 0;
    }
  };
  const saved = new Set<string>();
  for await (const [pk, items] of backup.partitions(second)) {
    saved.add(pk);
    await report(await compare(pk, items, await backup.partition(pk)));
    counts.partitions += 1;
  }
  for await (const [pk, current] of backup.partitions(table)) {
    if (!saved.has(pk)) await report(await compare(pk, [], current));
  }
  print(
    `Compared ${counts.partitions} partitions: ${counts.restored} ${restore.isDryRun ? 'would be restored' : 'restored'}, ${counts.left} not repaired.`,
  );
  return counts.left === 0 ? ok(undefined) : err(`${counts.left} not repaired: see the lines above`);
}

async function apply(
  { backup, isDryRun }: TableRestore,
  { state, note, writes }: Finding,
): Promise<{ readonly text: string; readonly isRestored: boolean; readonly isLeft: boolean }> {
  if (writes.length === 0) {
    const isLeft = state === 'missing' || state === 'damaged';
    const text = [note, ...(state === 'changed' ? ['newer than the backup, kept'] : [])];
    return { text: text.filter((part) => part !== undefined).join('; '), isRestored: false, isLeft };
  }
  if (isDryRun) return { text: 'would be restored', isRestored: true, isLeft: false };
  for (const write of writes) {
    if (!(await backup.put(write)))
      return {
        text: 'was written meanwhile and is kept: run the command again',
        isRestored: false,
        isLeft: true,
      };
  }
  return { text: 'restored', isRestored: true, isLeft: false };
}
