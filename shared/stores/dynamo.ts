import { ConditionalCheckFailedException, GetItemCommand, paginateQuery } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { formatInstant, parseInstant } from '#shared/kernel/instant.ts';

/*
 * What the tables have in common: the columns of their items as codecs, between DynamoDB's form and the value, and the calls. An item that a
 * schema of such columns refuses was not written by this service: `parse` throws.
 */

export type Item = Readonly<Record<string, AttributeValue>>;

/** The key of one item of a table with partitions. */
export type ItemKey = Readonly<Record<'pk' | 'sk', { readonly S: string }>>;

export function itemKey(pk: string, sk: string): ItemKey {
  return { pk: { S: pk }, sk: { S: sk } };
}

const string = z.object({ S: z.string() });

/** Text of one form. */
export function textOf<Text extends string>(
  form: z.ZodType<Text, Text>,
): z.ZodCodec<typeof string, typeof form> {
  return z.codec(string, form, {
    // SAFETY: the form checks it.
    decode: ({ S: written }) => written as Text,
    encode: (value) => ({ S: value }),
  });
}

export const text = textOf(z.string());

/** A safe integer: a count, or epoch milliseconds. */
export const integer = z.codec(z.object({ N: z.string() }), z.int(), {
  decode: ({ N: digits }) => Number(digits),
  encode: (value) => ({ N: String(value) }),
});

/** Epoch milliseconds, stored as an RFC 3339 text. */
export const instant = z.codec(string, z.int(), {
  decode: ({ S: written }) => parseInstant(written) ?? Number.NaN,
  encode: (time) => ({ S: formatInstant(time) }),
});

export const flag = z.codec(z.object({ BOOL: z.boolean() }), z.boolean(), {
  decode: ({ BOOL: value }) => value,
  encode: (value) => ({ BOOL: value }),
});

const byteArray = z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array);

export const bytes = z.codec(z.object({ B: byteArray }), byteArray, {
  decode: ({ B: value }) => value,
  encode: (value) => ({ B: value }),
});

export const texts = z.codec(z.object({ L: z.array(string) }), z.array(z.string()), {
  decode: ({ L: values }) => values.map(({ S: value }) => value),
  encode: (values) => ({ L: values.map((value) => ({ S: value })) }),
});

const map = z.object({ M: z.record(z.string(), z.custom<AttributeValue>()) });

/** Columns within one column. */
export function mapOf<Columns extends z.ZodType<unknown, Item>>(
  columns: Columns,
): z.ZodCodec<typeof map, Columns> {
  return z.codec(map, columns, {
    // SAFETY: the columns check it.
    decode: ({ M: inside }) => inside as z.input<Columns>,
    encode: (inside) => ({ M: inside }),
  });
}

/** A strongly consistent read of one item. */
export async function getItem(
  client: DynamoDBClient,
  table: string,
  key: Item,
  abortSignal?: AbortSignal,
): Promise<Item | undefined> {
  const command = new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true });
  const { Item: item } = await client.send(command, abortSignal === undefined ? {} : { abortSignal });
  return item;
}

/** A condition of sort keys, with its operands. */
interface KeyRange {
  readonly condition: string;
  readonly values: Item;
}

/** A strongly consistent read of the items of a partition, ascending by their sort keys: all of them, or those of a range. */
export async function* queryItems(
  client: DynamoDBClient,
  table: string,
  pk: string,
  options: {
    readonly range?: KeyRange | undefined;
    /** Fewer items only at the end. */
    readonly limit?: number | undefined;
    readonly abortSignal?: AbortSignal | undefined;
  } = {},
): AsyncGenerator<Item> {
  const { range, limit, abortSignal } = options;
  let left = limit ?? Number.POSITIVE_INFINITY;
  const pages = paginateQuery(
    { client },
    {
      TableName: table,
      ConsistentRead: true,
      KeyConditionExpression: ['pk = :pk', ...(range === undefined ? [] : [range.condition])].join(' AND '),
      ExpressionAttributeValues: { ':pk': { S: pk }, ...range?.values },
      ...(limit === undefined ? {} : { Limit: limit }),
    },
    abortSignal === undefined ? {} : { abortSignal },
  );
  for await (const { Items: items = [] } of pages) {
    yield* items.slice(0, left);
    left -= items.length;
    if (left <= 0) return;
  }
}

/** A change of one item, with the condition under which it is made. A column of the condition is written as `#name`. */
export interface Change {
  /** Its operands are named like its columns; the condition may compare with them, as `:name`. */
  readonly set: Item;
  /** The column of a number that grows by one. */
  readonly count?: string;
  readonly condition: string;
  readonly values: Item;
}

/** The members of an update that express a change. No name of a column is a reserved word in it. */
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
  const operands: Item = Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value]));
  return {
    UpdateExpression: expression,
    ConditionExpression: condition,
    ExpressionAttributeNames: Object.fromEntries(columns.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...values,
      ...operands,
      ...(count === undefined ? {} : { ':one': integer.encode(1) }),
    },
  };
}

/** Makes a conditional write. False when its condition did not hold. */
export async function didHold(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
