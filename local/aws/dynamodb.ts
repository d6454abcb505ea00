import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Checked, DynaliteOperation, Item, Store } from './dynalite.ts';
import { check, conditionHolds, createStore, dynaliteOperations, keyAttributes, run } from './dynalite.ts';
import { createMutex } from './mutex.ts';
import type { AwsAnswer, AwsOperation, AwsService, Restore } from './wire.ts';
import { notCovered, refuse, snapshotOf } from './wire.ts';

type Input = Readonly<Record<string, unknown>>;

/** A table as the emulator creates it: string keys, on demand. */
export interface LocalTable {
  readonly tableName: string;
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** The attribute, in seconds since the epoch, after which the sweep may delete an item. */
  readonly ttl?: string;
}

interface DynamoDbEmulator extends AwsService {
  /** Creates a table and waits until it is active. Throws when it exists. */
  createTable(table: LocalTable): Promise<void>;
  /** Deletes the items that have expired by `now` (milliseconds), as DynamoDB does some time after the fact. Returns how many. */
  sweepExpired(now: number): Promise<number>;
  close(): Promise<void>;
}

/** DynamoDB deletes nothing whose expiry lies further back than this: such a number is taken for a mistake. */
const FIVE_YEARS = 5 * 365.25 * 86_400;
const TOKEN_LIFETIME = 10 * 60_000;
const MAX_TRANSACTION = 100;

/**
 * DynamoDB in memory: dynalite, and what it lacks: `ReturnValuesOnConditionCheckFailure`, transactions, time to live. All operations
 * pass one mutex, so that a condition, the item it failed on and a whole transaction are always of one moment.
 * Not covered: streams, PartiQL, point-in-time recovery; an empty string in a key attribute of a global index is let through.
 */
export function createDynamoDb(now: () => number): DynamoDbEmulator {
  const store = createStore();
  const exclusive = createMutex();
  const ttlAttributes = new Map<string, string>();
  const transactions = new Map<string, { readonly at: number; readonly request: string }>();

  const operations = new Map<string, AwsOperation>(
    dynaliteOperations.map((operation) => [operation, (input) => exclusive(() => execute(operation, input))]),
  );
  operations.set('TransactWriteItems', (input) => exclusive(() => transactWrite(input)));
  operations.set('TransactGetItems', (input) => exclusive(() => transactGet(store, input)));
  operations.set('UpdateTimeToLive', (input) => exclusive(() => updateTimeToLive(input)));
  operations.set('DescribeTimeToLive', (input) => exclusive(() => describeTimeToLive(input)));

  async function execute(operation: DynaliteOperation, input: Input): Promise<AwsAnswer> {
    const { ReturnValuesOnConditionCheckFailure: wanted, ...rest } = input;
    if (wanted === undefined || !conditional.has(operation)) return run(store, operation, input);
    const answer = await run(store, operation, rest);
    if (answer.ok || wanted !== 'ALL_OLD' || !isConditionFailure(answer.error.type)) return answer;
    const existing = await read(store, String(rest['TableName']), await keyOf(store, rest));
    return existing === undefined
      ? answer
      : refuse('ConditionalCheckFailedException', answer.error.message, { Item: existing });
  }

  async function transactWrite(input: Input): Promise<AwsAnswer> {
    const { TransactItems: entries, ClientRequestToken: token, ...rest } = input;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) return notCovered(`DynamoDB TransactWriteItems with ${unknown}`);
    const list = writesOf(entries);
    if (!list.ok) return list;
    const request = JSON.stringify(entries);
    for (const [known, { at }] of transactions) if (at + TOKEN_LIFETIME <= now()) transactions.delete(known);
    const earlier = typeof token === 'string' ? transactions.get(token) : undefined;
    if (earlier !== undefined) {
      return earlier.request === request
        ? ok({})
        : refuse(
            'IdempotentParameterMismatchException',
            'The request uses the same client token as a previous, but non-identical request.',
          );
    }
    const answer = await applyTransaction(store, list.value);
    if (answer.ok && typeof token === 'string') transactions.set(token, { at: now(), request });
    return answer;
  }

  async function updateTimeToLive(input: Input): Promise<AwsAnswer> {
    const table = String(input['TableName']);
    const described = await run(store, 'DescribeTable', { TableName: table });
    if (!described.ok) return described;
    const wanted = input['TimeToLiveSpecification'];
    if (!isRecord(wanted) || typeof wanted['AttributeName'] !== 'string') {
      return refuse('ValidationException', 'TimeToLiveSpecification.AttributeName is required');
    }
    const enabled = wanted['Enabled'] === true;
    if (enabled === ttlAttributes.has(table)) {
      return refuse('ValidationException', `TimeToLive is already ${enabled ? 'enabled' : 'disabled'}`);
    }
    if (enabled) ttlAttributes.set(table, wanted['AttributeName']);
    else ttlAttributes.delete(table);
    return ok({ TimeToLiveSpecification: { AttributeName: wanted['AttributeName'], Enabled: enabled } });
  }

  async function describeTimeToLive(input: Input): Promise<AwsAnswer> {
    const table = String(input['TableName']);
    const described = await run(store, 'DescribeTable', { TableName: table });
    if (!described.ok) return described;
    const attribute = ttlAttributes.get(table);
    return ok({
      TimeToLiveDescription:
        attribute === undefined
          ? { TimeToLiveStatus: 'DISABLED' }
          : { TimeToLiveStatus: 'ENABLED', AttributeName: attribute },
    });
  }

  /** Every item of a table, page after page; what has been given may be deleted. */
  async function* itemsOf(table: string): AsyncGenerator<Item> {
    let from: Item | undefined;
    do {
      const page = must(
        await run(store, 'Scan', {
          TableName: table,
          ...(from === undefined ? {} : { ExclusiveStartKey: from }),
        }),
      ) as { readonly Items: readonly Item[]; readonly LastEvaluatedKey?: Item };
      yield* page.Items;
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
  }

  async function deleteItem(table: string, item: Item): Promise<void> {
    const key = await keyOf(store, { TableName: table, Item: item });
    must(await run(store, 'DeleteItem', { TableName: table, Key: key }));
  }

  async function sweepTable(table: string, attribute: string, seconds: number): Promise<number> {
    let deleted = 0;
    for await (const item of itemsOf(table)) {
      const expiry = Number(item[attribute]?.['N']);
      // An absent or non-numeric attribute is NaN, and no comparison with it holds.
      if (!(expiry < seconds && expiry > seconds - FIVE_YEARS)) continue;
      await deleteItem(table, item);
      deleted += 1;
    }
    return deleted;
  }

  /** The items by their text. */
  async function contentsOf(table: string): Promise<Map<string, Item>> {
    const contents = new Map<string, Item>();
    for await (const item of itemsOf(table)) contents.set(canonicalJson(item), item);
    return contents;
  }

  async function restoreTable(table: string, kept: ReadonlyMap<string, Item>): Promise<void> {
    const held = await contentsOf(table);
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
    for (const table of tables) kept.set(table, await contentsOf(table));
    const others = [snapshotOf(ttlAttributes), snapshotOf(transactions)];
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
    async createTable({ tableName, partitionKey, sortKey, ttl }) {
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
      for (;;) {
        const { Table } = must(await run(store, 'DescribeTable', { TableName: tableName })) as {
          readonly Table: { readonly TableStatus: string };
        };
        if (Table.TableStatus === 'ACTIVE') break;
      }
      if (ttl !== undefined) ttlAttributes.set(tableName, ttl);
    },
    sweepExpired: (at) =>
      exclusive(async () => {
        let deleted = 0;
        for (const [table, attribute] of ttlAttributes)
          deleted += await sweepTable(table, attribute, at / 1000);
        return deleted;
      }),
    close: () => exclusive(() => store.db.close()),
  };
}

const conditional: ReadonlySet<DynaliteOperation> = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

/** One write of a transaction, its request checked by dynalite and its key known only later. */
interface Write {
  readonly kind: 'Put' | 'Update' | 'Delete' | 'ConditionCheck';
  readonly input: Input;
  readonly wantsOld: boolean;
}

const writeOperations = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  // A condition alone is checked as a delete's condition is, and then not carried out.
  ConditionCheck: 'DeleteItem',
} as const satisfies Record<Write['kind'], DynaliteOperation>;

function writesOf(entries: unknown): { readonly ok: true; readonly value: readonly Write[] } | Refusal {
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MAX_TRANSACTION) {
    return refuse('ValidationException', `TransactItems must have 1 to ${MAX_TRANSACTION} members`);
  }
  const writes: Write[] = [];
  for (const entry of entries as unknown[]) {
    const [kind, ...others] = isRecord(entry) ? Object.keys(entry) : [];
    const body = isRecord(entry) && kind !== undefined ? entry[kind] : undefined;
    if (!isWriteKind(kind) || others.length > 0 || !isRecord(body)) {
      return refuse(
        'ValidationException',
        'TransactItems can only contain one of Check, Put, Update or Delete',
      );
    }
    const { ReturnValuesOnConditionCheckFailure: wanted, ...input } = body;
    writes.push({ kind, input, wantsOld: wanted === 'ALL_OLD' });
  }
  return ok(writes);
}

/** All conditions first, then the writes; should one of those still fail (an item that outgrows 400 KB), what was written is put back. */
async function applyTransaction(store: Store, writes: readonly Write[]): Promise<AwsAnswer> {
  const seen = new Set<string>();
  const before: { readonly table: string; readonly key: Item; readonly item: Item | undefined }[] = [];
  const reasons: object[] = [];
  for (const { kind, input, wantsOld } of writes) {
    const checked = check(store, writeOperations[kind], input);
    if (!checked.ok) return checked;
    const table = String(input['TableName']);
    const key = await keyOf(store, input);
    const identity = JSON.stringify([table, Object.entries(key).sort()]);
    if (seen.has(identity)) {
      return refuse(
        'ValidationException',
        'Transaction request cannot include multiple operations on one item',
      );
    }
    seen.add(identity);
    const found = await run(store, 'GetItem', { TableName: table, Key: key, ConsistentRead: true });
    if (!found.ok) return found;
    const item = (found.value as { readonly Item?: Item }).Item;
    before.push({ table, key, item });
    reasons.push(reasonFor(checked.value, item, wantsOld));
  }
  if (reasons.some((reason) => !('Code' in reason && reason.Code === 'None'))) return cancelled(reasons);
  for (const [index, { kind, input }] of writes.entries()) {
    if (kind === 'ConditionCheck') continue;
    const answer = await run(store, writeOperations[kind], input);
    if (answer.ok) continue;
    for (const { table, key, item } of before.slice(0, index)) {
      must(
        item === undefined
          ? await run(store, 'DeleteItem', { TableName: table, Key: key })
          : await run(store, 'PutItem', { TableName: table, Item: item }),
      );
    }
    return cancelled(
      writes.map((_, at) =>
        at === index ? { Code: 'ValidationError', Message: answer.error.message } : { Code: 'None' },
      ),
    );
  }
  return ok({});
}

function reasonFor(checked: Checked, item: Item | undefined, wantsOld: boolean): object {
  if (conditionHolds(checked, item)) return { Code: 'None' };
  return {
    Code: 'ConditionalCheckFailed',
    Message: 'The conditional request failed',
    ...(wantsOld && item !== undefined ? { Item: item } : {}),
  };
}

function cancelled(reasons: readonly object[]): Refusal {
  const codes = reasons.map((reason) => ('Code' in reason ? String(reason.Code) : '')).join(', ');
  return refuse(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}

async function transactGet(store: Store, input: Input): Promise<AwsAnswer> {
  const { TransactItems: entries, ...rest } = input;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return notCovered(`DynamoDB TransactGetItems with ${unknown}`);
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MAX_TRANSACTION) {
    return refuse('ValidationException', `TransactItems must have 1 to ${MAX_TRANSACTION} members`);
  }
  const responses: object[] = [];
  for (const entry of entries as unknown[]) {
    const get = isRecord(entry) ? entry['Get'] : undefined;
    if (!isRecord(get)) return refuse('ValidationException', 'TransactItems can only contain Get');
    const found = await run(store, 'GetItem', { ...get, ConsistentRead: true });
    if (!found.ok) return found;
    responses.push(found.value);
  }
  return ok({ Responses: responses });
}

type Refusal = Extract<AwsAnswer, { ok: false }>;

/** The key of a write: given as `Key`, or part of the `Item`. Empty for a table that does not exist; the operation itself then says so. */
async function keyOf(store: Store, input: Input): Promise<Item> {
  if (isRecord(input['Key'])) return input['Key'] as Item;
  const item = isRecord(input['Item']) ? (input['Item'] as Item) : {};
  const names = (await keyAttributes(store, String(input['TableName']))) ?? [];
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
}

async function read(store: Store, table: string, key: Item): Promise<Item | undefined> {
  const found = must(await run(store, 'GetItem', { TableName: table, Key: key, ConsistentRead: true }));
  return (found as { readonly Item?: Item }).Item;
}

function must(answer: AwsAnswer): object {
  if (!answer.ok) throw new Error(`local DynamoDB: ${answer.error.type}: ${answer.error.message}`);
  return answer.value;
}

function isConditionFailure(type: string): boolean {
  return type.endsWith('#ConditionalCheckFailedException');
}

function isWriteKind(kind: string | undefined): kind is Write['kind'] {
  return kind !== undefined && Object.hasOwn(writeOperations, kind);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
