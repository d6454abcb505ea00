import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { type Item, type Store, keyAttributes, run } from './dynalite.ts';
import type { AwsAnswer } from './wire.ts';

/** A request, or a part of one, as AWS JSON carries it. */
export type Input = Readonly<Record<string, unknown>>;

export async function untilActive(store: Store, tableName: string): Promise<void> {
  for (;;) {
    const { Table } = must(await run(store, 'DescribeTable', { TableName: tableName })) as {
      readonly Table: { readonly TableStatus: string };
    };
    if (Table.TableStatus === 'ACTIVE') return;
  }
}

/** The key of a write: given as `Key`, or part of the `Item`. Empty for a table that does not exist; the operation itself then fails. */
export async function keyOf(store: Store, input: Input): Promise<Item> {
  if (isRecord(input['Key'])) return input['Key'] as Item;
  const item = isRecord(input['Item']) ? (input['Item'] as Item) : {};
  const names = (await keyAttributes(store, String(input['TableName']))) ?? [];
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
}

/** An item as it is now; undefined when there is none. */
export async function readItem(store: Store, table: string, key: Item): Promise<Item | undefined> {
  const found = must(await run(store, 'GetItem', { TableName: table, Key: key, ConsistentRead: true }));
  return (found as { readonly Item?: Item }).Item;
}

/** Every item of a table, page after page; what has been given may be deleted. */
export async function* itemsOf(store: Store, table: string): AsyncGenerator<Item> {
  let from: Item | undefined;
  do {
    const page = must(
      await run(store, 'Scan', {
        TableName: table,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    ) as { readonly Items: readonly Item[]; readonly LastEvaluatedKey?: Item };
    yield* page.Items;
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
}

export async function contentsOf(store: Store, table: string): Promise<Map<string, Item>> {
  const contents = new Map<string, Item>();
  for await (const item of itemsOf(store, table)) contents.set(canonicalJson(item), item);
  return contents;
}

/** The value of an answer that must not be a refusal. */
export function must(answer: AwsAnswer): object {
  if (!answer.ok) throw new Error(`local DynamoDB: ${answer.error.type}: ${answer.error.message}`);
  return answer.value;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
