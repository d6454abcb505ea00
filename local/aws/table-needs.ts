import { localAccount, localRegion } from '#shared/stage/local-stage.ts';
import {
  type AttributeValue,
  type DynaliteOperation,
  type Item,
  type Store,
  check,
  keyAttributes,
} from './dynalite.ts';
import type { Need } from './policy.ts';
import { type Input, isRecord, keyOf } from './tables.ts';

/* What the operations of DynamoDB need ("Actions, resources, and condition keys for Amazon DynamoDB"). */

export function tableArnOf(table: string): string {
  return `arn:aws:dynamodb:${localRegion}:${localAccount}:table/${table}`;
}

/** An action on a table, on the items with these partition keys if it names some. */
export function tableNeed(action: string, table: string, leadingKeys: readonly string[] = []): Need {
  return {
    action: `dynamodb:${action}`,
    resource: tableArnOf(table),
    ...(leadingKeys.length === 0 ? {} : { context: { 'dynamodb:LeadingKeys': leadingKeys } }),
  };
}

/** An action on the item that its `Key` or `Item` names. */
export async function itemNeed(store: Store, action: string, input: Input): Promise<Need> {
  const table = String(input['TableName']);
  return tableNeed(action, table, await leadingKeysOf(store, table, [input]));
}

async function leadingKeysOf(
  store: Store,
  table: string,
  inputs: readonly Input[],
): Promise<readonly string[]> {
  const [partitionKey = ''] = (await keyAttributes(store, table)) ?? [];
  const keys: readonly Item[] = await Promise.all(
    inputs.map((input) => keyOf(store, { TableName: table, ...input })),
  );
  return keys.flatMap(({ [partitionKey]: value }) => textOf(value));
}

const textOf = (value: AttributeValue | undefined): readonly string[] =>
  value === undefined ? [] : Object.values(value).map(String);

type Needs = (store: Store, input: Input) => Promise<readonly Need[]> | readonly Need[];

const ofTable =
  (action: string): Needs =>
  (_, input) => [tableNeed(action, String(input['TableName']))];
const ofItem =
  (action: string): Needs =>
  async (store, input) => [await itemNeed(store, action, input)];

/** The requests of a batch, each with its `Key` or `Item`, by table. */
const ofBatch =
  (action: string, requestsOf: (ofTable: unknown) => readonly Input[]): Needs =>
  (store, input) =>
    Promise.all(
      Object.entries(isRecord(input['RequestItems']) ? input['RequestItems'] : {}).map(
        async ([table, request]) =>
          tableNeed(action, table, await leadingKeysOf(store, table, requestsOf(request))),
      ),
    );
const records = (value: unknown): readonly Input[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** By operation: one without a row does not compile. */
export const needsOf: Readonly<Record<DynaliteOperation, Needs>> = {
  BatchGetItem: ofBatch('BatchGetItem', (request) =>
    records(isRecord(request) ? request['Keys'] : []).map((Key) => ({ Key })),
  ),
  BatchWriteItem: ofBatch('BatchWriteItem', (requests) =>
    records(requests).flatMap((request) => Object.values(request).filter(isRecord)),
  ),
  CreateTable: ofTable('CreateTable'),
  DeleteItem: ofItem('DeleteItem'),
  DeleteTable: ofTable('DeleteTable'),
  DescribeTable: ofTable('DescribeTable'),
  GetItem: ofItem('GetItem'),
  ListTables: () => [{ action: 'dynamodb:ListTables', resource: '*' }],
  PutItem: ofItem('PutItem'),
  async Query(store, input) {
    const table = String(input['TableName']);
    const [partitionKey = ''] = (await keyAttributes(store, table)) ?? [];
    const checked = check(store, 'Query', input);
    // What is no valid query fails by itself.
    const conditions = checked.ok
      ? (checked.value['KeyConditions'] as Readonly<Record<string, KeyCondition>>)
      : {};
    const values = conditions[partitionKey]?.AttributeValueList.flatMap(textOf);
    return [tableNeed('Query', table, values)];
  },
  // Without a key, so that a role which ForAllValues restricts to partitions can scan all of them, as in AWS.
  Scan: (_, input) => {
    const { Select: select, ProjectionExpression: projected } = input;
    const attributes = typeof projected === 'string' ? projected.split(/\s*,\s*/) : [];
    const chosen = attributes.length === 0 ? 'ALL_ATTRIBUTES' : 'SPECIFIC_ATTRIBUTES';
    const context = {
      'dynamodb:Attributes': attributes,
      'dynamodb:Select': [typeof select === 'string' ? select : chosen],
    };
    return [{ ...tableNeed('Scan', String(input['TableName'])), context }];
  },
  UpdateItem: ofItem('UpdateItem'),
  UpdateTable: ofTable('UpdateTable'),
};

interface KeyCondition {
  readonly AttributeValueList: readonly AttributeValue[];
}
