import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import type { KeyChange, KeyRecord, KeySettings, WritableKeySettings } from '#shared/keys/key-record.ts';
import { keyStates, type KeyPurpose, type KeyState } from '#shared/keys/key-ring.ts';
import { attributesOf, bytes, instant, queryItems, wasCancelledFor } from './dynamo.ts';
import type { Item, ItemKey } from './dynamo.ts';

/** The column with the time at which a key entered a state. */
const timeColumns = {
  pending: 'createdAt',
  active: 'activatedAt',
  opening: 'openingAt',
  retired: 'retiredAt',
} as const satisfies Record<KeyState, string>;

/**
 * Opens the key ring in the table `settings`: one item per key, `pk` = `key#<purpose>`, `sk` = the key id; reads are strongly consistent. Needs
 * `dynamodb:Query`, which can be limited to single purposes by their partition key. Throws if the table does not respond.
 */
export function createKeySettings(client: DynamoDBClient, tableName: string): KeySettings {
  return {
    async list(purpose, signal) {
      const items = queryItems(client, tableName, partition(purpose), { abortSignal: signal });
      return Array.fromAsync(items, (item) => keyRecordOf(purpose, item));
    },
  };
}

/** Opens the key ring for changes, in one transaction, each on the condition that its key is unchanged since it was planned. */
export function createWritableKeySettings(client: DynamoDBClient, tableName: string): WritableKeySettings {
  return {
    ...createKeySettings(client, tableName),
    async write(changes) {
      try {
        await client.send(
          new TransactWriteItemsCommand({
            TransactItems: changes.map((change) => writeOf(tableName, change)),
          }),
        );
        return true;
      } catch (error) {
        if (wasCancelledFor(error, 'ConditionalCheckFailed', 'TransactionConflict')) return false;
        throw error;
      }
    },
  };
}

function writeOf(tableName: string, change: KeyChange): TransactWriteItem {
  if (change.kind === 'create') {
    return {
      Put: {
        TableName: tableName,
        Item: attributesOf({ ...keyOf(change.record), ...keyColumns.encode(change.record) }),
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    };
  }
  const { from, to, at, leaked } = change;
  return {
    Update: {
      TableName: tableName,
      Key: attributesOf(keyOf(change)),
      // A retired key is never needed again: a deleted one cannot be unwrapped by anyone.
      UpdateExpression: `SET #state = :to, #time = :at${leaked ? ', leaked = :leaked' : ''}${to === 'retired' ? ' REMOVE wrappedKey' : ''}`,
      ConditionExpression: '#state = :from',
      ExpressionAttributeNames: { '#state': 'state', '#time': timeColumns[to] },
      ExpressionAttributeValues: attributesOf({
        ':from': from,
        ':to': to,
        ':at': instant.encode(at),
        ':leaked': leaked,
      }),
    },
  };
}

function partition(purpose: KeyPurpose): string {
  return `key#${purpose}`;
}

function keyOf({ purpose, kid }: Pick<KeyRecord, 'purpose' | 'kid'>): ItemKey {
  return { pk: partition(purpose), sk: kid };
}

/** The columns of a key's item in addition to its key in the table. */
export const keyColumns = z.object({
  state: z.enum(keyStates),
  wrappedKey: bytes.exactOptional(),
  createdAt: instant,
  activatedAt: instant.exactOptional(),
  openingAt: instant.exactOptional(),
  retiredAt: instant.exactOptional(),
  leaked: z.boolean().exactOptional(),
});

/** Returns the key of an item. Throws for an item that is none. */
export function keyRecordOf(purpose: KeyPurpose, item: Item): KeyRecord {
  const kid = String(item['sk']);
  const { success, data } = keyColumns.safeParse(item);
  if (!success) throw new Error(`settings: ${partition(purpose)} ${kid} is not a key of the ring`);
  const { leaked, ...record } = data;
  return { purpose, kid, ...record, ...(leaked === true ? { leaked } : {}) };
}
