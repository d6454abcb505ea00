import type { Item } from '#shared/stores/dynamo.ts';
import type { Write } from '#shared/stores/table-backup.ts';

/** One thing that differs between the store and its backup. */
export interface Finding<W = Write> {
  readonly what: string;
  /** `changed`: valid and newer, so it stays. `withheld`: a restore never copies it. */
  readonly state: 'missing' | 'damaged' | 'changed' | 'withheld';
  readonly note?: string;
  /** In this order. None for what is missing or damaged: the backup cannot repair it. */
  readonly writes: readonly W[];
}

/** Compares one partition of a table with its backup. Either of them may be empty. */
export type Compare = (
  pk: string,
  backup: readonly Item[],
  current: readonly Item[],
) => readonly Finding[] | Promise<readonly Finding[]>;

export function sortKeyOf(item: Item): string {
  return String(item['sk']);
}

/** Returns the items by their sort keys. */
export function bySortKey(items: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [sortKeyOf(item), item]));
}

/** Returns a finding about what is missing or damaged and cannot be repaired. */
export function unrepaired(what: string, state: 'missing' | 'damaged', note: string): Finding<never> {
  return { what, state, note, writes: [] };
}
