import { ok } from '#shared/kernel/result.ts';
import type { Item, Store } from './dynalite.ts';
import { run } from './dynalite.ts';
import type { Input } from './tables.ts';
import { isRecord, itemsOf } from './tables.ts';
import type { AwsAnswer, AwsOperation, Restore } from './wire.ts';
import { refuse, snapshotOf } from './wire.ts';

/** DynamoDB deletes nothing whose expiry lies further back than this: such a number is taken for a mistake. */
const FIVE_YEARS = 5 * 365.25 * 86_400;

interface TimeToLive {
  enable(table: string, attribute: string): void;
  /** Deletes the items that have expired by `at`, in milliseconds. Returns how many. */
  sweep(at: number): Promise<number>;
  readonly operations: ReadonlyMap<string, AwsOperation>;
  snapshot(): Restore;
}

/** Time to live, which dynalite lacks: its settings, and the sweep that DynamoDB makes some time after the fact. */
export function createTimeToLive(
  store: Store,
  deleteItem: (table: string, item: Item) => Promise<void>,
): TimeToLive {
  const attributes = new Map<string, string>();

  async function update(input: Input): Promise<AwsAnswer> {
    const table = String(input['TableName']);
    const described = await run(store, 'DescribeTable', { TableName: table });
    if (!described.ok) return described;
    const wanted = input['TimeToLiveSpecification'];
    if (!isRecord(wanted) || typeof wanted['AttributeName'] !== 'string') {
      return refuse('ValidationException', 'TimeToLiveSpecification.AttributeName is required');
    }
    const enabled = wanted['Enabled'] === true;
    if (enabled === attributes.has(table)) {
      return refuse('ValidationException', `TimeToLive is already ${enabled ? 'enabled' : 'disabled'}`);
    }
    if (enabled) attributes.set(table, wanted['AttributeName']);
    else attributes.delete(table);
    return ok({ TimeToLiveSpecification: { AttributeName: wanted['AttributeName'], Enabled: enabled } });
  }

  async function describe(input: Input): Promise<AwsAnswer> {
    const table = String(input['TableName']);
    const described = await run(store, 'DescribeTable', { TableName: table });
    if (!described.ok) return described;
    const attribute = attributes.get(table);
    return ok({
      TimeToLiveDescription:
        attribute === undefined
          ? { TimeToLiveStatus: 'DISABLED' }
          : { TimeToLiveStatus: 'ENABLED', AttributeName: attribute },
    });
  }

  async function sweepTable(table: string, attribute: string, seconds: number): Promise<number> {
    let deleted = 0;
    for await (const item of itemsOf(store, table)) {
      const expiry = Number(item[attribute]?.['N']);
      // An absent or non-numeric attribute is NaN, and no comparison with it holds.
      if (!(expiry < seconds && expiry > seconds - FIVE_YEARS)) continue;
      await deleteItem(table, item);
      deleted += 1;
    }
    return deleted;
  }

  return {
    enable: (table, attribute) => void attributes.set(table, attribute),
    async sweep(at) {
      let deleted = 0;
      for (const [table, attribute] of attributes) deleted += await sweepTable(table, attribute, at / 1000);
      return deleted;
    },
    operations: new Map<string, AwsOperation>([
      ['UpdateTimeToLive', update],
      ['DescribeTimeToLive', describe],
    ]),
    snapshot: () => snapshotOf(attributes),
  };
}
