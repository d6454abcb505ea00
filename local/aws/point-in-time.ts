import * as z from 'zod';
import { ok } from '#shared/kernel/result.ts';
import type { Item } from './dynalite.ts';
import { tableNeed } from './table-needs.ts';
import { type AwsAnswer, type AwsOperation, type Restore, operation, refuse } from './wire.ts';

/** DynamoDB keeps the changes of 35 days, and the last five minutes cannot be restored yet. */
const PERIOD_DAYS = 35;
const LATEST_MS = 5 * 60_000;
/** How often DescribeTable still returns CREATING for a restored table. */
const CREATING_FOR = 2;

/** One change of one item; without `item` it was deleted. */
interface Change {
  readonly table: string;
  readonly key: string;
  readonly at: number;
  readonly item: Item | undefined;
}

export interface PointInTime {
  /** Starts the journal of a table; it holds no item yet. */
  enable(table: string): void;
  readonly isEnabled: (table: string) => boolean;
  /** Notes what an item is after a write. */
  note(table: string, key: Item, item: Item | undefined): void;
  /** The answer to a call for a table that is still being restored; undefined for every other table. */
  whileRestoring(table: string, operation: string): AwsAnswer | undefined;
  readonly operations: ReadonlyMap<string, AwsOperation>;
  snapshot(): Restore;
}

const restoreInput = z.strictObject({
  SourceTableName: z.string(),
  TargetTableName: z.string(),
  /** Seconds since the epoch. */
  RestoreDateTime: z.number(),
});

/**
 * Point-in-time recovery: a journal of every change per table, and restores into a second table, which has the items of that second and no
 * settings of the first: no time to live, no point-in-time recovery, no deletion protection. A restored table is CREATING for a while.
 * The journal is kept in memory as long as the emulator runs.
 * @param createTable creates the second table like the first one and fills it; the answer when it cannot
 */
export function createPointInTime(
  now: () => number,
  createTable: (source: string, target: string, items: readonly Item[]) => Promise<AwsAnswer>,
): PointInTime {
  const since = new Map<string, number>();
  const journal: Change[] = [];
  const restoring = new Map<string, number>();

  function window(table: string): { readonly earliest: number; readonly latest: number } | undefined {
    const start = since.get(table);
    if (start === undefined) return undefined;
    const seconds = (ms: number): number => Math.floor(ms / 1000);
    return {
      earliest: seconds(Math.max(start, now() - PERIOD_DAYS * 86_400_000)),
      latest: seconds(now() - LATEST_MS),
    };
  }

  function itemsAt(table: string, at: number): readonly Item[] {
    const items = new Map<string, Item | undefined>();
    for (const change of journal) {
      if (change.table === table && change.at <= at) items.set(change.key, change.item);
    }
    return [...items.values()].filter((item) => item !== undefined);
  }

  const operations = new Map<string, AwsOperation>(
    Object.entries({
      DescribeContinuousBackups: operation(
        z.strictObject({ TableName: z.string() }),
        ({ TableName }) => [tableNeed('DescribeContinuousBackups', TableName)],
        ({ TableName: table }) => {
          const known = window(table);
          const PointInTimeRecoveryDescription =
            known === undefined
              ? { PointInTimeRecoveryStatus: 'DISABLED' }
              : {
                  PointInTimeRecoveryStatus: 'ENABLED',
                  RecoveryPeriodInDays: PERIOD_DAYS,
                  EarliestRestorableDateTime: known.earliest,
                  LatestRestorableDateTime: known.latest,
                };
          return ok({
            ContinuousBackupsDescription: {
              ContinuousBackupsStatus: 'ENABLED',
              PointInTimeRecoveryDescription,
            },
          });
        },
      ),
      RestoreTableToPointInTime: operation(
        restoreInput,
        ({ SourceTableName, TargetTableName }) =>
          [SourceTableName, TargetTableName].map((table) => tableNeed('RestoreTableToPointInTime', table)),
        async ({ SourceTableName: source, TargetTableName: target, RestoreDateTime: at }) => {
          const known = window(source);
          if (known === undefined) {
            return refuse(
              'PointInTimeRecoveryUnavailableException',
              `Point in time recovery is not enabled for table '${source}'`,
            );
          }
          if (at < known.earliest || at > known.latest) {
            return refuse(
              'InvalidRestoreTimeException',
              'The restore time is outside of the restorable window',
            );
          }
          const created = await createTable(source, target, itemsAt(source, at * 1000));
          if (!created.ok) return created;
          restoring.set(target, CREATING_FOR);
          return ok({ TableDescription: { TableName: target, TableStatus: 'CREATING' } });
        },
      ),
    }),
  );

  return {
    enable: (table) => since.set(table, now()),
    isEnabled: (table) => since.has(table),
    note(table, key, item) {
      if (!since.has(table)) return;
      journal.push({ table, key: JSON.stringify(Object.entries(key).sort()), at: now(), item });
    },
    whileRestoring(table, called) {
      const left = restoring.get(table);
      if (left === undefined) return undefined;
      if (called === 'DeleteTable')
        return refuse('ResourceInUseException', `Table is being created: ${table}`);
      if (called !== 'DescribeTable') {
        return refuse('ResourceNotFoundException', 'Requested resource not found');
      }
      if (left === 1) restoring.delete(table);
      else restoring.set(table, left - 1);
      return ok({ Table: { TableName: table, TableStatus: 'CREATING' } });
    },
    operations,
    snapshot() {
      const { length } = journal;
      return () => {
        journal.length = length;
      };
    },
  };
}
