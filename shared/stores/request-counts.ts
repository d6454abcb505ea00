import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { attributesOf, itemWith } from './dynamo.ts';

const countItem = z.object({ requests: z.int().min(1) });

/**
 * Opens the counts of requests in the table `control` in DynamoDB. Needs `dynamodb:UpdateItem`.
 * @param client makes one attempt: a repetition could count a request twice
 */
export function createRequestCounts(
  client: DynamoDBClient,
  TableName: string,
): (id: string, purgeAt: number) => Promise<number> {
  return async (id, purgeAt) => {
    const { Attributes: item = {} } = await client.send(
      new UpdateItemCommand({
        TableName,
        Key: attributesOf({ id }),
        UpdateExpression: 'SET purgeAt = :purgeAt ADD requests :one',
        ExpressionAttributeValues: attributesOf({ ':purgeAt': purgeAt, ':one': 1 }),
        ReturnValues: 'ALL_NEW',
      }),
    );
    return countItem.parse(itemWith({ id }, item)).requests;
  };
}
