import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoDb } from '#local/aws/dynamodb.ts';
import { localTables } from '#local/aws/resources.ts';
import type { ImprovementStore } from '#shared/improvement/records.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { localCredentials, localRegion, localTableName } from '#shared/stage/local-stage.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';

const tableName = localTableName('improvement');
const unending = new AbortController().signal;

interface SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The improvement table in an emulator of DynamoDB of its own, without a socket on the way. */
export async function openImprovementTable(): Promise<ImprovementStore> {
  const dynamo = createDynamoDb(Date.now);
  const [table] = localTables().filter((one) => one.tableName === tableName);
  await dynamo.createTable({ ...table!, recoverable: false });

  async function handle({ headers, body }: SentRequest) {
    const [, operation = ''] = headers['x-amz-target']?.split('.') ?? [];
    const input = JSON.parse(new TextDecoder().decode(body)) as Readonly<Record<string, unknown>>;
    const answer = await dynamo.operations.get(operation)!(input, unending);
    const { status, ...sent } = answer.ok
      ? { status: 200, ...answer.value }
      : { status: answer.error.status, __type: answer.error.type, ...answer.error.extra };
    const text = JSON.stringify(sent);
    return { response: { statusCode: status, headers: {}, body: new Blob([text]).stream() } };
  }
  const client = new DynamoDBClient({
    region: localRegion,
    credentials: localCredentials,
    requestHandler: { handle },
  });
  return createImprovementTable(client, tableName, processRuntime());
}
