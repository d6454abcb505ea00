import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { useTestAws } from '#test/support/aws.ts';
import { findDeployedTables, isDeployedTable } from './deployed-table.ts';

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
  const test = useTestAws();

  it('finds the table of one stage among all that an account has', async () => {
    // A page of ListTables holds 100 names: the wanted one stands on the second.
    const others = Array.from({ length: 100 }, (_, index) => `a-table-${index}`);
    for (const name of [...others, RECORDS, RECORDS.replace('staging', 'prod')])
      await test.dynamo.send(
        new CreateTableCommand({
          TableName: name,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        }),
      );
    expect(await findDeployedTables(test.dynamo, 'staging', 'records')).toEqual([RECORDS]);
    expect(await findDeployedTables(test.dynamo, 'dev', 'records')).toEqual([]);
  });
});
