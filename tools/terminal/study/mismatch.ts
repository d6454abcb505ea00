import { nearest, quoted, shown } from './names.ts';
import { binaryOf } from './numbers.ts';

/** The names on both sides of a study whose tables share no item. */
export interface Sides {
  readonly qMatrix: string;
  /** Names of the columns of answers, without that of ids where there is one. */
  readonly columns: readonly string[];
  /** The first column of the answers. */
  readonly firstCells: readonly string[];
  readonly items: readonly string[];
  /** Names of the columns of the Q-matrix. */
  readonly qColumns: readonly string[];
}

/** Whether a row of names contains answers instead: the header row is missing. */
export function isHeadless(header: readonly string[]): boolean {
  const answers = header.filter((name) => binaryOf(name) !== undefined || /^(?:na|n\/a|nan)$/i.test(name));
  return answers.length > 1 && answers.length >= header.length - 1;
}

/** The sentence about a table of answers without a row of names. */
export function headlessDefect(header: readonly string[], items: readonly string[]): string {
  const hasIds = binaryOf(header[0] ?? '') === undefined || items.length === header.length - 1;
  const count = header.length - Number(hasIds);
  const names = items.length === count ? items : Array.from({ length: count }, (_, j) => `I${j + 1}`);
  const example = [...(hasIds ? ['id'] : []), ...names.slice(0, 3)].join(',');
  return `row 1 contains answers instead of names: the header row is missing. Add a first row with the names of the ${count} items, "${example},…"`;
}

/** Why no column of the answers is named after an item, in one sentence that shows both sides. */
export function mismatchDefect(sides: Sides): string {
  const { qMatrix, columns, firstCells, items, qColumns } = sides;
  const shared = (names: readonly string[], others: readonly string[]): boolean => {
    const known = new Set(others);
    const count = names.filter((name) => known.has(name)).length;
    return count > 0 && count >= Math.min(names.length, others.length) / 2;
  };
  if (shared(items, firstCells))
    return `row 1: the table has one row per item and must have one row per learner: transpose it (rows become columns)`;
  if (shared(columns, qColumns))
    return `row 1: ${qMatrix} has one column per item and must have one row per item: transpose it (rows become columns)`;
  const both = `row 1 contains ${quoted(columns, 3)}; the items of ${qMatrix} are ${quoted(items, 3)}`;
  const near = nearest(columns);
  const pairs = items.flatMap((item) => {
    const other = near(item);
    return other === undefined ? [] : [`"${shown(other)}" for "${shown(item)}"`];
  });
  const position =
    columns.length === items.length
      ? `, or add --by-position if the ${items.length} items are in the same order`
      : '';
  if (pairs.length > 0)
    return `${both}. They may mean the same (${pairs.slice(0, 3).join(', ')}): give the items the same names in both tables${position}`;
  return `row 1: no column is named after an item of ${qMatrix}. ${both}: give the items the same names in both tables${position}. If the table has one row per answer, name its columns: --learner COL --item COL --score COL`;
}
