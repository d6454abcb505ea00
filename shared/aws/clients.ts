import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SSMClient } from '@aws-sdk/client-ssm';

/**
 * One client of each kind per container, made when first needed: region, credentials and (locally) endpoints come from the environment
 * that Lambda or the local runtime sets before any of these is called.
 */
let dynamoClient: DynamoDBClient | undefined;
let kmsClient: KMSClient | undefined;
let ssmClient: SSMClient | undefined;

export function dynamo(): DynamoDBClient {
  return (dynamoClient ??= new DynamoDBClient({ maxAttempts: 3 }));
}

export function kms(): KMSClient {
  return (kmsClient ??= new KMSClient({ maxAttempts: 3 }));
}

export function ssm(): SSMClient {
  return (ssmClient ??= new SSMClient({ maxAttempts: 3 }));
}
