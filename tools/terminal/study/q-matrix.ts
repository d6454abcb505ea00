import type { CsvRow, CsvTable } from '../csv.ts';
import { argument, columnDefects, quoted, rowDefects, shown } from './names.ts';
import { binaryOf, numberOf } from './numbers.ts';

/** Which knowledge components (KCs) each item needs, as a table marks them. */
export interface QMatrix {
  readonly items: readonly string[];
  readonly kcs: readonly string[];
  readonly kcsOf: readonly (readonly number[])[];
  /** Line of the file, per item. */
  readonly lines: readonly number[];
  /** Whether the table names its items. */
  readonly named: boolean;
  readonly defects: readonly string[];
  readonly notes: readonly string[];
}

/** Marks of a needed KC in a table without 1 and 0. */
const MARK = /^(?:[x✓✔☑√×●•*+]|✅)$/iu;

/**
 * Reads a Q-matrix: one row per item and one column per KC, one row per item with a list of KCs, or one row per item and KC.
 * @param positional whether items may go without a name
 */
export function readQMatrix(
  table: CsvTable,
  ignored: (name: string) => boolean,
  positional: boolean,
): QMatrix {
  const kept = { ...table, rows: table.rows.filter(({ cells }) => !ignored(cells[0] ?? '')) };
  const listed = fromList(kept);
  const matrix = listed?.table ?? kept;
  const named = !isUnnamed(matrix);
  const [corner = '', ...further] = matrix.header;
  const kcs = named ? further : matrix.header;
  const rows = matrix.rows.map(({ line, cells }) => ({ line, cells: named ? cells.slice(1) : cells }));
  const items = matrix.rows.map(({ cells, line }) => (named ? (cells[0] ?? '') : `row ${line}`));
  const none = { items, kcs, kcsOf: [], lines: rows.map(({ line }) => line), named };
  const notes = [...table.notes, ...(listed === undefined ? [] : [listed.note])];
  const headless = headerDefect(kcs, corner, named);
  if (headless !== undefined) return { ...none, items: [], notes, defects: [headless] };
  if (!named && !positional) return { ...none, notes, defects: [unnamed(corner, rows.length)] };
  const defects = [
    ...columnDefects(kcs, named ? 2 : 1),
    ...(named ? rowDefects(matrix.rows, 0, 'item') : []),
    ...(kcs.length === 0 ? ['row 1: there is no column of a knowledge component'] : []),
  ];
  const marks = readMarks(rows, kcs);
  notes.push(...marks.notes);
  defects.push(...marks.defects);
  if (defects.length > 0) return { ...none, notes, defects };
  return { ...none, kcsOf: marks.kcsOf, notes, defects: emptyDefects(none, marks.kcsOf) };
}

function unnamed(corner: string, rows: number): string {
  return `column "${shown(corner)}" contains only 1 and 0: the first column must name the items; if the ${rows} rows are in the order of the items of the answers, add --by-position`;
}

/** Whether the first column is one of 1 and 0 like the others. */
function isUnnamed({ rows }: CsvTable): boolean {
  return rows.every(({ cells }) => binaryOf(cells[0] ?? '') !== undefined);
}

/** Names of KCs that are entries of a Q-matrix: the row of names is missing. */
function headerDefect(kcs: readonly string[], corner: string, named: boolean): string | undefined {
  const entries = named ? kcs : [corner, ...kcs];
  const isEntry = (name: string): boolean => binaryOf(name) !== undefined || name === '' || MARK.test(name);
  if (entries.length < 2 || !entries.every(isEntry) || entries.every((name) => name === '')) return undefined;
  const example = kcs.map((_, k) => `KC${k + 1}`).slice(0, 3);
  const columns = `${kcs.length} knowledge component${kcs.length === 1 ? '' : 's'}`;
  return named
    ? `row 1 contains marks instead of names: the header row is missing. Add a first row that names the column of items and ${columns}, for example "item,${example.join(',')}"`
    : `row 1 contains marks instead of names: the header row is missing. Add a first row that names ${columns}, for example "${example.join(',')}", and a first column with the items (or add --by-position)`;
}

interface Marks {
  readonly kcsOf: readonly (readonly number[])[];
  readonly defects: readonly string[];
  readonly notes: readonly string[];
}

/** Reads the cells: 1 and 0, or marks and blanks. */
function readMarks(rows: readonly CsvRow[], kcs: readonly string[]): Marks {
  const found = new Map<string, { readonly place: string; count: number }>();
  for (const { line, cells } of rows) {
    cells.forEach((cell, k) => {
      const earlier = found.get(cell);
      if (earlier !== undefined) earlier.count += 1;
      else found.set(cell, { place: `row ${line}, column "${shown(kcs[k] ?? '')}"`, count: 1 });
    });
  }
  const values = [...found.keys()];
  const marks = values.filter((value) => MARK.test(value));
  const zeros = values.some((value) => binaryOf(value) === 0);
  const ones = values.some((value) => binaryOf(value) === 1);
  const blanksAreZero = !zeros && found.has('');
  const read = (cell: string): 0 | 1 | undefined =>
    cell === '' ? (blanksAreZero ? 0 : undefined) : MARK.test(cell) && !ones ? 1 : binaryOf(cell);
  const wrong = [...found].filter(([value]) => read(value) === undefined);
  const levels = wrong.filter(([value]) => (numberOf(value) ?? 0) > 1 && Number.isInteger(numberOf(value)));
  const defects = [
    ...(levels.length === 0
      ? []
      : [
          `${levels[0]?.[1].place}: found ${quoted(levels.map(([value]) => value))}, as in a polytomous Q-matrix (levels of a knowledge component): this model needs 1 and 0. Write 1, or make one column per level`,
        ]),
    ...wrong
      .filter((entry) => !levels.includes(entry))
      .map(([value, { place, count }]) => {
        const what = value === '' ? 'an empty cell' : `"${shown(value)}"`;
        const times = count === 1 ? what : `${what} (${count} cells)`;
        return `${place}: found ${times}; expected 1 if the item needs the knowledge component, otherwise 0${
          value === '' ? ' (empty cells count as 0 only in a table without any 0)' : ''
        }`;
      }),
  ];
  return {
    kcsOf: rows.map(({ cells }) => cells.flatMap((cell, k) => (read(cell) === 1 ? [k] : []))),
    defects,
    notes: [
      ...(marks.length === 0 ? [] : [`${quoted(marks)} in the Q-matrix was read as 1`]),
      ...(blanksAreZero ? [`empty cells of the Q-matrix were read as 0: ${found.get('')?.count}`] : []),
    ],
  };
}

/** Items that need nothing, KCs that nothing needs. */
function emptyDefects(
  { items, kcs, lines }: Pick<QMatrix, 'items' | 'kcs' | 'lines'>,
  kcsOf: readonly (readonly number[])[],
): string[] {
  const measured = new Set(kcsOf.flat());
  return [
    ...kcsOf.flatMap((own, j) =>
      own.length > 0
        ? []
        : [
            `row ${lines[j]}: item "${shown(items[j] ?? '')}" needs no knowledge component: mark at least one, or remove the item`,
          ],
    ),
    ...kcs.flatMap((kc, k) =>
      measured.has(k)
        ? []
        : [
            `column "${shown(kc)}": no item needs this knowledge component: remove the column, or add --ignore ${argument(kc)}`,
          ],
    ),
  ];
}

/** A Q-matrix that lists KCs per item, or has one row per item and KC, as one of 1 and 0; undefined for any other table. */
function fromList({ header, rows, notes }: CsvTable): { table: CsvTable; note: string } | undefined {
  const isMark = (cell: string): boolean => cell === '' || binaryOf(cell) !== undefined || MARK.test(cell);
  const second = rows.map(({ cells }) => cells[1] ?? '');
  const repeats = new Set(rows.map(({ cells }) => cells[0])).size < rows.length;
  const isPairs = repeats && header.length === 3 && rows.every(({ cells }) => isMark(cells[2] ?? ''));
  if (header.length !== 2 && !isPairs) return undefined;
  // One column of 1 and 0, or of levels, is a matrix.
  if (second.some((cell) => isMark(cell) && cell !== '1')) return undefined;
  if (second.every((cell) => cell === '1')) return undefined;
  const needs = new Map<string, { readonly line: number; readonly kcs: Set<string> }>();
  for (const { line, cells } of rows) {
    const [item = '', list = '', mark = '1'] = cells;
    const own = needs.get(item) ?? { line, kcs: new Set() };
    needs.set(item, own);
    if (mark === '' || binaryOf(mark) === 0) continue;
    for (const kc of isPairs ? [list] : listOf(list)) own.kcs.add(kc);
  }
  const kcs = [...new Set([...needs.values()].flatMap((own) => [...own.kcs]))];
  return {
    table: {
      header: [header[0] ?? '', ...kcs],
      rows: [...needs].map(([item, own]) => ({
        line: own.line,
        cells: [item, ...kcs.map((kc) => (own.kcs.has(kc) ? '1' : '0'))],
      })),
      notes,
    },
    note: `the Q-matrix has ${repeats ? 'one row per item and knowledge component' : 'a list of knowledge components per item'}: ${quoted(kcs)}`,
  };
}

/** The names of a list: in brackets, or separated by semicolons, commas, vertical bars or two tildes. */
function listOf(cell: string): readonly string[] {
  const inner = /^[[({](.*)[\])}]$/.exec(cell)?.[1] ?? cell;
  const parts = inner.split(/;|,|\||~~/).map((part) => part.trim().replace(/^(["'])(.*)\1$/, '$2'));
  return parts.filter((part) => part !== '');
}
