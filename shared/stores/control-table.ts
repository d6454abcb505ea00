import { ConditionalCheckFailedException, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { controlLifetimeMs, controlRecord, isUsable } from '#shared/idempotency/control-record.ts';
import type { ControlRecord, ControlTable } from '#shared/idempotency/control-record.ts';
import {
  attributesOf,
  changeExpression,
  didHold,
  getItem,
  itemWith,
  type Condition,
  type Item,
} from './dynamo.ts';

/**
 * Opens the table `control` in DynamoDB. Needs `dynamodb:GetItem`, `PutItem` and `UpdateItem`. `purgeAt` lets the table delete a record some time
 * after its 24 hours; this code decides whether it counts, on every read and in every condition [MA-005].
 */
export function createControlTable(client: DynamoDBClient, TableName: string): ControlTable {
  const change = ({ id }: ControlRecord, set: Item, condition: Condition) =>
    didHold(
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: attributesOf({ id }),
          ...changeExpression({ set, ...condition }),
        }),
      ),
    );

  return {
    async read(id, now) {
      const item = await getItem(client, TableName, { id });
      const record = item && controlRecord.parse(item);
      return record && isUsable(record, now) ? record : undefined;
    },

    async create(record, now) {
      // In seconds, as the table's TTL requires.
      const purgeAt = Math.ceil((record.createdAt + controlLifetimeMs) / 1000);
      try {
        await client.send(
          new PutItemCommand({
            TableName,
            Item: attributesOf({ ...controlRecord.parse(record), purgeAt }),
            ConditionExpression: 'attribute_not_exists(#id) OR #createdAt <= :expired',
            ExpressionAttributeNames: { '#id': 'id', '#createdAt': 'createdAt' },
            ExpressionAttributeValues: attributesOf({ ':expired': now - controlLifetimeMs }),
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return undefined;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return controlRecord.parse(itemWith({ id: record.id }, error.Item ?? {}));
      }
    },

    takeOver: (seen, { attemptId, leaseUntil }, now) =>
      change(seen, { attemptId, leaseUntil }, whileHeld(seen, now)),
    renew(record, leaseUntil, now) {
      const { condition, values } = whileHeld(record, now);
      // A renewal that arrives after the release must not take the lease again.
      return change(
        record,
        { leaseUntil },
        { condition: `${condition} AND #leaseUntil > :released`, values: { ...values, ':released': 0 } },
      );
    },
    settle: (record, { state, terminalStatus }, now) =>
      change(record, { state, terminalStatus, leaseUntil: 0 }, whileStarted(record, now)),
    release: (record, now) => change(record, { leaseUntil: 0 }, whileHeld(record, now)),
  };
}

/** Returns the condition that a record is unchanged since it was read, has not expired and is not final. */
function whileStarted({ hash, createdAt }: ControlRecord, now: number): Condition {
  return {
    condition: '#hash = :hash AND #createdAt = :createdAt AND #state = :started AND #createdAt > :expired',
    values: {
      ':hash': hash,
      ':createdAt': createdAt,
      ':started': 'started',
      ':expired': now - controlLifetimeMs,
    },
  };
}

/** Returns the condition that the observed run also holds its lease. */
function whileHeld(record: ControlRecord, now: number): Condition {
  const { condition, values } = whileStarted(record, now);
  return {
    condition: `${condition} AND #attemptId = :seenAttemptId`,
    values: { ...values, ':seenAttemptId': record.attemptId },
  };
}
