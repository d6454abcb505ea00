import {
  ConditionalCheckFailedException,
  GetItemCommand,
  paginateQuery,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod';
import { formatInstant, parseInstant } from '#shared/kernel/instant.ts';
import { StoreOutage } from '#shared/kernel/store-calls.ts';

/*
 * What the tables share: the calls, and the columns that are not stored unchanged. An item that the schema of its columns rejects was not written by
 * this service: `parse` throws.
 */

/** An item, or the operands of a condition, as plain values. */
export type Item = Readonly<Record<string, unknown>>;

/** The key of one item of a table with partitions. */
export type ItemKey = Readonly<Record<'pk' | 'sk', string>>;

/** Returns values as DynamoDB takes them, without those that are undefined. Throws for an integer that no number can represent exactly. */
export function attributesOf(values: Item): Record<string, AttributeValue> {
  return marshall(values, { removeUndefinedValues: true });
}

/** Epoch milliseconds, stored as an RFC 3339 text. */
export const instant = z.codec(z.string(), z.int(), {
  decode: (written) => parseInstant(written) ?? Number.NaN,
  encode: formatInstant,
});

export const bytes = z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array);

/** What a table returned does not have the key that was asked for. Log lines name it. */
class AnotherItemError extends Error {
  override readonly name = 'AnotherItemError';
}

/** Returns an item of the table as plain values. Throws a StoreOutage if it does not have the key that was asked for: nothing may go by another's item. */
export function itemWith(key: Item, attributes: Record<string, AttributeValue>): Item {
  const item = unmarshall(attributes);
  if (Object.entries(key).some(([name, value]) => item[name] !== value))
    throw new StoreOutage(new AnotherItemError('the table returned another item'));
  return item;
}

/** Reads one item, strongly consistently. */
export async function getItem(
  client: DynamoDBClient,
  TableName: string,
  key: Item,
  abortSignal?: AbortSignal,
): Promise<Item | undefined> {
  const command = new GetItemCommand({ TableName, Key: attributesOf(key), ConsistentRead: true });
  const { Item: item } = await client.send(command, abortSignal === undefined ? {} : { abortSignal });
  return item && itemWith(key, item);
}

/** Reads the items of a partition, strongly consistently, ascending by their sort keys: all of them, or those of a range. */
export async function* queryItems(
  client: DynamoDBClient,
  TableName: string,
  pk: string,
  options: {
    /** A condition on the sort keys, with its operand. */
    readonly range?: { readonly condition: string; readonly ':sk': string } | undefined;
    /** Fewer items only at the end. */
    readonly limit?: number | undefined;
    readonly abortSignal?: AbortSignal | undefined;
  } = {},
): AsyncGenerator<Item> {
  const { range, limit, abortSignal } = options;
  const { condition, ...operand } = { condition: undefined, ...range };
  let left = limit ?? Number.POSITIVE_INFINITY;
  const pages = paginateQuery(
    { client },
    {
      TableName,
      ConsistentRead: true,
      KeyConditionExpression: condition === undefined ? 'pk = :pk' : `pk = :pk AND ${condition}`,
      ExpressionAttributeValues: attributesOf({ ':pk': pk, ...operand }),
      Limit: limit,
    },
    abortSignal === undefined ? {} : { abortSignal },
  );
  for await (const { Items: items = [] } of pages) {
    yield* items.slice(0, left).map((item) => itemWith({ pk }, item));
    left -= items.length;
    if (left <= 0) return;
  }
}

/** A change of one item, with its condition. A column of the condition is written as `#name`. */
export interface Change {
  /** The new values, named like their columns; the condition may compare with them, as `:name`. */
  readonly set: Item;
  /** The column of a number that increases by one. */
  readonly count?: string;
  readonly condition: string;
  readonly values: Item;
}
export type Condition = Pick<Change, 'condition' | 'values'>;

/** Returns the members of an update that express a change. No name of a column is a reserved word in it. */
export function changeExpression({
  set,
  count,
  condition,
  values,
}: Change): Required<
  Pick<
    UpdateItemCommandInput,
    'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
  >
> {
  const sets = Object.keys(set).map((name) => `#${name} = :${name}`);
  if (count !== undefined) sets.push(`#${count} = #${count} + :one`);
  const expression = `SET ${sets.join(', ')}`;
  const columns = [...`${expression} ${condition}`.matchAll(/#(\w+)/g)].map(([, name = '']) => name);
  const operands = Object.entries(set).map(([name, value]) => [`:${name}`, value] as const);
  return {
    UpdateExpression: expression,
    ConditionExpression: condition,
    ExpressionAttributeNames: Object.fromEntries(columns.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: attributesOf({
      ...values,
      ...Object.fromEntries(operands),
      ':one': count === undefined ? undefined : 1,
    }),
  };
}

/** Makes a conditional write. Returns false if its condition was not met. */
export async function didHold(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** Returns whether a transaction was cancelled for these reasons only. */
export function wasCancelledFor(error: unknown, ...reasons: readonly string[]): boolean {
  if (!(error instanceof TransactionCanceledException)) return false;
  return (error.CancellationReasons ?? []).every(({ Code = 'None' }) => ['None', ...reasons].includes(Code));
}
