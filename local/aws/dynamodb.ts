import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Checked, DynaliteOperation, Item, Store } from './dynalite.ts';
import { check, conditionHolds, createStore, dynaliteOperations, keyAttributes, run } from './dynalite.ts';
import { createMutex } from './mutex.ts';
import { createPointInTime } from './point-in-time.ts';
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

/** DynamoDB deletes nothing whose expiry lies further back than this: such a number is taken for a mistake. */
const FIVE_YEARS = 5 * 365.25 * 86_400;
const TOKEN_LIFETIME = 10 * 60_000;
const MAX_TRANSACTION = 100;

/**
 * DynamoDB in memory: dynalite, and what it lacks: `ReturnValuesOnConditionCheckFailure`, transactions, time to live, point-in-time
 * recovery. All operations pass one mutex, so that a condition, the item it failed on and a whole transaction are always of one moment.
 * Not covered: streams, PartiQL, backups on demand; an empty string in a key attribute of a global index is let through.
 */
export function createDynamoDb(now: () => number): DynamoDbEmulator {
  const store = createStore();
  const exclusive = createMutex();
  const ttlAttributes = new Map<string, string>();
  const transactions = new Map<string, { readonly at: number; readonly request: string }>();
  const pointInTime = createPointInTime(now, createRestored);

  const operations = new Map<string, AwsOperation>(
    dynaliteOperations.map((operation) => [operation, (input) => exclusive(() => execute(operation, input))]),
  );
  operations.set('TransactWriteItems', (input) => exclusive(() => transactWrite(input)));
  operations.set('TransactGetItems', (input) => exclusive(() => transactGet(store, input)));
  operations.set('UpdateTimeToLive', (input) => exclusive(() => updateTimeToLive(input)));
  operations.set('DescribeTimeToLive', (input) => exclusive(() => describeTimeToLive(input)));

  for (const [name, work] of pointInTime.operations) {
    operations.set(name, (input, hungUp) => exclusive(() => work(input, hungUp)));
  }

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
      pointInTime.note(table, key, await read(store, table, key));
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
    await untilActive(target);
    for (const item of items) must(await run(store, 'PutItem', { TableName: target, Item: item }));
    return created;
  }

  async function untilActive(tableName: string): Promise<void> {
    for (;;) {
      const { Table } = must(await run(store, 'DescribeTable', { TableName: tableName })) as {
        readonly Table: { readonly TableStatus: string };
      };
      if (Table.TableStatus === 'ACTIVE') return;
    }
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
    if (answer.ok) await note(list.value.map((write) => write.input));
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
    pointInTime.note(table, key, undefined);
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
    const others = [snapshotOf(ttlAttributes), snapshotOf(transactions), pointInTime.snapshot()];
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
      await untilActive(tableName);
      if (recoverable) pointInTime.enable(tableName);
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

/** The writes of a BatchWriteItem, each with its table. */
function batchWrites(input: Input): readonly Input[] {
  return Object.entries(input['RequestItems'] as Readonly<Record<string, readonly Input[]>>).flatMap(
    ([table, requests]) =>
      requests.flatMap((request) =>
        Object.values(request).map((write) => ({ TableName: table, ...(write as Input) })),
      ),
  );
}

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
