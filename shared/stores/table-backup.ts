import {
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  PutItemCommand,
  RestoreTableToPointInTimeCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { attributesOf, didHold, getItem, queryItems, type Item, type ItemKey } from './dynamo.ts';

/** One item to copy back: if there is none, or over exactly the damaged one. */
export interface Write {
  readonly item: Item;
  readonly over?: Item | undefined;
}

/** A table with partitions (`pk`, `sk`) and its point-in-time recovery. Every function throws DynamoDB's errors. */
export interface TableBackup {
  /** Returns the first and the last time that can be restored, in epoch milliseconds; undefined if recovery is not enabled. */
  window(): Promise<{ readonly earliest: number; readonly latest: number } | undefined>;
  /** Starts to restore into a second table. @param to epoch milliseconds; DynamoDB restores whole seconds */
  restoreInto(second: string, to: number): Promise<void>;
  isActive(second: string): Promise<boolean>;
  remove(second: string): Promise<void>;
  /** Lists all items of a table, by partitions. */
  partitions(table: string): AsyncIterable<readonly [string, readonly Item[]]>;
  partition(pk: string): Promise<readonly Item[]>;
  find(key: ItemKey): Promise<Item | undefined>;
  /** Returns false if the item in its place differs from the compared one. */
  put(write: Write): Promise<boolean>;
}

export function createTableBackup(client: DynamoDBClient, table: string): TableBackup {
  return {
    async window() {
      const { ContinuousBackupsDescription: backups } = await client.send(
        new DescribeContinuousBackupsCommand({ TableName: table }),
      );
      const {
        PointInTimeRecoveryStatus: status,
        EarliestRestorableDateTime: earliest,
        LatestRestorableDateTime: latest,
      } = backups?.PointInTimeRecoveryDescription ?? {};
      return status !== 'ENABLED' || earliest === undefined || latest === undefined
        ? undefined
        : { earliest: earliest.getTime(), latest: latest.getTime() };
    },
    async restoreInto(second, to) {
      await client.send(
        new RestoreTableToPointInTimeCommand({
          SourceTableName: table,
          TargetTableName: second,
          RestoreDateTime: new Date(Math.floor(to / 1000) * 1000),
        }),
      );
    },
    async isActive(second) {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: second }));
      return Table?.TableStatus === 'ACTIVE';
    },
    async remove(second) {
      await client.send(new DeleteTableCommand({ TableName: second }));
    },
    partitions: (of) => partitions(client, of),
    partition: (pk) => Array.fromAsync(queryItems(client, table, pk)),
    find: (key) => getItem(client, table, key),
    put: (write) => put(client, table, write),
  };
}

async function put(client: DynamoDBClient, table: string, { item, over }: Write): Promise<boolean> {
  const old = Object.entries(over ?? {});
  const condition =
    over === undefined
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : {
          ConditionExpression: old.map((_, at) => `#n${at} = :v${at}`).join(' AND '),
          ExpressionAttributeNames: Object.fromEntries(old.map(([name], at) => [`#n${at}`, name])),
          ExpressionAttributeValues: attributesOf(
            Object.fromEntries(old.map(([, value], at) => [`:v${at}`, value])),
          ),
        };
  return didHold(
    client.send(new PutItemCommand({ TableName: table, Item: attributesOf(item), ...condition })),
  );
}

/** Yields the partitions of a table. A scan returns the items of one partition consecutively. */
async function* partitions(
  client: DynamoDBClient,
  table: string,
): AsyncGenerator<readonly [string, readonly Item[]]> {
  let items: Item[] = [];
  const partition = () => [String(items[0]?.['pk']), items] as const;
  for await (const page of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
    for (const item of (page.Items ?? []).map((one) => unmarshall(one))) {
      if (items.length > 0 && items[0]?.['pk'] !== item['pk']) {
        yield partition();
        items = [];
      }
      items.push(item);
    }
  }
  if (items.length > 0) yield partition();
}
