import {
  PutItemCommand,
  TransactionConflictException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { randomFraction } from '#shared/kernel/random.ts';
import { StoreOutage } from '#shared/kernel/store-calls.ts';
import { isOvertaken, placeInLineage, type Place } from '#shared/improvement/lineage.ts';
import * as records from '#shared/improvement/records.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { attributesOf, changeExpression, didHold, getItem, queryItems, wasCancelledFor } from './dynamo.ts';
import type { Change, Condition, Item, ItemKey } from './dynamo.ts';
import * as items from './improvement-items.ts';

/** How often a write is tried before it fails because of competing writes of the same items. */
const ATTEMPTS = 10;
/** Milliseconds between two attempts: less than the first, doubled with every attempt, never more than the second. */
const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 800;

/** Reasons of a cancelled transaction that may not recur at the next attempt. */
const passing = [
  'ConditionalCheckFailed',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
];

function openCalls(client: DynamoDBClient, TableName: string, ports: Pick<Runtime, 'sleep' | 'random'>) {
  async function read<T>(key: ItemKey, parse: (item: Item) => T): Promise<T | undefined> {
    const item = await getItem(client, TableName, key);
    return item && parse(item);
  }
  const query = (pk: string, options?: Parameters<typeof queryItems>[3]) =>
    queryItems(client, TableName, pk, options);

  const createOf = (item: Item) => ({
    TableName,
    Item: attributesOf(item),
    ConditionExpression: 'attribute_not_exists(pk)',
  });
  const updateOf = (key: ItemKey, change: Change) => ({
    TableName,
    Key: attributesOf(key),
    ...changeExpression(change),
  });

  const persist = <T>(write: (attempt: number) => Promise<T>): Promise<T> => writeAgain(write, ports);
  /** Returns false if the condition was not met. */
  const update = (key: ItemKey, change: Change): Promise<boolean> =>
    persist(() => didHold(client.send(new UpdateItemCommand(updateOf(key, change)))));
  const create = (item: Item): Promise<boolean> =>
    persist(() => didHold(client.send(new PutItemCommand(createOf(item)))));
  const transact = (writes: TransactWriteItem[]): Promise<unknown> =>
    client.send(new TransactWriteItemsCommand({ TransactItems: writes }));

  return { read, query, create, createOf, updateOf, persist, update, transact };
}

type Calls = ReturnType<typeof openCalls>;

/**
 * Opens the table `improvement` in DynamoDB. One run is one partition (state, pins, evidence, orders, written and read in this order), the list of
 * open runs is one, and every lineage of orders is one: its current order under a version that each change increments, and what former ones
 * superseded. Reads are strongly consistent and need `dynamodb:GetItem` and `Query`, writes `PutItem`, `UpdateItem` and `DeleteItem` too (the rights
 * of their transactions).
 */
export function createImprovementTable(
  client: DynamoDBClient,
  TableName: string,
  ports: Pick<Runtime, 'sleep' | 'random'>,
): records.ImprovementStore {
  const calls = openCalls(client, TableName, ports);
  const { read, query, create, createOf, updateOf, persist, update, transact } = calls;
  const store: records.ImprovementStore = {
    async createRun(created) {
      const run: records.RunRecord = { ...created, state: 'queued', touchedAt: created.createdAt, sweeps: 0 };
      const made = [...items.runItems(run), items.openItem(run)];
      return persist(async (attempt) => {
        const existing = attempt === 0 ? undefined : await store.readRun(run);
        if (existing !== undefined) return existing;
        await transact(made.map((item) => ({ Put: createOf(item) })));
        return run;
      });
    },

    async readRun(key) {
      const { pk, sk } = items.partKey(key, 'evidence');
      return items.runOf(await Array.fromAsync(query(pk, { range: { condition: 'sk < :sk', ':sk': sk } })));
    },

    readSummary: (key) => read(items.partKey(key, 'run'), (item) => records.runSummary.parse(item)),

    async readProgress(key) {
      const found = await Array.fromAsync(query(items.runPartition(key)));
      const run = items.runOf(found);
      return run && { run, evidence: items.evidenceAmong(found), orders: items.ordersAmong(found) };
    },

    readEvidence: (key, evidence) => read(items.partKey(key, 'evidence', evidence), items.evidenceOf),

    async listOrders(key, { after, limit }) {
      const { pk, sk } = items.partKey(key, 'order', after);
      const range = { condition: 'sk > :sk', ':sk': sk };
      return items.ordersAmong(await Array.fromAsync(query(pk, { range, limit })));
    },

    async moveRun(key, to, now) {
      const change: Change = {
        ...whileIn(origins[to.state]),
        set: {
          state: to.state,
          touchedAt: now,
          ...(to.state === 'blocked_upstream' ? { parkedAt: now } : {}),
          ...('completedAt' in to ? { completedAt: to.completedAt } : {}),
          ...('receipt' in to ? items.columnsOfReceipt(to.receipt) : {}),
        },
      };
      if (!records.isTerminal(to.state)) return update(items.partKey(key, 'run'), change);
      return persist(async () => {
        const summary = await store.readSummary(key);
        if (summary === undefined || records.isTerminal(summary.state)) return false;
        await transact([
          { Update: updateOf(items.partKey(key, 'run'), change) },
          { Delete: { TableName, Key: attributesOf(items.openKey(summary)) } },
        ]);
        return true;
      });
    },

    async beginRun(key, recorded, now) {
      const touched = { touchedAt: now, sweeps: 0 };
      const { condition, values } = whileIn(records.openStates);
      const hasGotOn = await update(items.partKey(key, 'run'), {
        set: { ...touched, tries: 1, recorded },
        condition: `${condition} AND #recorded < :recorded`,
        values,
      });
      if (!hasGotOn)
        await update(items.partKey(key, 'run'), { set: touched, count: 'tries', condition, values });
    },

    async touchRun(key, by, now, seen) {
      const { condition, values } = whileIn(records.openStates);
      await update(items.partKey(key, 'run'), {
        set: { touchedAt: now, ...(by === 'worker' ? { tries: 0 } : {}) },
        ...(by === 'sweeper' ? { count: 'sweeps' } : {}),
        condition: seen === undefined ? condition : `${condition} AND #touchedAt = :seen`,
        values: { ...values, ...(seen === undefined ? {} : { ':seen': seen }) },
      });
    },

    async putEvidence(key, evidence) {
      await create(items.evidenceItem(key, evidence));
    },

    async *listOpen(of) {
      const range = of && { condition: 'begins_with(sk, :sk)', ':sk': items.openPrefix(of) };
      for await (const item of query(items.openPartition, { range })) yield records.openRun.parse(item);
    },

    ...orderWrites(TableName, calls),
  };
  return store;
}

function orderWrites(
  TableName: string,
  { read, createOf, updateOf, persist, update, transact }: Calls,
): Pick<records.ImprovementStore, 'openOrder' | 'confirmOrder' | 'moveOrder'> {
  /** Returns the writes that place an order in its lineage, given the lineage as it was read. */
  function placing(
    run: records.RunKey,
    lineage: string,
    seen: items.VersionedHead | undefined,
    { head, former, supersededIn }: Place,
    now: number,
  ): TransactWriteItem[] {
    const { tenantId } = run;
    const writes: TransactWriteItem[] = [];
    if (head !== undefined) {
      const item = items.headItem(tenantId, lineage, { head, version: (seen?.version ?? 0) + 1 });
      const whileSeen = seen && {
        ConditionExpression: '#version = :seen',
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: attributesOf({ ':seen': seen.version }),
      };
      writes.push({ Put: { ...createOf(item), ...whileSeen } });
    }
    if (former !== undefined)
      writes.push({ Put: { TableName, Item: attributesOf(items.formerItem(tenantId, lineage, former)) } });
    for (const improvementRunId of supersededIn) {
      const key = items.partKey({ tenantId, improvementRunId }, 'order', seen?.head.revisionOrderId);
      const set = { status: 'superseded', updatedAt: now };
      writes.push({
        Update: updateOf(key, { set, condition: 'attribute_exists(#status)', values: {} }),
      });
    }
    return writes;
  }

  return {
    async openOrder(run, order, now) {
      const { tenantId, createdAt } = run;
      const { revisionOrderId, evidence, targetModule, lineage } = order;
      return persist(async () => {
        const [recorded, seen] = await Promise.all([
          read(items.partKey(run, 'order', revisionOrderId), items.orderOf),
          read(items.headKey(tenantId, lineage), items.headOf),
        ]);
        if (recorded !== undefined) return recorded;
        // Read after the head: what is read of its lineage is valid as long as the head has the version read.
        const former =
          seen === undefined || seen.head.revisionOrderId === revisionOrderId
            ? undefined
            : await read(items.formerKey(tenantId, lineage, revisionOrderId), items.formerOf);
        const place = placeInLineage(seen?.head, former, run, revisionOrderId);
        const record: records.OrderRecord = {
          revisionOrderId,
          evidence,
          targetModule,
          lineage,
          status: place.status,
          supersedesRevisionOrderId: place.supersedesRevisionOrderId,
          ack: null,
          createdAt,
          updatedAt: Math.max(createdAt, now),
        };
        await transact([
          { Put: createOf(items.orderItem(run, record)) },
          ...placing(run, lineage, seen, place, now),
        ]);
        return record;
      });
    },

    async confirmOrder(key, { revisionOrderId, lineage }, now) {
      const at = items.partKey(key, 'order', revisionOrderId);
      const [record, seen] = await Promise.all([
        read(at, items.orderOf),
        read(items.headKey(key.tenantId, lineage), items.headOf),
      ]);
      if (record === undefined || seen === undefined) return record;
      if (!records.isUndelivered(record) || !isOvertaken(seen.head, key, revisionOrderId)) return record;
      const set = { status: 'superseded', updatedAt: now };
      await update(at, { set, ...whileUndelivered });
      return read(at, items.orderOf);
    },

    async moveOrder(key, revisionOrderId, to, now) {
      const at = items.partKey(key, 'order', revisionOrderId);
      const { status } = to;
      if (!('ack' in to))
        return update(at, { set: { status, updatedAt: now, blockedAt: now }, ...whileUndelivered });
      const acknowledged = { updatedAt: now, ...items.columnsOfAck(to.ack) };
      if (await update(at, { set: { status, ...acknowledged }, ...whileUndelivered })) return true;
      // No order is opened again: one that is not superseded now will stay so.
      return update(at, {
        set: acknowledged,
        condition: '#status = :superseded AND attribute_not_exists(#receiptId)',
        values: { ':superseded': 'superseded' },
      });
    },
  };
}

/** The states from which a run can move to another one. */
const origins = {
  analyzing: ['queued'],
  blocked_upstream: ['queued', 'analyzing'],
  completed: records.openStates,
  completed_with_omissions: records.openStates,
  failed: records.openStates,
} as const;

function whileIn(states: readonly records.ImprovementRunState[]): Condition {
  const values = Object.fromEntries(states.map((state) => [`:${state}`, state]));
  return { condition: `#state IN (${Object.keys(values).join(', ')})`, values };
}

/** The condition that an order still has to reach its receiver. */
const whileUndelivered: Condition = {
  condition: '#status IN (:pending, :blocked)',
  values: { ':pending': 'pending', ':blocked': 'blocked_upstream' },
};

/** Repeats a write, reading its basis anew, as long as others write the same items. */
async function writeAgain<T>(
  write: (attempt: number) => Promise<T>,
  { sleep, random }: Pick<Runtime, 'sleep' | 'random'>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await write(attempt);
    } catch (error) {
      if (!wasOvertaken(error)) throw error;
      if (attempt + 1 >= ATTEMPTS) throw new StoreOutage(error);
    }
    await sleep(randomFraction(random) * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** attempt));
  }
}

function wasOvertaken(error: unknown): boolean {
  return error instanceof TransactionConflictException || wasCancelledFor(error, ...passing);
}
