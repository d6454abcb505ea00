import { paginateListTables, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { TableDefinition } from './tables.ts';

/**
 * Returns whether CloudFormation gave this name to a table of a stage's stack `records-and-keys`: stack, logical id, random part. A test in
 * test/infra compares this with the stack.
 */
export function isDeployedTable(tableName: string, stage: string, table: TableDefinition['name']): boolean {
  const logicalId = table.charAt(0).toUpperCase() + table.slice(1);
  const prefix = `mastery-reports-${stage}-records-and-keys-${logicalId}`;
  return tableName.startsWith(prefix) && /^[0-9A-F]{8}-[0-9A-Za-z]+$/.test(tableName.slice(prefix.length));
}

/** Returns the stage's tables of that kind in the client's account and region: one if the stage is deployed, else none. */
export async function findDeployedTables(
  client: DynamoDBClient,
  stage: string,
  table: TableDefinition['name'],
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { TableNames: names = [] } of paginateListTables({ client }, {}))
    found.push(...names.filter((name) => isDeployedTable(name, stage, table)));
  return found;
}
