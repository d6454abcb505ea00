import { ConditionalCheckFailedException, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { controlLifetimeMs, isUsable } from '#shared/idempotency/control-record.ts';
import type { ControlRecord, ControlTable } from '#shared/idempotency/control-record.ts';
import { changeExpression, didHold, getItem, integer, text, textOf } from './dynamo.ts';
import type { Change, Item } from './dynamo.ts';

/** The record is still the one that was seen, has not expired and is not final. */
const STILL_STARTED =
  '#hash = :hash AND #createdAt = :createdAt AND #state = :started AND #createdAt > :expired';

/**
 * The table `control` in DynamoDB. Needs `dynamodb:GetItem`, `PutItem` and `UpdateItem`. `purgeAt` lets the table delete a record some time
 * after its 24 hours; whether it counts is decided here, on every read and in every condition [MA-005].
 */
export function createControlTable(client: DynamoDBClient, tableName: string): ControlTable {
  /** True when the condition held. */
  const update = (id: string, change: Change): Promise<boolean> =>
    didHold(
      client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: { id: text.encode(id) },
          ...changeExpression(change),
        }),
      ),
    );

  return {
    async read(id, now) {
      const item = await getItem(client, tableName, { id: text.encode(id) });
      const record = item && recordColumns.parse(item);
      return record && isUsable(record, now) ? record : undefined;
    },

    async create(record, now) {
      try {
        await client.send(
          new PutItemCommand({
            TableName: tableName,
            Item: itemOf(record),
            ConditionExpression: 'attribute_not_exists(#id) OR #createdAt <= :expired',
            ExpressionAttributeNames: { '#id': 'id', '#createdAt': 'createdAt' },
            ExpressionAttributeValues: { ':expired': integer.encode(now - controlLifetimeMs) },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return undefined;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return recordColumns.parse(error.Item);
        throw error;
      }
    },

    takeOver: (seen, { attemptId, leaseUntil }, now) =>
      update(seen.id, {
        set: { attemptId: text.encode(attemptId), leaseUntil: integer.encode(leaseUntil) },
        condition: `${STILL_STARTED} AND #attemptId = :seenAttemptId`,
        values: { ...stillStarted(seen, now), ':seenAttemptId': text.encode(seen.attemptId) },
      }),

    settle: (record, { state, terminalStatus }, now) =>
      update(record.id, {
        set: {
          state: text.encode(state),
          terminalStatus: integer.encode(terminalStatus),
          leaseUntil: integer.encode(0),
        },
        condition: STILL_STARTED,
        values: stillStarted(record, now),
      }),

    release: (record, now) =>
      update(record.id, {
        set: { leaseUntil: integer.encode(0) },
        condition: `${STILL_STARTED} AND #attemptId = :seenAttemptId`,
        values: { ...stillStarted(record, now), ':seenAttemptId': text.encode(record.attemptId) },
      }),
  };
}

function stillStarted(record: ControlRecord, now: number): Item {
  return {
    ':hash': { S: record.hash },
    ':createdAt': integer.encode(record.createdAt),
    ':started': { S: 'started' },
    ':expired': integer.encode(now - controlLifetimeMs),
  };
}

const recordColumns = z.object({
  id: text,
  hash: text,
  state: textOf(z.enum(['started', 'completed', 'failed'])),
  terminalStatus: integer.exactOptional(),
  operationId: text,
  createdAt: integer,
  attemptId: text,
  leaseUntil: integer,
});

/** `purgeAt` is in seconds, as the table's TTL wants it. */
function itemOf(record: ControlRecord): Item {
  const purgeAt = Math.ceil((record.createdAt + controlLifetimeMs) / 1000);
  return { ...recordColumns.encode(record), purgeAt: integer.encode(purgeAt) };
}
