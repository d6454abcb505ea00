import {
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { controlLifetimeMs, isUsable } from '#shared/idempotency/control-record.ts';
import type { ControlRecord, ControlState, ControlTable } from '#shared/idempotency/control-record.ts';

type Item = Readonly<Record<string, AttributeValue>>;

/** How often a creation looks again when the record that stood in its way has gone by the time it is read. */
const CREATE_ATTEMPTS = 3;

/** The record is still the one that was seen, has not expired and is not final. */
const STILL_STARTED =
  '#hash = :hash AND #createdAt = :createdAt AND #state = :started AND #createdAt > :expired';

/**
 * The table `control` in DynamoDB. Needs `dynamodb:GetItem`, `PutItem` and `UpdateItem`. `purgeAt` lets the table delete a record some time
 * after its 24 hours; whether it counts is decided here, on every read and in every condition [MA-005].
 */
export function createControlTable(client: DynamoDBClient, tableName: string): ControlTable {
  async function read(id: string, now: number): Promise<ControlRecord | undefined> {
    const { Item: item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true }),
    );
    return item === undefined ? undefined : usable(recordOf(item), now);
  }

  /** True when the condition held. */
  async function update(
    id: string,
    expression: { set: string; condition: string; values: Item },
  ): Promise<boolean> {
    const names = [...`${expression.set} ${expression.condition}`.matchAll(/#(\w+)/g)].map(
      ([, name = '']) => name,
    );
    try {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: { id: { S: id } },
          UpdateExpression: `SET ${expression.set}`,
          ConditionExpression: expression.condition,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: expression.values,
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }

  return {
    read,

    async create(record, now) {
      for (let attempt = 0; attempt < CREATE_ATTEMPTS; attempt += 1) {
        try {
          await client.send(
            new PutItemCommand({
              TableName: tableName,
              Item: itemOf(record),
              ConditionExpression: 'attribute_not_exists(#id) OR #createdAt <= :expired',
              ExpressionAttributeNames: { '#id': 'id', '#createdAt': 'createdAt' },
              ExpressionAttributeValues: { ':expired': number(now - controlLifetimeMs) },
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            }),
          );
          return undefined;
        } catch (error) {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
          const standing = error.Item === undefined ? await read(record.id, now) : recordOf(error.Item);
          if (standing !== undefined) return standing;
        }
      }
      throw new Error('control table: a record kept appearing and vanishing');
    },

    takeOver: (seen, lease, now) =>
      update(seen.id, {
        set: '#attemptId = :attemptId, #leaseUntil = :leaseUntil',
        condition: `${STILL_STARTED} AND #attemptId = :seenAttemptId`,
        values: {
          ...stillStarted(seen, now),
          ':seenAttemptId': { S: seen.attemptId },
          ':attemptId': { S: lease.attemptId },
          ':leaseUntil': number(lease.leaseUntil),
        },
      }),

    settle: (record, final, now) =>
      update(record.id, {
        set: '#state = :final, #terminalStatus = :terminalStatus, #leaseUntil = :none',
        condition: STILL_STARTED,
        values: {
          ...stillStarted(record, now),
          ':final': { S: final.state },
          ':terminalStatus': number(final.terminalStatus),
          ':none': number(0),
        },
      }),

    release: (record, now) =>
      update(record.id, {
        set: '#leaseUntil = :none',
        condition: `${STILL_STARTED} AND #attemptId = :attemptId`,
        values: { ...stillStarted(record, now), ':attemptId': { S: record.attemptId }, ':none': number(0) },
      }),
  };
}

function usable(record: ControlRecord, now: number): ControlRecord | undefined {
  return isUsable(record, now) ? record : undefined;
}

function stillStarted(record: ControlRecord, now: number): Item {
  return {
    ':hash': { S: record.hash },
    ':createdAt': number(record.createdAt),
    ':started': { S: 'started' },
    ':expired': number(now - controlLifetimeMs),
  };
}

function number(value: number): AttributeValue {
  return { N: String(value) };
}

/** `purgeAt` is in seconds, as the table's TTL wants it. */
function itemOf(record: ControlRecord): Record<string, AttributeValue> {
  return {
    id: { S: record.id },
    hash: { S: record.hash },
    state: { S: record.state },
    ...(record.terminalStatus === undefined ? {} : { terminalStatus: number(record.terminalStatus) }),
    operationId: { S: record.operationId },
    createdAt: number(record.createdAt),
    attemptId: { S: record.attemptId },
    leaseUntil: number(record.leaseUntil),
    purgeAt: number(Math.ceil((record.createdAt + controlLifetimeMs) / 1000)),
  };
}

const states: readonly string[] = ['started', 'completed', 'failed'] satisfies readonly ControlState[];

/** Throws when the item is not one that this file wrote. */
function recordOf(item: Item): ControlRecord {
  const text = (name: string): string => {
    const value = item[name]?.S;
    if (value === undefined) throw new TypeError(`control table: ${name} is not a string`);
    return value;
  };
  const integer = (name: string): number => {
    const value = Number(item[name]?.N);
    if (!Number.isSafeInteger(value)) throw new TypeError(`control table: ${name} is not an integer`);
    return value;
  };
  const state = text('state');
  if (!states.includes(state)) throw new TypeError('control table: state is unknown');
  return {
    id: text('id'),
    hash: text('hash'),
    state: state as ControlState,
    ...(item['terminalStatus'] === undefined ? {} : { terminalStatus: integer('terminalStatus') }),
    operationId: text('operationId'),
    createdAt: integer('createdAt'),
    attemptId: text('attemptId'),
    leaseUntil: integer('leaseUntil'),
  };
}
