import { counted } from './numbers.ts';
import { shown } from './names.ts';
import { MISSING } from './values.ts';

/** What a reader understood of a study: shown before anything is computed from it. */
export interface Understood {
  readonly learners: {
    readonly count: number;
    readonly first: string;
    readonly last: string;
    /** The column of their ids; undefined if they are numbered. */
    readonly column: string | undefined;
  };
  readonly items: {
    readonly count: number;
    readonly first: string;
    readonly last: string;
    readonly by: 'name' | 'position';
  };
  readonly kcs: readonly string[];
  readonly codes: string;
  readonly scoring: string;
  readonly booklets: Booklets;
  /** Sentences about what was left out or is not in the plain form. */
  readonly notes: readonly string[];
}

/** Sets of items that learners answered; a set inside another one is of that booklet. */
export interface Booklets {
  /** Undefined above `MAXIMUM_BOOKLETS`. */
  readonly count: number | undefined;
  /** How many different sets of answered items there are. */
  readonly sets: number;
  /** Fewest and most items of a booklet. */
  readonly items: readonly [number, number];
}

/** More sets than these are no booklets, but gaps. */
const MAXIMUM_BOOKLETS = 50;

/** Counts the booklets of rows of answers; rows without any answer have none. */
export function bookletsOf(rows: readonly Int8Array[]): Booklets {
  const sets = new Map<string, readonly number[]>();
  for (const answers of rows) {
    let key = '';
    for (const answer of answers) key += answer === MISSING ? '0' : '1';
    if (!sets.has(key))
      sets.set(
        key,
        Array.from(answers.keys()).filter((j) => key[j] === '1'),
      );
  }
  const largestFirst = [...sets]
    .filter(([, items]) => items.length > 0)
    .sort(([, a], [, b]) => b.length - a.length);
  const booklets: (readonly [string, readonly number[]])[] = [];
  for (const [key, items] of largestFirst) {
    if (booklets.some(([larger]) => items.every((j) => larger[j] === '1'))) continue;
    booklets.push([key, items]);
    if (booklets.length > MAXIMUM_BOOKLETS) break;
  }
  const sizes = booklets.map(([, items]) => items.length);
  return {
    count: booklets.length > MAXIMUM_BOOKLETS ? undefined : booklets.length,
    sets: largestFirst.length,
    items: [Math.min(...sizes), Math.max(...sizes)],
  };
}

/** The five lines of what was understood, and one line per note. */
export function understoodLines({
  learners,
  items,
  kcs,
  codes,
  scoring,
  booklets,
  notes,
}: Understood): string[] {
  const range = (first: string, last: string): string => `"${shown(first)}" to "${shown(last)}"`;
  const ids =
    learners.column === undefined
      ? 'numbered, because there is no column of ids'
      : learners.column === ''
        ? 'ids in the unnamed first column'
        : `ids in column "${shown(learners.column)}"`;
  return [
    `learners  ${counted(learners.count)}: ${range(learners.first, learners.last)}, ${ids}`,
    `items     ${items.count}: ${range(items.first, items.last)}, matched by ${items.by}; ${kcs.length} knowledge component${kcs.length === 1 ? '' : 's'}: ${range(kcs[0] ?? '', kcs.at(-1) ?? '')}`,
    `codes     ${codes}`,
    `scoring   ${scoring}`,
    `booklets  ${bookletText(booklets, items.count)}`,
    ...notes.map((note) => `note      ${note}`),
  ];
}

function bookletText({ count, sets, items: [fewest, most] }: Booklets, items: number): string {
  const size = fewest === most ? `${most} items` : `${fewest} to ${most} items`;
  if (count === undefined)
    return `more than ${MAXIMUM_BOOKLETS}: learners answered ${counted(sets)} different sets of items`;
  if (count === 1 && most === items)
    return sets === 1
      ? '1: every learner answered every item'
      : `1 of ${size}; with gaps, ${counted(sets)} sets of answered items`;
  return `${count} of ${size}${sets > count ? `; with gaps, ${counted(sets)} sets of answered items` : ''}`;
}
