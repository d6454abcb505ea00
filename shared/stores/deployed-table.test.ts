import { createRequire } from 'node:module';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findDeployedTables, isDeployedTable } from './deployed-table.ts';

// SAFETY: dynalite has no types of its own; this is the one call that its documentation shows.
const dynalite = createRequire(import.meta.url)('dynalite') as (options: { createTableMs: number }) => Server;

const RECORDS = 'mastery-reports-staging-records-and-keys-Records0A1B2C3D-1XYZ9ABCDEFGH';

describe('isDeployedTable', () => {
  it.each([
    ['mastery-reports-prod-records-and-keys-Records0A1B2C3D-1XYZ', 'another stage'],
    ['mastery-reports-staging-records-and-keys-Control0A1B2C3D-1XYZ', 'another table'],
    ['mastery-reports-staging-records-and-keys-Records0A1B2C3D', 'no random part'],
    [`copy-of-${RECORDS}`, 'another name before it'],
  ])('does not take %s: %s', (name) => expect(isDeployedTable(name, 'staging', 'records')).toBe(false));
});

describe('findDeployedTables', () => {
  let server: Server;
  let client: DynamoDBClient;

  beforeAll(async () => {
    server = dynalite({ createTableMs: 0 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    client = new DynamoDBClient({
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'local',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    // A page of ListTables holds 100 names: the wanted one stands on the second.
    const others = Array.from({ length: 100 }, (_, index) => `a-table-${index}`);
    for (const name of [...others, RECORDS, RECORDS.replace('staging', 'prod')]) {
      await client.send(
        new CreateTableCommand({
          TableName: name,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        }),
      );
    }
  });

  afterAll(async () => {
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('finds the table of one stage among all that an account has', async () => {
    expect(await findDeployedTables(client, 'staging', 'records')).toEqual([RECORDS]);
    expect(await findDeployedTables(client, 'dev', 'records')).toEqual([]);
  });
});
