/** What links the items of a study: learners who answered several of them. Without a link, parts of a test have no common scale. */
import { condition, type Condition } from '../conditions.ts';
import { answersOf } from '../model.ts';
import { addTo, at } from '../numbers.ts';
import type { StudyData } from '../study-data.ts';

/** With fewer common learners, two items hardly link their parts; in a study of fewer than twice as many learners half of them suffice. */
export const COMMON_LEARNERS = 10;

/** The most steps (sets of answered items x pairs of items) of counting common learners; above them only unlinked parts are looked for. */
const MAXIMUM_STEPS = 2e9;
/** The most items of which each is taken out in turn, to see whether it is the only link. */
const MAXIMUM_ITEMS = 500;

/** How items are linked by learners. Items are indices in the order of the Q-matrix. */
export interface Linkage {
  /** Different sets of items that learners answered. */
  readonly sets: number;
  /** Items that a chain of learners links, one list per part. */
  readonly parts: readonly (readonly number[])[];
  /** Learners who answered both items, at first * items + second; absent if all answers are given, or the table is too large. */
  readonly common?: Float64Array;
  /** Why the pieces of a linked part are linked weakly, one entry per such part. */
  readonly weak: readonly WeakLink[];
}

interface WeakLink {
  /** The only item between the pieces, or the number of common learners that no two items of different pieces have. */
  readonly only: { readonly item: number } | { readonly learners: number };
  readonly pieces: readonly (readonly number[])[];
}

/** Finds the parts of a study. */
export function linkageOf({ items, responses, missing }: StudyData): Linkage {
  const count = items.length;
  const all = [...items.keys()];
  if (missing === 0) return { sets: 1, parts: [all], weak: [] };
  const sets = answeredSets({ items, responses });
  const linked = unionOf(count, sets.values());
  const parts = { sets: sets.size, parts: linked };
  if (sets.size * count * count > MAXIMUM_STEPS) return { ...parts, weak: [] };
  const common = new Float64Array(count * count);
  for (const { own, learners } of sets.values())
    for (const j of own) for (const i of own) addTo(common, j * count + i, learners);
  const learners = Math.min(COMMON_LEARNERS, Math.ceil(responses.learners / 2));
  const isLink = (j: number, i: number): boolean => at(common, j * count + i) >= learners;
  return { ...parts, common, weak: linked.flatMap((part) => weakLinkOf(part, learners, isLink)) };
}

/** Returns what links the pieces of a linked part weakly: too few learners, or a single item; empty if neither does. */
function weakLinkOf(
  part: readonly number[],
  learners: number,
  isLink: (j: number, i: number) => boolean,
): WeakLink[] {
  const firmly = componentsOf(part, isLink);
  if (firmly.length > 1) return [{ only: { learners }, pieces: firmly }];
  if (part.length > MAXIMUM_ITEMS) return [];
  for (const item of part) {
    const pieces = componentsOf(
      part.filter((j) => j !== item),
      isLink,
    );
    if (pieces.filter(({ length }) => length > 1).length > 1) return [{ only: { item }, pieces }];
  }
  return [];
}

interface AnsweredSet {
  readonly own: readonly number[];
  learners: number;
}

/** Groups learners by the items that they answered. */
function answeredSets({
  items,
  responses,
}: Pick<StudyData, 'items' | 'responses'>): Map<string, AnsweredSet> {
  const sets = new Map<string, AnsweredSet>();
  responses.counts.forEach((learners, row) => {
    const answers = answersOf(responses, row);
    const own = [...items.keys()].filter((j) => (answers[j] ?? -1) >= 0);
    const key = own.join();
    const set = sets.get(key) ?? { own, learners: 0 };
    set.learners += learners;
    sets.set(key, set);
  });
  return sets;
}

/** Merges the items of each set. */
function unionOf(count: number, sets: Iterable<AnsweredSet>): number[][] {
  const leader = Array.from({ length: count }, (_, j) => j);
  const find = (j: number): number => {
    let top = j;
    while (leader[top] !== top) top = leader[top] = leader[leader[top] ?? top] ?? top;
    return top;
  };
  for (const { own } of sets) for (const j of own) leader[find(j)] = find(own[0] ?? j);
  const parts = Map.groupBy(leader.keys(), find);
  return [...parts.values()];
}

/** Returns the connected components of a graph of items. */
function componentsOf(items: readonly number[], isLink: (j: number, i: number) => boolean): number[][] {
  const left = new Set(items);
  const parts: number[][] = [];
  for (const first of items) {
    if (!left.delete(first)) continue;
    const part = [first];
    for (const j of part) {
      for (const i of left) {
        if (!isLink(j, i)) continue;
        left.delete(i);
        part.push(i);
      }
    }
    parts.push(part.toSorted((a, b) => a - b));
  }
  return parts;
}

/** Returns the conditions of parts that nothing or little links. */
export function linkageConditions({ items }: StudyData, { parts, weak }: Linkage): Condition[] {
  const named = (all: readonly (readonly number[])[]): string[] => all.map((part) => partName(items, part));
  return [
    ...(parts.length === 1 ? [] : [condition('unlinked_parts', named(parts))]),
    ...weak.map(({ only, pieces }) =>
      condition('weakly_linked_parts', named(pieces), {
        link:
          'item' in only
            ? `only item "${items[only.item] ?? ''}" links them`
            : `no two items of different parts share ${only.learners} learners`,
      }),
    ),
  ];
}

/** The name of a part lists this many items if it has more than one beyond them. */
const LISTED = 5;

/** Returns the name of a part: its items, or the first of them and their number. */
function partName(items: readonly string[], part: readonly number[]): string {
  const isLong = part.length > LISTED + 1;
  const names = part.slice(0, isLong ? LISTED : part.length).map((j) => items[j] ?? '');
  return isLong ? `${names.join(', ')}, … (${part.length} items)` : names.join(', ');
}
