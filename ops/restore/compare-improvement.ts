import { isDeepStrictEqual } from 'node:util';
import { isTerminal, type RunRecord } from '#shared/improvement/records.ts';
import {
  isReadable,
  openItem,
  openKey,
  openPartition,
  partOfRun,
  runOf,
} from '#shared/stores/improvement-items.ts';
import type { Item, ItemKey } from '#shared/stores/dynamo.ts';
import { bySortKey, sortKeyOf, unrepaired, type Compare, type Finding } from './finding.ts';

/**
 * Compares one run, or one lineage of orders. Its items have no checksums: an item is damaged when it cannot be read as what its key names.
 * The list of open runs is not copied, but made again from the runs that have not ended.
 * @param find an item of the live table
 */
export function createCompareImprovement(find: (key: ItemKey) => Promise<Item | undefined>): Compare {
  return async (pk, backup, current) => {
    if (pk === openPartition) return [];
    const was = readRun(backup);
    const now = readRun(current);
    // Parts of pins are only readable together, with their run.
    const isSound = (item: Item, run: RunRecord | undefined): boolean =>
      partOfRun(item) === 'pins' ? run !== undefined : isReadable(item);
    const held = bySortKey(current);
    const saved = bySortKey(backup);
    const findings: Finding[] = [];
    for (const item of backup) {
      const what = nameOf(pk, item);
      const there = held.get(sortKeyOf(item));
      const isCopySound = isSound(item, was);
      if (!isCopySound) findings.push(unrepaired(`${what} in the backup`, 'damaged', 'not copied'));
      if (isDeepStrictEqual(item, there)) continue;
      const state = there === undefined ? 'missing' : 'damaged';
      if (there !== undefined && isSound(there, now)) findings.push({ what, state: 'changed', writes: [] });
      else if (isCopySound) findings.push({ what, state, writes: [{ item, over: there }] });
      else findings.push(unrepaired(what, state, 'the backup has no sound copy'));
    }
    for (const item of current) {
      if (!saved.has(sortKeyOf(item)) && !isReadable(item))
        findings.push(unrepaired(nameOf(pk, item), 'damaged', 'the backup does not have it'));
    }
    return [...findings, ...(await compareListing(find, now ?? was))];
  };
}

/** A run that has not ended has to be in the list that the sweeper reads. */
async function compareListing(
  find: (key: ItemKey) => Promise<Item | undefined>,
  run: RunRecord | undefined,
): Promise<readonly Finding[]> {
  if (run === undefined || isTerminal(run.state)) return [];
  if ((await find(openKey(run))) !== undefined) return [];
  const what = `${openPartition} ${run.improvementRunId}`;
  return [{ what, state: 'missing', writes: [{ item: openItem(run) }] }];
}

function readRun(items: readonly Item[]): RunRecord | undefined {
  try {
    return runOf(items);
  } catch {
    return undefined;
  }
}

function nameOf(pk: string, item: Item): string {
  return `${pk} ${sortKeyOf(item)}`;
}
