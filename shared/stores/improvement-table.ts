import {
  PutItemCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { randomFraction } from '#shared/kernel/random.ts';
import { isOvertaken, placeInLineage } from '#shared/improvement/lineage.ts';
import { isOpen, isTerminal, improvementRunStates } from '#shared/improvement/records.ts';
import type { ImprovementStore, OrderRecord, RunKey, RunRecord } from '#shared/improvement/records.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import { changeExpression, didHold, getItem, integer, queryItems } from './dynamo.ts';
import type { Change, Item, ItemKey } from './dynamo.ts';
import * as items from './improvement-items.ts';

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
  const TableName = tableName;
  const persist = <T>(write: (attempt: number) => Promise<T>): Promise<T> => writeAgain(write, ports);
  const get = (key: ItemKey): Promise<Item | undefined> => getItem(client, TableName, key);

  async function itemsOf(
    run: RunKey,
    { from, to }: { from: string; to: string },
    limit?: number,
  ): Promise<readonly Item[]> {
    const values = { ':from': { S: from }, ':to': { S: to } };
    const range = { condition: 'sk BETWEEN :from AND :to', values };
    return Array.fromAsync(queryItems(client, TableName, items.runPartition(run), { range, limit }));
  }

  const updateOf = (key: ItemKey, change: Change) => ({ TableName, Key: key, ...changeExpression(change) });

  /** False when the condition did not hold. */
  const update = (key: ItemKey, change: Change): Promise<boolean> =>
    persist(() => didHold(client.send(new UpdateItemCommand(updateOf(key, change)))));

  const createOf = (item: Item) => ({
    TableName,
    Item: item,
    ConditionExpression: 'attribute_not_exists(pk)',
  });

  async function transact(writes: readonly TransactWriteItem[]): Promise<void> {
    await client.send(new TransactWriteItemsCommand({ TransactItems: [...writes] }));
  }

  const store: ImprovementStore = {
    async createRun(created) {
      const run: RunRecord = { ...created, state: 'queued', touchedAt: created.createdAt, sweeps: 0 };
      const made = [...items.runItems(run), items.openItem(run)];
      return persist(async (attempt) => {
        const standing = attempt === 0 ? undefined : await store.readRun(run);
        if (standing !== undefined) return standing;
        await transact(made.map((item) => ({ Put: createOf(item) })));
        return run;
      });
    },

    readRun: async (key) => items.runOf(await itemsOf(key, items.runOnly)),

    async readSummary(key) {
      const item = await get(items.runKey(key));
      return item && items.summaryOf(item);
    },

    async readProgress(key) {
      const found = await itemsOf(key, items.wholeRun);
      const run = items.runOf(found);
      return run && { run, evidence: items.evidenceAmong(found), orders: items.ordersAmong(found) };
    },

    async readEvidence(key, evidence) {
      const item = await get(items.evidenceKey(key, evidence));
      return item && items.evidenceOf(item);
    },

    listOrders: async (key, { after, limit }) =>
      items.ordersAmong(await itemsOf(key, items.ordersAfter(after), limit)),

    async moveRun(key, from, to, now) {
      const movable = from.filter((state) => !isTerminal(state));
      if (movable.length === 0) return false;
      const states = listed('from', movable);
      const columns: Item = {
        state: { S: to.state },
        touchedAt: integer.encode(now),
        ...(to.state === 'blocked_upstream' ? { parkedAt: integer.encode(now) } : {}),
        ...('completedAt' in to ? { completedAt: integer.encode(to.completedAt) } : {}),
        ...('receipt' in to ? items.receiptColumns(to.receipt) : {}),
      };
      const { set, values } = settingOf(columns);
      const condition = `#state IN (${states.names})`;
      const change = { set, condition, values: { ...values, ...states.values } };
      if (!isTerminal(to.state)) return update(items.runKey(key), change);
      return persist(async () => {
        const item = await get(items.runKey(key));
        if (item === undefined || !movable.includes(items.summaryOf(item).state)) return false;
        await transact([
          { Update: updateOf(items.runKey(key), change) },
          { Delete: { TableName, Key: items.openKey(items.openRunOf(item)) } },
        ]);
        return true;
      });
    },

    async beginRun(key, recorded, now) {
      const values = {
        ...going.values,
        ':now': integer.encode(now),
        ':none': integer.encode(0),
        ':one': integer.encode(1),
      };
      const hasGotOn = await update(items.runKey(key), {
        set: '#touchedAt = :now, #sweeps = :none, #tries = :one, #recorded = :recorded',
        condition: `#state IN (${going.names}) AND #recorded < :recorded`,
        values: { ...values, ':recorded': integer.encode(recorded) },
      });
      if (hasGotOn) return;
      await update(items.runKey(key), {
        set: '#touchedAt = :now, #sweeps = :none, #tries = #tries + :one',
        condition: `#state IN (${going.names})`,
        values,
      });
    },

    async touchRun(key, by, now, seen) {
      await update(items.runKey(key), {
        set: `#touchedAt = :now, ${by === 'worker' ? '#tries = :count' : '#sweeps = #sweeps + :count'}`,
        condition: `#state IN (${going.names})${seen === undefined ? '' : ' AND #touchedAt = :seen'}`,
        values: {
          ...going.values,
          ':now': integer.encode(now),
          ':count': integer.encode(by === 'worker' ? 0 : 1),
          ...(seen === undefined ? {} : { ':seen': integer.encode(seen) }),
        },
      });
    },

    async putEvidence(key, evidence) {
      const item = items.evidenceItem(key, evidence);
      await persist(() => didHold(client.send(new PutItemCommand(createOf(item)))));
    },

    async openOrder(run, order, now) {
      const { tenantId } = run;
      const { revisionOrderId, evidence, targetModule, lineage } = order;
      const recordKey = items.orderKey(run, revisionOrderId);
      const lineageKey = items.headKey(tenantId, lineage);
      return persist(async () => {
        const [recorded, headFound] = await Promise.all([get(recordKey), get(lineageKey)]);
        if (recorded !== undefined) return items.orderOf(recorded);
        const seen = headFound && items.headOf(headFound);
        // After the head: whatever is read of its lineage holds as long as the head has the version that was seen.
        const formerFound =
          seen === undefined || seen.head.revisionOrderId === revisionOrderId
            ? undefined
            : await get(items.formerKey(tenantId, lineage, revisionOrderId));
        const place = placeInLineage(
          seen?.head,
          formerFound && items.formerOf(formerFound),
          run,
          revisionOrderId,
        );
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
        const writes: TransactWriteItem[] = [{ Put: createOf(items.orderItem(run, record)) }];
        if (place.head !== undefined) {
          const item = items.headItem(lineageKey, { head: place.head, version: (seen?.version ?? 0) + 1 });
          const whileSeen = seen && {
            ConditionExpression: '#version = :seen',
            ExpressionAttributeNames: { '#version': 'version' },
            ExpressionAttributeValues: { ':seen': integer.encode(seen.version) },
          };
          writes.push({ Put: { ...createOf(item), ...whileSeen } });
        }
        if (place.former !== undefined) {
          const key = items.formerKey(tenantId, lineage, place.former.revisionOrderId);
          writes.push({ Put: { TableName, Item: items.formerItem(key, place.former) } });
        }
        for (const improvementRunId of place.supersededIn) {
          const key = items.orderKey({ tenantId, improvementRunId }, seen?.head.revisionOrderId ?? '');
          writes.push({
            Update: updateOf(key, {
              set: '#status = :superseded, #updatedAt = :now',
              condition: 'attribute_exists(#status)',
              values: { ':superseded': { S: 'superseded' }, ':now': integer.encode(now) },
            }),
          });
        }
        await transact(writes);
        return record;
      });
    },

    async confirmOrder(key, { revisionOrderId, lineage }, now) {
      const at = items.orderKey(key, revisionOrderId);
      const [item, headFound] = await Promise.all([get(at), get(items.headKey(key.tenantId, lineage))]);
      const record = item && items.orderOf(item);
      if (record === undefined || headFound === undefined) return record;
      if (!isOpen(record) || !isOvertaken(items.headOf(headFound).head, key, revisionOrderId)) return record;
      await update(at, {
        set: '#status = :status, #updatedAt = :now',
        condition: whileOpen.condition,
        values: { ...whileOpen.values, ':status': { S: 'superseded' }, ':now': integer.encode(now) },
      });
      const moved = await get(at);
      return moved && items.orderOf(moved);
    },

    async moveOrder(key, revisionOrderId, to, now) {
      const at = items.orderKey(key, revisionOrderId);
      if (!('ack' in to)) {
        return update(at, {
          set: '#status = :status, #updatedAt = :now, #blockedAt = :now',
          condition: whileOpen.condition,
          values: { ...whileOpen.values, ':status': { S: to.status }, ':now': integer.encode(now) },
        });
      }
      const { receiptId, version: receiptVersion, observedAt } = to.ack;
      const acknowledged = settingOf({
        ...items.ackColumns.encode({ receiptId, receiptVersion, observedAt }),
        updatedAt: integer.encode(now),
      });
      const isMoved = await update(at, {
        set: `#status = :status, ${acknowledged.set}`,
        condition: whileOpen.condition,
        values: { ...whileOpen.values, ...acknowledged.values, ':status': { S: to.status } },
      });
      if (isMoved) return true;
      // No order is opened again: one that is not superseded now will not be either.
      return update(at, {
        set: acknowledged.set,
        condition: '#status = :superseded AND attribute_not_exists(#receiptId)',
        values: { ...acknowledged.values, ':superseded': { S: 'superseded' } },
      });
    },

    async *listOpen(of) {
      const condition = 'begins_with(sk, :prefix)';
      const range = of && { condition, values: { ':prefix': { S: items.openPrefix(of) } } };
      for await (const item of queryItems(client, TableName, items.openPartition, { range }))
        yield items.openRunOf(item);
    },
  };

  return store;
}

/** Sets columns, each to the operand of its name. */
function settingOf(columns: Item): Pick<Change, 'set' | 'values'> {
  const names = Object.keys(columns);
  return {
    set: names.map((name) => `#${name} = :${name}`).join(', '),
    values: Object.fromEntries(Object.entries(columns).map(([name, value]) => [`:${name}`, value])),
  };
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
