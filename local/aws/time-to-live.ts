import type { Item, Store } from './dynalite.ts';
import { itemsOf } from './tables.ts';

/** DynamoDB deletes nothing whose expiry lies further back than this: such a number is taken for a mistake. */
const FIVE_YEARS = 5 * 365.25 * 86_400;

interface TimeToLive {
  enable(table: string, attribute: string): void;
  /** Deletes the items that have expired by `at`, in milliseconds. Returns how many. */
  sweep(at: number): Promise<number>;
}

/** Time to live, which dynalite lacks: the sweep that DynamoDB makes some time after the fact. */
export function createTimeToLive(
  store: Store,
  deleteItem: (table: string, item: Item) => Promise<void>,
): TimeToLive {
  const attributes = new Map<string, string>();

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
  };
}
