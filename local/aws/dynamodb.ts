import { type DynaliteOperation, type Item, createStore, dynaliteOperations, run } from './dynalite.ts';
import { createContention } from './contention.ts';
import { createMutex } from './mutex.ts';
import { needsOf } from './table-needs.ts';
import { createPointInTime } from './point-in-time.ts';
import { type Input, contentsOf, keyOf, must, readItem, untilActive } from './tables.ts';
import { createTimeToLive } from './time-to-live.ts';
import { createTransactions } from './transactions.ts';
import { type AwsAnswer, type AwsOperation, type AwsService, type Restore, refuse } from './wire.ts';

/** A table as the emulator creates it: string keys, on demand. */
export interface LocalTable {
  readonly tableName: string;
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** The attribute, in seconds since the epoch, after which the sweep may delete an item. */
  readonly ttl?: string;
  /** Keeps every change, so that the table can be restored to a point in time, and protects the table from deletion. */
  readonly recoverable?: boolean;
}

interface DynamoDbEmulator extends AwsService {
  /** Creates a table and waits until it is active. Throws when it exists. */
  createTable(table: LocalTable): Promise<void>;
  /** Deletes the items that have expired by `now` (milliseconds), as DynamoDB does some time after the fact. Returns how many. */
  sweepExpired(now: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * DynamoDB in memory: dynalite, and what it lacks: `ReturnValuesOnConditionCheckFailure`, transactions of writes, time to live (set as a
 * table is created), point-in-time recovery. All operations pass one mutex, so that a condition, the item it failed on and a whole
 * transaction are always of one moment.
 * Not covered: streams, PartiQL, backups on demand; an empty string in a key attribute of a global index is let through.
 * @param contended whether it also refuses what DynamoDB refuses under load (`contention.ts`)
 */
export function createDynamoDb(now: () => number, contended = false): DynamoDbEmulator {
  const store = createStore();
  const contend = contended ? createContention(store, now) : (_: string, work: AwsOperation) => work;
  const exclusive = createMutex();
  const pointInTime = createPointInTime(now, createRestored);
  const timeToLive = createTimeToLive(store, deleteItem);
  const transactions = createTransactions(store, now, note);

  const operations = new Map<string, AwsOperation>(
    [
      ...dynaliteOperations.map((name): [string, AwsOperation] => [
        name,
        async (input, { authorize }) => authorize(await needsOf[name](store, input)) ?? execute(name, input),
      ]),
      ...transactions.operations,
      ...pointInTime.operations,
    ].map(([name, work]) => [
      name,
      contend(name, (input, caller) => exclusive(async () => work(input, caller))),
    ]),
  );

  async function execute(operation: DynaliteOperation, input: Input): Promise<AwsAnswer> {
    const table = String(input['TableName']);
    const restoring = pointInTime.whileRestoring(table, operation);
    if (restoring !== undefined) return restoring;
    if (operation === 'DeleteTable' && pointInTime.isEnabled(table)) {
      return refuse('ValidationException', 'Resource cannot be deleted as it is protected against deletion');
    }
    const answer = await carryOut(operation, input);
    if (answer.ok && conditional.has(operation)) await note([input]);
    if (answer.ok && operation === 'BatchWriteItem') await note(batchWrites(input));
    return answer;
  }

  /** Brings the journal up to date after writes, each with its `TableName` and its `Key` or `Item`. */
  async function note(writes: readonly Input[]): Promise<void> {
    for (const write of writes) {
      const table = String(write['TableName']);
      if (!pointInTime.isEnabled(table)) continue;
      const key = await keyOf(store, write);
      pointInTime.note(table, key, await readItem(store, table, key));
    }
  }

  async function createRestored(source: string, target: string, items: readonly Item[]): Promise<AwsAnswer> {
    const { Table: like } = must(await run(store, 'DescribeTable', { TableName: source })) as {
      readonly Table: { readonly AttributeDefinitions: unknown; readonly KeySchema: unknown };
    };
    const created = await run(store, 'CreateTable', {
      TableName: target,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: like.AttributeDefinitions,
      KeySchema: like.KeySchema,
    });
    if (!created.ok) return refuse('TableAlreadyExistsException', `Table already exists: ${target}`);
    await untilActive(store, target);
    for (const item of items) must(await run(store, 'PutItem', { TableName: target, Item: item }));
    return created;
  }

  async function carryOut(operation: DynaliteOperation, input: Input): Promise<AwsAnswer> {
    const { ReturnValuesOnConditionCheckFailure: wanted, ...rest } = input;
    if (operation === 'Scan') {
      // dynalite does not know it, and is always consistent.
      return run(
        store,
        operation,
        Object.fromEntries(Object.entries(input).filter(([name]) => name !== 'ConsistentRead')),
      );
    }
    if (wanted === undefined || !conditional.has(operation)) return run(store, operation, input);
    const answer = await run(store, operation, rest);
    if (answer.ok || wanted !== 'ALL_OLD' || !answer.error.type.endsWith('#ConditionalCheckFailedException'))
      return answer;
    const existing = await readItem(store, String(rest['TableName']), await keyOf(store, rest));
    return existing === undefined
      ? answer
      : refuse('ConditionalCheckFailedException', answer.error.message, { Item: existing });
  }

  async function deleteItem(table: string, item: Item): Promise<void> {
    const key = await keyOf(store, { TableName: table, Item: item });
    must(await run(store, 'DeleteItem', { TableName: table, Key: key }));
    pointInTime.note(table, key, undefined);
  }

  async function restoreTable(table: string, kept: ReadonlyMap<string, Item>): Promise<void> {
    const held = await contentsOf(store, table);
    // Those changed go first, so that what comes back under their keys stays.
    for (const [text, item] of held) if (!kept.has(text)) await deleteItem(table, item);
    for (const [text, item] of kept) {
      if (!held.has(text)) must(await run(store, 'PutItem', { TableName: table, Item: item }));
    }
  }

  async function snapshot(): Promise<Restore> {
    const { TableNames: tables } = must(await run(store, 'ListTables', {})) as {
      readonly TableNames: readonly string[];
    };
    const kept = new Map<string, ReadonlyMap<string, Item>>();
    for (const table of tables) kept.set(table, await contentsOf(store, table));
    const others = [transactions.snapshot(), pointInTime.snapshot()];
    return () =>
      exclusive(async () => {
        for (const [table, items] of kept) await restoreTable(table, items);
        for (const restore of others) await restore();
      });
  }

  return {
    name: 'dynamodb',
    targetPrefix: 'DynamoDB_20120810',
    contentType: 'application/x-amz-json-1.0',
    operations,
    snapshot: () => exclusive(snapshot),
    async createTable({ tableName, partitionKey, sortKey, ttl, recoverable = false }) {
      const keys = [partitionKey, ...(sortKey === undefined ? [] : [sortKey])];
      must(
        await run(store, 'CreateTable', {
          TableName: tableName,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: keys.map((name) => ({ AttributeName: name, AttributeType: 'S' })),
          KeySchema: keys.map((name, index) => ({
            AttributeName: name,
            KeyType: index === 0 ? 'HASH' : 'RANGE',
          })),
        }),
      );
      await untilActive(store, tableName);
      if (recoverable) pointInTime.enable(tableName);
      if (ttl !== undefined) timeToLive.enable(tableName, ttl);
    },
    sweepExpired: (at) => exclusive(() => timeToLive.sweep(at)),
    close: () => exclusive(() => store.db.close()),
  };
}

const conditional: ReadonlySet<DynaliteOperation> = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

function batchWrites(input: Input): readonly Input[] {
  return Object.entries(input['RequestItems'] as Readonly<Record<string, readonly Input[]>>).flatMap(
    ([table, requests]) =>
      requests.flatMap((request) =>
        Object.values(request).map((write) => ({ TableName: table, ...(write as Input) })),
      ),
  );
}
