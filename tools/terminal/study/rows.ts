import type { CsvRow } from '../csv.ts';
import { argument, folded, shown } from './names.ts';
import { binaryOf, numberOf } from './numbers.ts';
import type { TableOptions } from './options.ts';
import { isGap } from './values.ts';

/*
 * Rows of a table of answers that are no learner: maximum points, keys, averages, totals, a second header, notes.
 */

/** What gradebooks and spreadsheets call such rows. */
const SUMMARY = new RegExp(
  [
    '^(?:',
    '(?:maximum|max\\.?|total|possible|highest|available)? ?(?:points?|scores?|marks?)(?: possible| available)?|out of|',
    '(?:(?:overall|class|grand|column|group|item|course) )?(?:average|avg\\.?|mean|median|totals?|sum|std\\.? ?dev\\.?|stdev|standard deviation|sd|variance|count|',
    'difficult(?:y|ies)|p[- ]?values?|discriminations?|percent(?:age)?(?: correct)?|% ?correct|facility)|',
    '(?:(?:answer|scoring|correct) )?keys?|correct(?: answers?| responses?)?|solutions?|',
    'maximal(?:e )?(?:punkte|punktzahl)|max\\.? punkte|punkte|durchschnitt|mittelwert|summe|gesamt|schlüssel|lösung(?:en)?|schwierigkeit(?:en)?|',
    'moyenne|corrigé|barème|promedio|media|clave|somme|suma|totale|среднее|итого|всего|ключ|平均|合計|正解',
    ')(?: ?[:=(].*| \\d.*)?$',
  ].join(''),
  'iu',
);

/** Rows that only look odd if there are some others. */
const FEWEST_ROWS = 5;
/** If more rows have values of their own, it is not the rows that are odd. */
const MOST_ODD_ROWS = 3;

/** Where the answers of a row are. */
export interface Layout {
  readonly header: readonly string[];
  /** Columns of items. */
  readonly items: readonly number[];
  /** The column of ids, where there is one. */
  readonly id: number | undefined;
}

/** Whether `--ignore-rows` or `--take` names a row: by its first cell, its id, or as `row N`. */
export function rowNamed(names: readonly string[] | undefined, ids: readonly (number | undefined)[]) {
  const wanted = new Set(names);
  return ({ line, cells }: CsvRow): readonly string[] =>
    wanted.size === 0
      ? []
      : [`row ${line}`, ...ids.flatMap((at) => (at === undefined ? [] : [cells[at] ?? '']))].filter((name) =>
          wanted.has(name),
        );
}

/** Names of `--take` that no row has. @param ids the columns that name a row */
export function absentRows(
  rows: readonly CsvRow[],
  { take = [] }: TableOptions,
  ids: readonly (number | undefined)[],
): readonly string[] {
  const namesOf = rowNamed(take, ids);
  const found = new Set(rows.flatMap(namesOf));
  return take
    .filter((name) => !found.has(name))
    .map((name) => `--take "${shown(name)}": no row begins with it`);
}

/** A row that is no learner: its line, and a sentence with the options that settle it. */
export interface OddRow {
  readonly line: number;
  readonly defect: string;
}

/** Whether a text is what people call a row of maximum points, a key, averages or totals. */
export function isSummary(label: string): boolean {
  return label.length < 60 && SUMMARY.test(label);
}

/** Finds the rows that are no learner. */
export function notLearners(
  rows: readonly CsvRow[],
  layout: Layout,
  options: TableOptions,
): readonly OddRow[] {
  const taken = rowNamed(options.take, [0, layout.id]);
  const lonely = lonelyValues(rows, layout);
  const marks = new Set(options.missing);
  const notes = notesBelow(rows, layout);
  const odd = rows.flatMap((row) => {
    const reason =
      taken(row).length > 0 ? undefined : notes.has(row.line) ? NOTE : reasonOf(row, layout, lonely, marks);
    return reason === undefined ? [] : [{ row, reason }];
  });
  const byValues = odd.filter(({ reason }) => reason.kind === 'values').length;
  const isColumn = byValues > mostOdd(rows);
  return odd.flatMap(({ row, reason }) => {
    if (isColumn && reason.kind === 'values') return [];
    const advice = remedy(row, reason, layout, options, lonely);
    return [{ line: row.line, defect: `row ${row.line}: ${reason.why}: ${advice}` }];
  });
}

interface Reason {
  readonly why: string;
  /** Whether a name, the names of row 1 or only the values make the row odd. */
  readonly kind: 'name' | 'header' | 'values';
  /** The name. */
  readonly label?: string;
}

const NOTE: Reason = {
  kind: 'name',
  why: 'the row has only text in the column of ids, unlike the other ids: this looks like a note below the table',
};

/** Lines of the last rows that contain nothing but a text unlike the ids; none in a table with many rows without answers. */
function notesBelow(rows: readonly CsvRow[], { id }: Layout): ReadonlySet<number> {
  if (id === undefined || rows.length < FEWEST_ROWS) return new Set();
  const isBare = ({ cells }: CsvRow): boolean => cells.every((cell, at) => (cell === '') === (at !== id));
  const bare = rows.filter(isBare);
  if (bare.length > mostOdd(rows)) return new Set();
  const last = rows.slice(rows.findLastIndex((row) => !isBare(row)) + 1);
  const ids = rows.slice(0, rows.length - last.length).map(({ cells }) => cells[id] ?? '');
  const shapes = new Set(ids.map(shapeOf));
  const lengths = new Set(ids.map(({ length }) => length));
  const isId = (text: string): boolean =>
    numberOf(text) !== undefined ||
    shapes.has(shapeOf(text)) ||
    (!/\s/.test(text) && lengths.has(text.length));
  return new Set(last.filter(({ cells }) => !isId(cells[id] ?? '')).map(({ line }) => line));
}

/** A text with one sign for each word and one for each number. */
function shapeOf(text: string): string {
  return text.replaceAll(/\p{L}+/gu, 'a').replaceAll(/\d+/g, '0');
}

/** If more rows than these are odd, it is the table that is odd. */
function mostOdd(rows: readonly CsvRow[]): number {
  return Math.max(MOST_ODD_ROWS, rows.length / 20);
}

/** The options between which the user chooses. @param mayTake whether the row could be scored as a learner's */
export function choice(name: string, mayTake: boolean): string {
  const take = `, or take it as a learner with --take ${argument(name)}`;
  return `leave it out with --ignore-rows ${argument(name)}${mayTake ? take : ''}`;
}

/** Whether all cells of a row can be answers under the options. @param lonely values of no other row */
export function areAnswers(
  given: readonly string[],
  { key, correctFrom, correct, incorrect }: TableOptions,
  lonely: ReadonlySet<string>,
): boolean {
  const listed = incorrect === undefined ? undefined : new Set([...(correct ?? []), ...incorrect]);
  return given.every((cell) => {
    if (key !== undefined) return !lonely.has(cell);
    if (correctFrom !== undefined) return numberOf(cell) !== undefined;
    if (correct !== undefined) return listed?.has(cell) ?? !lonely.has(cell);
    return binaryOf(cell) !== undefined;
  });
}

/** What people call a row with the right answers. */
const KEY = /key|correct|solution|schlüssel|lösung|corrigé|clave|ключ|正解/iu;

/** What to do with an odd row. */
function remedy(
  row: CsvRow,
  reason: Reason,
  layout: Layout,
  options: TableOptions,
  lonely: ReadonlySet<string>,
): string {
  const first = row.cells[layout.id ?? 0] ?? '';
  const name = first !== '' && layout.id === 0 ? first : `row ${row.line}`;
  const given = answersOf(row, layout, new Set(options.missing));
  const chosen = given.filter((cell) => /^[\p{L}\d]$/u.test(cell) && !lonely.has(cell));
  const isScored = areAnswers(given, options, lonely);
  if (KEY.test(reason.label ?? '') && !isScored && chosen.length > given.length / 2)
    return `if it has the right answers, save row 1 and this row as a file, and add --key FILE --ignore-rows ${argument(name)}`;
  return choice(name, isScored && reason.kind !== 'header');
}

/** The cells of items that are not empty and mark no missing answer. */
function answersOf({ cells }: CsvRow, { items }: Layout, missing: ReadonlySet<string>): readonly string[] {
  return items.map((at) => cells[at] ?? '').filter((cell) => !isGap(cell) && !missing.has(cell));
}

function reasonOf(
  row: CsvRow,
  layout: Layout,
  lonely: ReadonlySet<string>,
  missing: ReadonlySet<string>,
): Reason | undefined {
  const { cells } = row;
  const { header, items, id } = layout;
  const repeated = items.filter((at) => cells[at] !== '' && cells[at] === header[at]).length;
  if (repeated > items.length / 2)
    return { kind: 'header', why: 'this repeats the names of row 1, as joined exports do' };
  const isItem = new Set(items);
  const label = cells.find((cell, at) => !isItem.has(at) && isSummary(cell));
  if (label !== undefined) return { kind: 'name', label, why: `"${shown(label)}" is no learner` };
  const given = answersOf(row, layout, missing);
  if (id !== undefined && /^max(?:imum)?$/i.test(folded(cells[id] ?? '')) && new Set(given).size === 1)
    return { kind: 'name', why: 'this looks like a row of maximum points' };
  if (given.length < 2) return undefined;
  const own = given.filter((cell) => lonely.has(cell));
  const fractions = own.filter((cell) => {
    const n = numberOf(cell) ?? NaN;
    return n > 0 && n < 1;
  });
  if (fractions.length > given.length / 2)
    return {
      kind: 'values',
      why: `values like ${fractions[0]} occur in no other row: this looks like a row of averages or difficulties`,
    };
  if (own.length > given.length / 2 && own.some((cell) => !/^-|^9+$/.test(cell)))
    return {
      kind: 'values',
      why: `values like "${shown(own[0] ?? '')}" occur in no other row: this looks like a row of maximum points, a key, totals or a second header`,
    };
  return undefined;
}

/** Values that only one row has and that are unlike the others: text, fractions, or higher than the shared numbers; empty for few rows. */
function lonelyValues(rows: readonly CsvRow[], { items }: Layout): ReadonlySet<string> {
  if (rows.length < FEWEST_ROWS) return new Set();
  const first = new Map<string, number>();
  const shared = new Set<string>();
  for (const { line, cells } of rows) {
    for (const at of items) {
      const cell = cells[at] ?? '';
      const earlier = first.get(cell);
      if (earlier === undefined) first.set(cell, line);
      else if (earlier !== line) shared.add(cell);
    }
  }
  let highest = -Infinity;
  for (const cell of shared) highest = Math.max(highest, numberOf(cell) ?? -Infinity);
  const isUnlike = (cell: string): boolean => {
    const n = numberOf(cell);
    return n === undefined || !Number.isInteger(n) || n > highest;
  };
  return new Set([...first.keys()].filter((cell) => cell !== '' && !shared.has(cell) && isUnlike(cell)));
}
