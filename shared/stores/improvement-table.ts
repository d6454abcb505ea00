import {
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { randomFraction } from '#shared/kernel/random.ts';
import { isOvertaken, placeInLineage } from '#shared/improvement/lineage.ts';
import type { FormerOrder } from '#shared/improvement/lineage.ts';
import { isOpen, isTerminal, improvementRunStates } from '#shared/improvement/records.ts';
import type {
  ImprovementStore,
  OrderRecord,
  RunRecord,
  ImprovementRunState,
} from '#shared/improvement/records.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import {
  evidenceAmong,
  evidenceItem,
  evidenceKey,
  evidenceOf,
  formerItem,
  formerKey,
  formerOf,
  headItem,
  headKey,
  headOf,
  lineagePartition,
  number,
  openItem,
  openKey,
  openPartition,
  openPrefix,
  openRunOf,
  orderItem,
  orderKey,
  orderOf,
  ordersAfter,
  ordersAmong,
  receiptColumns,
  runItems,
  runKey,
  runOf,
  runOnly,
  runPartition,
  summaryOf,
  wholeRun,
} from './improvement-items.ts';
import type { Item, ItemKey } from './improvement-items.ts';

/** How often a write is made before it is given up because of others that are at work on the same items. */
const ATTEMPTS = 10;
/** Milliseconds between two attempts: less than the first, doubled with every attempt, never more than the second. */
const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 800;

/** Reasons of a cancelled transaction that another attempt may not meet. */
const passing: ReadonlySet<string> = new Set([
  'None',
  'ConditionalCheckFailed',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

/** An update of one item, with the condition under which it is made. */
interface Update {
  readonly set: string;
  readonly condition: string;
  readonly values: Item;
}

/**
 * The table `improvement` in DynamoDB. One run is one partition (state, pins, evidence, orders, in this order, in which they are read too),
 * the list of open runs is one, and every lineage of orders is one: its current order under a version that each change counts up, and what
 * former ones superseded. Reads are strongly consistent and need `dynamodb:GetItem` and `Query`, writes `PutItem`, `UpdateItem` and `DeleteItem` too
 * (the rights of their transactions).
 */
export function createImprovementTable(
  client: DynamoDBClient,
  tableName: string,
  ports: Pick<Runtime, 'sleep' | 'random'>,
): ImprovementStore {
  const persist = <T>(write: (attempt: number) => Promise<T>): Promise<T> => writeAgain(write, ports);
  const TableName = tableName;

  async function get(key: ItemKey): Promise<Item | undefined> {
    const { Item: item } = await client.send(
      new GetItemCommand({ TableName, Key: key, ConsistentRead: true }),
    );
    return item;
  }

  /** The items of a range of a partition, ascending. */
  async function* query(pk: string, condition: string, values: Item, limit?: number): AsyncGenerator<Item> {
    let from: Item | undefined;
    let left = limit;
    do {
      const page = await client.send(
        new QueryCommand({
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: `pk = :pk AND ${condition}`,
          ExpressionAttributeValues: { ':pk': { S: pk }, ...values },
          ...(left === undefined ? {} : { Limit: left }),
          ...(from === undefined ? {} : { ExclusiveStartKey: from }),
        }),
      );
      const items = page.Items ?? [];
      yield* items;
      if (left !== undefined) left -= items.length;
      from = page.LastEvaluatedKey;
    } while (from !== undefined && left !== 0);
  }

  async function range(
    pk: string,
    { from, to }: { from: string; to: string },
    limit?: number,
  ): Promise<Item[]> {
    const items: Item[] = [];
    const values = { ':from': { S: from }, ':to': { S: to } };
    for await (const item of query(pk, 'sk BETWEEN :from AND :to', values, limit)) items.push(item);
    return items;
  }

  /** False when the condition did not hold. */
  async function update(key: ItemKey, change: Update): Promise<boolean> {
    return persist(() => conditional(() => client.send(new UpdateItemCommand(updateOf(key, change)))));
  }

  function updateOf(key: ItemKey, { set, condition, values }: Update) {
    const names = [...`${set} ${condition}`.matchAll(/#(\w+)/g)].map(([, name = '']) => name);
    return {
      TableName,
      Key: key,
      UpdateExpression: `SET ${set}`,
      ConditionExpression: condition,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: values,
    };
  }

  const create = (item: Item): TransactWriteItem => ({
    Put: { TableName, Item: item, ConditionExpression: 'attribute_not_exists(pk)' },
  });

  async function transact(writes: readonly TransactWriteItem[]): Promise<void> {
    await client.send(new TransactWriteItemsCommand({ TransactItems: [...writes] }));
  }

  const store: ImprovementStore = {
    async createRun(created) {
      const run: RunRecord = { ...created, state: 'queued', touchedAt: created.createdAt, sweeps: 0 };
      const items = runItems(demanded(runPartition(run)), run);
      const open = openItem(demanded(openKey(run)), run);
      return persist(async (attempt) => {
        const standing = attempt === 0 ? undefined : await store.readRun(run);
        if (standing !== undefined) return standing;
        await transact([create(items.run), ...items.pins.map(create), create(open)]);
        return run;
      });
    },

    async readRun(key) {
      const pk = runPartition(key);
      return pk === undefined ? undefined : runOf(await range(pk, runOnly));
    },

    async readSummary(key) {
      const pk = runPartition(key);
      const item = pk === undefined ? undefined : await get(runKey(pk));
      return item === undefined ? undefined : summaryOf(item);
    },

    async readProgress(key) {
      const pk = runPartition(key);
      const items = pk === undefined ? [] : await range(pk, wholeRun);
      const run = runOf(items);
      return run === undefined
        ? undefined
        : { run, evidence: evidenceAmong(items), orders: ordersAmong(items) };
    },

    async readEvidence(key, evidence) {
      const pk = runPartition(key);
      const at = pk === undefined ? undefined : evidenceKey(pk, evidence);
      const item = at === undefined ? undefined : await get(at);
      return item === undefined ? undefined : evidenceOf(item);
    },

    async listOrders(key, { after, limit }) {
      const pk = runPartition(key);
      const keys = ordersAfter(after);
      return pk === undefined || keys === undefined ? [] : ordersAmong(await range(pk, keys, limit));
    },

    async moveRun(key, from, to, now) {
      const pk = runPartition(key);
      const movable = from.filter((state) => !isTerminal(state));
      if (pk === undefined || movable.length === 0) return false;
      const states = listed('from', movable);
      const columns: Item = {
        state: { S: to.state },
        touchedAt: number(now),
        ...(to.state === 'blocked_upstream' ? { parkedAt: number(now) } : {}),
        ...('completedAt' in to ? { completedAt: number(to.completedAt) } : {}),
        ...('receipt' in to ? receiptColumns(to.receipt) : {}),
      };
      const change: Update = {
        set: Object.keys(columns)
          .map((name) => `#${name} = :${name}`)
          .join(', '),
        condition: `#state IN (${states.names})`,
        values: {
          ...Object.fromEntries(Object.entries(columns).map(([name, value]) => [`:${name}`, value])),
          ...states.values,
        },
      };
      if (!isTerminal(to.state)) return update(runKey(pk), change);
      return persist(async () => {
        const item = await get(runKey(pk));
        if (item === undefined || !movable.includes(item['state']?.S as ImprovementRunState)) return false;
        const open = demanded(openKey(openRunOf(item)));
        await transact([{ Update: updateOf(runKey(pk), change) }, { Delete: { TableName, Key: open } }]);
        return true;
      });
    },

    async beginRun(key, recorded, now) {
      const pk = runPartition(key);
      if (pk === undefined) return;
      const values = { ...going.values, ':now': number(now), ':none': number(0), ':one': number(1) };
      const hasGotOn = await update(runKey(pk), {
        set: '#touchedAt = :now, #sweeps = :none, #tries = :one, #recorded = :recorded',
        condition: `#state IN (${going.names}) AND #recorded < :recorded`,
        values: { ...values, ':recorded': number(recorded) },
      });
      if (hasGotOn) return;
      await update(runKey(pk), {
        set: '#touchedAt = :now, #sweeps = :none, #tries = #tries + :one',
        condition: `#state IN (${going.names})`,
        values,
      });
    },

    async touchRun(key, by, now, seen) {
      const pk = runPartition(key);
      if (pk === undefined) return;
      await update(runKey(pk), {
        set: `#touchedAt = :now, ${by === 'worker' ? '#tries = :count' : '#sweeps = #sweeps + :count'}`,
        condition: `#state IN (${going.names})${seen === undefined ? '' : ' AND #touchedAt = :seen'}`,
        values: {
          ...going.values,
          ':now': number(now),
          ':count': number(by === 'worker' ? 0 : 1),
          ...(seen === undefined ? {} : { ':seen': number(seen) }),
        },
      });
    },

    async putEvidence(key, evidence) {
      const item = evidenceItem(demanded(evidenceKey(demanded(runPartition(key)), evidence.key)), evidence);
      await persist(() =>
        conditional(() =>
          client.send(
            new PutItemCommand({ TableName, Item: item, ConditionExpression: 'attribute_not_exists(pk)' }),
          ),
        ),
      );
    },

    async openOrder(run, order, now) {
      const { revisionOrderId, evidence, targetModule, lineage } = order;
      const recordKey = demanded(orderKey(demanded(runPartition(run)), revisionOrderId));
      const family = demanded(lineagePartition(run.tenantId, lineage));
      return persist(async () => {
        const [recorded, headFound] = await Promise.all([get(recordKey), get(headKey(family))]);
        if (recorded !== undefined) return orderOf(recorded);
        const seen = headFound === undefined ? undefined : headOf(headFound);
        // After the head: whatever is read of its lineage holds as long as the head has the version that was seen.
        const former =
          seen === undefined || seen.head.revisionOrderId === revisionOrderId
            ? undefined
            : await readFormer(family, revisionOrderId);
        const place = placeInLineage(seen?.head, former, run, revisionOrderId);
        const record: OrderRecord = {
          revisionOrderId,
          evidence,
          targetModule,
          lineage,
          status: place.status,
          supersedesRevisionOrderId: place.supersedesRevisionOrderId,
          ack: null,
          createdAt: run.createdAt,
          updatedAt: Math.max(run.createdAt, now),
        };
        const writes: TransactWriteItem[] = [create(orderItem(recordKey, record))];
        if (place.head !== undefined) {
          const item = headItem(family, { head: place.head, version: (seen?.version ?? 0) + 1 });
          writes.push(
            seen === undefined
              ? create(item)
              : {
                  Put: {
                    TableName,
                    Item: item,
                    ConditionExpression: '#version = :seen',
                    ExpressionAttributeNames: { '#version': 'version' },
                    ExpressionAttributeValues: { ':seen': number(seen.version) },
                  },
                },
          );
        }
        if (place.former !== undefined) {
          const key = demanded(formerKey(family, place.former.revisionOrderId));
          writes.push({ Put: { TableName, Item: formerItem(key, place.former) } });
        }
        if (seen !== undefined) {
          for (const improvementRunId of place.supersededIn) {
            const partition = demanded(runPartition({ tenantId: run.tenantId, improvementRunId }));
            const key = demanded(orderKey(partition, seen.head.revisionOrderId));
            writes.push({
              Update: updateOf(key, {
                set: '#status = :superseded, #updatedAt = :now',
                condition: 'attribute_exists(#status)',
                values: { ':superseded': { S: 'superseded' }, ':now': number(now) },
              }),
            });
          }
        }
        await transact(writes);
        return record;
      });
    },

    async confirmOrder(key, { revisionOrderId, lineage }, now) {
      const pk = runPartition(key);
      const at = pk === undefined ? undefined : orderKey(pk, revisionOrderId);
      const family = lineagePartition(key.tenantId, lineage);
      if (at === undefined || family === undefined) return undefined;
      const [item, headFound] = await Promise.all([get(at), get(headKey(family))]);
      const record = item === undefined ? undefined : orderOf(item);
      if (record === undefined || headFound === undefined) return record;
      if (!isOpen(record) || !isOvertaken(headOf(headFound).head, key, revisionOrderId)) return record;
      await update(at, {
        set: '#status = :status, #updatedAt = :now',
        condition: whileOpen.condition,
        values: { ...whileOpen.values, ':status': { S: 'superseded' }, ':now': number(now) },
      });
      const moved = await get(at);
      return moved === undefined ? undefined : orderOf(moved);
    },

    async moveOrder(key, revisionOrderId, to, now) {
      const pk = runPartition(key);
      const at = pk === undefined ? undefined : orderKey(pk, revisionOrderId);
      if (at === undefined) return false;
      const moved = { ':status': { S: to.status }, ':now': number(now) };
      if (!('ack' in to)) {
        return update(at, {
          set: '#status = :status, #updatedAt = :now, #blockedAt = :now',
          condition: whileOpen.condition,
          values: { ...whileOpen.values, ...moved },
        });
      }
      const acknowledge =
        '#updatedAt = :now, #receiptId = :id, #receiptVersion = :version, #observedAt = :observedAt';
      const acknowledged = {
        ':id': { S: to.ack.receiptId },
        ':version': { S: to.ack.version },
        ':observedAt': number(to.ack.observedAt),
      };
      const isMoved = await update(at, {
        set: `#status = :status, ${acknowledge}`,
        condition: whileOpen.condition,
        values: { ...whileOpen.values, ...moved, ...acknowledged },
      });
      if (isMoved) return true;
      // No order is opened again: one that is not superseded now will not be either.
      return update(at, {
        set: acknowledge,
        condition: '#status = :superseded AND attribute_not_exists(#receiptId)',
        values: { ':superseded': { S: 'superseded' }, ':now': number(now), ...acknowledged },
      });
    },

    async *listOpen(of) {
      const prefix = of === undefined ? undefined : openPrefix(of);
      if (of !== undefined && prefix === undefined) return;
      const items =
        prefix === undefined
          ? query(openPartition, 'sk >= :first', { ':first': { S: '0' } })
          : query(openPartition, 'begins_with(sk, :prefix)', { ':prefix': { S: prefix } });
      for await (const item of items) yield openRunOf(item);
    },
  };

  async function readFormer(family: string, revisionOrderId: string): Promise<FormerOrder | undefined> {
    const item = await get(demanded(formerKey(family, revisionOrderId)));
    return item === undefined ? undefined : formerOf(item);
  }

  return store;
}

/** The condition that a run has not ended. */
const going = listed(
  'going',
  improvementRunStates.filter((state) => !isTerminal(state)),
);

/** The condition that an order still has to reach its receiver. */
const whileOpen = {
  condition: '#status IN (:pending, :blocked)',
  values: { ':pending': { S: 'pending' }, ':blocked': { S: 'blocked_upstream' } },
} as const;

/** Operands of `IN` with their values. */
function listed(name: string, values: readonly string[]): { readonly names: string; readonly values: Item } {
  const entries = values.map((value, index) => [`:${name}${index}`, { S: value }] as const);
  return { names: entries.map(([operand]) => operand).join(', '), values: Object.fromEntries(entries) };
}

/** A key without which nothing can be written. */
function demanded<T>(key: T | undefined): T {
  if (key === undefined) throw new RangeError('improvement table: an id that no key can hold');
  return key;
}

/** False when the condition of a write did not hold. */
async function conditional(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** Makes a write again, reading anew what it rests on, as long as others are at work on the same items. */
async function writeAgain<T>(
  write: (attempt: number) => Promise<T>,
  { sleep, random }: Pick<Runtime, 'sleep' | 'random'>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await write(attempt);
    } catch (error) {
      if (attempt + 1 >= ATTEMPTS || !wasOvertaken(error)) throw error;
    }
    await sleep(randomFraction(random) * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** attempt));
  }
}

function wasOvertaken(error: unknown): boolean {
  if (error instanceof TransactionConflictException) return true;
  if (!(error instanceof TransactionCanceledException)) return false;
  return (error.CancellationReasons ?? []).every(({ Code = 'None' }) => passing.has(Code));
}
