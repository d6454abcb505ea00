import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoDb } from '#local/aws/dynamodb.ts';
import { localTables } from '#local/aws/resources.ts';
import type { ImprovementStore } from '#shared/improvement/records.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { localCredentials, localRegion, localTableName } from '#shared/stage/local-stage.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';

const TableName = localTableName('improvement');

interface SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type Input = Readonly<Record<string, unknown>>;

/** The improvement table in an emulator of DynamoDB of its own, without a socket on the way. */
export interface TestImprovementTable {
  readonly client: DynamoDBClient;
  readonly store: ImprovementStore;
  /** The same table, before each call of which something is done; it may refuse the call. No pause is made between attempts. */
  readonly storeAfter: (before: (operation: string, input: Input) => unknown) => ImprovementStore;
}

export async function openImprovementTable(): Promise<TestImprovementTable> {
  const dynamo = createDynamoDb(Date.now);
  const [table] = localTables().filter(({ tableName }) => tableName === TableName);
  await dynamo.createTable({ ...table!, recoverable: false });

  const clientAfter = (before: (operation: string, input: Input) => unknown): DynamoDBClient => {
    async function handle({ headers, body }: SentRequest) {
      const [, operation = ''] = headers['x-amz-target']?.split('.') ?? [];
      const input = JSON.parse(new TextDecoder().decode(body)) as Input;
      await before(operation, input);
      const answer = await dynamo.operations.get(operation)!(input, { authorize: () => undefined });
      const { status, ...sent } = answer.ok
        ? { status: 200, ...answer.value }
        : { status: answer.error.status, __type: answer.error.type, ...answer.error.extra };
      const text = JSON.stringify(sent);
      return { response: { statusCode: status, headers: {}, body: new Blob([text]).stream() } };
    }
    const requestHandler = { handle };
    return new DynamoDBClient({
      region: localRegion,
      credentials: localCredentials,
      requestHandler,
      maxAttempts: 1,
    });
  };

  const client = clientAfter(() => undefined);
  const { random } = processRuntime();
  const sleep = () => Promise.resolve();
  return {
    client,
    store: createImprovementTable(client, TableName, processRuntime()),
    storeAfter: (before) => createImprovementTable(clientAfter(before), TableName, { random, sleep }),
  };
}
