import { ok } from '#shared/kernel/result.ts';
import type { Checked, DynaliteOperation, Item, Store } from './dynalite.ts';
import { check, conditionHolds, itemSize, run } from './dynalite.ts';
import { type Input, isRecord, keyOf, must } from './tables.ts';
import type { Need } from './policy.ts';
import { itemNeed } from './table-needs.ts';
import {
  type AwsAnswer,
  type AwsOperation,
  type Caller,
  type Restore,
  notCovered,
  refuse,
  snapshotOf,
} from './wire.ts';

const TOKEN_LIFETIME = 10 * 60_000;
const MAX_TRANSACTION = 100;
const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024;

type Refusal = Extract<AwsAnswer, { ok: false }>;

/**
 * Transactions of writes, which dynalite lacks. No other operation may run meanwhile.
 * @param note called with the writes that have been carried out
 */
export function createTransactions(
  store: Store,
  now: () => number,
  note: (writes: readonly Input[]) => Promise<void>,
): { readonly operations: ReadonlyMap<string, AwsOperation>; readonly snapshot: () => Restore } {
  const carriedOut = new Map<string, { readonly at: number; readonly request: string }>();

  async function transactWrite(input: Input, { authorize }: Pick<Caller, 'authorize'>): Promise<AwsAnswer> {
    const { TransactItems: entries, ClientRequestToken: token, ...rest } = input;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) return notCovered(`DynamoDB TransactWriteItems with ${unknown}`);
    const list = writesOf(entries);
    if (!list.ok) return list;
    const denied = authorize(await needsOfWrites(store, list.value));
    if (denied !== undefined) return denied;
    const request = JSON.stringify(entries);
    for (const [known, { at }] of carriedOut) if (at + TOKEN_LIFETIME <= now()) carriedOut.delete(known);
    const earlier = typeof token === 'string' ? carriedOut.get(token) : undefined;
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
    if (answer.ok && typeof token === 'string') carriedOut.set(token, { at: now(), request });
    return answer;
  }

  return {
    operations: new Map<string, AwsOperation>([['TransactWriteItems', transactWrite]]),
    snapshot: () => snapshotOf(carriedOut),
  };
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
  // A condition without a write is checked as a delete's condition is, and then not carried out.
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

/** A transaction is allowed by what its parts are ("IAM and DynamoDB transactions"). */
async function needsOfWrites(store: Store, writes: readonly Write[]): Promise<readonly Need[]> {
  const needs: Need[] = [];
  for (const { kind, input } of writes)
    needs.push(
      await itemNeed(store, kind === 'ConditionCheck' ? 'ConditionCheckItem' : writeOperations[kind], input),
    );
  return needs;
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
  const bytes = writes.map(({ kind, input }, at) =>
    itemSize((kind === 'Put' ? (input['Item'] as Item) : before[at]?.item) ?? {}),
  );
  if (bytes.reduce((sum, size) => sum + size, 0) > MAX_TRANSACTION_BYTES)
    return refuse('ValidationException', 'The items of a transaction cannot exceed 4 MB together');
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

function isWriteKind(kind: string | undefined): kind is Write['kind'] {
  return kind !== undefined && Object.hasOwn(writeOperations, kind);
}
