import {
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { formatInstant, parseInstant } from '#shared/kernel/instant.ts';
import type { KeyChange, KeyRecord, KeySettings, WritableKeySettings } from '#shared/keys/key-record.ts';
import type { KeyPurpose, KeyState } from '#shared/keys/key-ring.ts';

type Item = Readonly<Record<string, AttributeValue>>;

/** The column that says when a key came into a state. */
const timeColumns = {
  pending: 'createdAt',
  active: 'activatedAt',
  opening: 'openingAt',
  retired: 'retiredAt',
} as const satisfies Record<KeyState, string>;

/**
 * The key ring in the table `settings`: one item per key, `pk` = `key#<purpose>`, `sk` = the key id; reads are strongly consistent.
 * Needs `dynamodb:Query`, which can be limited to single purposes by their partition key. Throws when the table does not answer.
 */
export function createKeySettings(client: DynamoDBClient, tableName: string): KeySettings {
  return {
    async list(purpose, signal) {
      const records: KeyRecord[] = [];
      let from: Item | undefined;
      do {
        const page = await client.send(
          new QueryCommand({
            TableName: tableName,
            ConsistentRead: true,
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': partition(purpose) },
            ...(from === undefined ? {} : { ExclusiveStartKey: from }),
          }),
          signal === undefined ? {} : { abortSignal: signal },
        );
        for (const item of page.Items ?? []) records.push(keyRecordOf(purpose, item));
        from = page.LastEvaluatedKey;
      } while (from !== undefined);
      return records;
    },
  };
}

/** The same with changes, in one transaction, each on the condition that its key is as it was when it was planned. */
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
        if (error instanceof TransactionCanceledException && wasOvertaken(error)) return false;
        throw error;
      }
    },
  };
}

function wasOvertaken(error: TransactionCanceledException): boolean {
  const codes = (error.CancellationReasons ?? []).map((reason) => reason.Code ?? 'None');
  return codes.every((code) => ['None', 'ConditionalCheckFailed', 'TransactionConflict'].includes(code));
}

function writeOf(tableName: string, change: KeyChange): TransactWriteItem {
  if (change.kind === 'create') {
    return {
      Put: {
        TableName: tableName,
        Item: itemOf(change.record),
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    };
  }
  const { purpose, kid, from, to, at, leaked } = change;
  return {
    Update: {
      TableName: tableName,
      Key: { pk: partition(purpose), sk: { S: kid } },
      // A retired key is never needed again: what is deleted cannot be unwrapped by anyone.
      UpdateExpression: `SET #state = :to, #time = :at${leaked ? ', leaked = :leaked' : ''}${to === 'retired' ? ' REMOVE wrappedKey' : ''}`,
      ConditionExpression: '#state = :from',
      ExpressionAttributeNames: { '#state': 'state', '#time': timeColumns[to] },
      ExpressionAttributeValues: {
        ':from': { S: from },
        ':to': { S: to },
        ':at': { S: formatInstant(at) },
        ...(leaked ? { ':leaked': { BOOL: true } } : {}),
      },
    },
  };
}

function partition(purpose: KeyPurpose): AttributeValue {
  return { S: `key#${purpose}` };
}

function itemOf(record: KeyRecord): Record<string, AttributeValue> {
  const item: Record<string, AttributeValue> = {
    pk: partition(record.purpose),
    sk: { S: record.kid },
    state: { S: record.state },
  };
  if (record.wrappedKey !== undefined) item['wrappedKey'] = { B: record.wrappedKey };
  for (const column of Object.values(timeColumns)) {
    const time = record[column];
    if (time !== undefined) item[column] = { S: formatInstant(time) };
  }
  return item;
}

/** The key that an item is. Throws when it is none. */
export function keyRecordOf(purpose: KeyPurpose, item: Item): KeyRecord {
  const kid = item['sk']?.S ?? '';
  const state = item['state']?.S ?? '';
  const [createdAt, activatedAt, openingAt, retiredAt] = Object.values(timeColumns).map((column) =>
    parseInstant(item[column]?.S ?? ''),
  );
  if (!isKeyState(state) || createdAt === undefined) {
    throw new Error(`settings: key#${purpose} ${kid} is not a key of the ring`);
  }
  const wrappedKey = item['wrappedKey']?.B;
  return {
    purpose,
    kid,
    state,
    createdAt,
    ...(wrappedKey === undefined ? {} : { wrappedKey }),
    ...(activatedAt === undefined ? {} : { activatedAt }),
    ...(openingAt === undefined ? {} : { openingAt }),
    ...(retiredAt === undefined ? {} : { retiredAt }),
    ...(item['leaked']?.BOOL === true ? { leaked: true } : {}),
  };
}

function isKeyState(text: string): text is KeyState {
  return Object.hasOwn(timeColumns, text);
}
