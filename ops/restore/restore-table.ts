import { formatInstant } from '#shared/kernel/instant.ts';
import { err, type Result } from '#shared/kernel/result.ts';
import type { TableBackup, Write } from '#shared/stores/table-backup.ts';
import type { Compare } from './finding.ts';
import { openReport } from './report.ts';

export interface RestoreRuntime {
  readonly print: (line: string) => void;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

export interface TableRestore extends RestoreRuntime {
  readonly backup: TableBackup;
  readonly table: string;
  /** A time, in epoch milliseconds (DynamoDB restores whole seconds); or a table that was restored by other means, which stays. */
  readonly source: { readonly to: number } | { readonly table: string };
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
  const { backup, table, source, print } = restore;
  if ('table' in source) return copyBack(restore, source.table, compare);
  const { to } = source;
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
  { backup, table, print, isDryRun }: TableRestore,
  second: string,
  compare: Compare,
): Promise<Result<undefined, string>> {
  const report = openReport<Write>({ isDryRun, print, write: (write) => backup.put(write) });
  const saved = new Set<string>();
  for await (const [pk, items] of backup.partitions(second)) {
    saved.add(pk);
    await report.add(await compare(pk, items, await backup.partition(pk)));
  }
  for await (const [pk, current] of backup.partitions(table)) {
    if (!saved.has(pk)) await report.add(await compare(pk, [], current));
  }
  return report.end('partitions');
}
