import { readCsv, type CsvTable } from '../csv.ts';
import type { NamedText } from './files.ts';
import { quoted } from './names.ts';

/**
 * Reads the right answer of each item: a table with the columns item and key, or with one column per item and one row.
 * @returns the keys in the order of the items, and what is wrong with them
 */
export function readKey(
  { name, text }: NamedText,
  items: readonly string[],
): { readonly keys: readonly string[]; readonly defects: readonly string[] } {
  const table = readCsv(text);
  if (!table.ok) return { keys: [], defects: table.error.map((defect) => `${name}: ${defect}`) };
  const known = new Set(items);
  const pairs = pairsOf(table.value, known).filter(([item, key]) => known.has(item) && key !== '');
  const found = new Map(pairs);
  const absent = items.filter((item) => !found.has(item));
  const several = pairs.length > found.size ? [`${name}: an item has several keys: keep one per item`] : [];
  return {
    keys: items.map((item) => found.get(item) ?? ''),
    defects: [
      ...several,
      ...(absent.length === 0
        ? []
        : [
            `${name}: no key for ${quoted(absent)}: the file needs the columns item and key, or one column per item and one row`,
          ]),
    ],
  };
}

function pairsOf({ header, rows }: CsvTable, items: ReadonlySet<string>): (readonly [string, string])[] {
  const [row] = rows;
  const isWide = rows.length === 1 && header.filter((name) => items.has(name)).length > 1;
  if (isWide) return header.map((item, at) => [item, row?.cells[at] ?? '']);
  // Without a row of names, the first row is one of an item.
  return [header, ...rows.map(({ cells }) => cells)].map(([item = '', key = '']) => [item, key]);
}
