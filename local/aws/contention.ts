import { itemSize, keyAttributes, type Item, type Store } from './dynalite.ts';
import { isRecord, keyOf, type Input } from './tables.ts';
import { type AwsAnswer, type AwsOperation, refuse } from './wire.ts';

/** What one partition serves in a second, and the bytes of a unit (developer guide, “Partitions and data distribution”). */
const read = { unitsPerSecond: 3000, bytesPerUnit: 4096 };
const write = { unitsPerSecond: 1000, bytesPerUnit: 1024 };
type Kind = typeof read;

const writes: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

/**
 * Makes operations refuse what DynamoDB refuses under load, which a store in one process never does by itself: more units of one partition
 * than it serves in a second, a write to an item that a transaction is at work on, and a transaction's token while that transaction runs. It
 * knows the operations that our stores use; an update counts as the bytes of its request.
 */
export function createContention(
  store: Store,
  now: () => number,
): (name: string, work: AwsOperation) => AwsOperation {
  const used = new Map<string, number>();
  /** The items and the tokens of the transactions that run. */
  const busy = new Set<string>();

  async function touchedBy(input: Input, kind: Kind) {
    const table = String(input['TableName']);
    const key = await keyOf(store, input);
    const [partitionKey = ''] = (await keyAttributes(store, table)) ?? [];
    const partition = JSON.stringify([Math.floor(now() / 1000), kind, table, key[partitionKey]]);
    return {
      item: JSON.stringify([table, Object.entries(key).sort()]),
      bytes: itemSize((input['Item'] ?? input['ExpressionAttributeValues'] ?? {}) as Item),
      // The last call may exceed the units, as a burst does.
      hasUnits: () => (used.get(partition) ?? 0) < kind.unitsPerSecond,
      charge: (bytes: number, factor: number): void => {
        const units = factor * Math.max(1, Math.ceil(bytes / kind.bytesPerUnit));
        used.set(partition, (used.get(partition) ?? 0) + units);
      },
    };
  }

  async function transact(input: Input, work: (input: Input) => Promise<AwsAnswer>): Promise<AwsAnswer> {
    const { TransactItems: entries, ClientRequestToken: token } = input;
    const bodies = (Array.isArray(entries) ? entries : [])
      .flatMap((entry) => (isRecord(entry) ? Object.values(entry) : []))
      .filter(isRecord);
    const own = typeof token === 'string' ? [`token ${token}`] : [];
    if (own.some((name) => busy.has(name)))
      return refuse(
        'TransactionInProgressException',
        'The transaction with the given request token is already in progress.',
      );
    for (const name of own) busy.add(name);
    try {
      const touched = await Promise.all(bodies.map((body) => touchedBy(body, write)));
      const codes = touched.map(({ item, hasUnits }) =>
        busy.has(item) ? 'TransactionConflict' : hasUnits() ? 'None' : 'ProvisionedThroughputExceeded',
      );
      if (codes.some((code) => code !== 'None')) {
        return refuse(
          'TransactionCanceledException',
          `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
          { CancellationReasons: codes.map((Code) => ({ Code })) },
        );
      }
      for (const { item, bytes, charge } of touched) {
        charge(bytes, 2);
        busy.add(item);
        own.push(item);
      }
      return await work(input);
    } finally {
      for (const name of own) busy.delete(name);
    }
  }

  return (name, ofCaller) => async (input, caller) => {
    const work = (given: Input): Promise<AwsAnswer> => ofCaller(given, caller);
    if (name === 'TransactWriteItems') return transact(input, work);
    if (name !== 'GetItem' && !writes.has(name)) return work(input);
    const { item, bytes, hasUnits, charge } = await touchedBy(input, name === 'GetItem' ? read : write);
    if (name !== 'GetItem' && busy.has(item))
      return refuse('TransactionConflictException', 'Transaction is ongoing for the item');
    if (!hasUnits()) {
      return refuse(
        'ProvisionedThroughputExceededException',
        'The level of configured provisioned throughput for one or more partitions was exceeded.',
      );
    }
    if (name !== 'GetItem') charge(bytes, 1);
    const answer = await work(input);
    const found = answer.ok ? (answer.value as { readonly Item?: Item }).Item : undefined;
    if (name === 'GetItem') charge(itemSize(found ?? {}), input['ConsistentRead'] === true ? 1 : 0.5);
    return answer;
  };
}
