import type { CsvRow, CsvTable } from '../csv.ts';
import { headlessDefect, isHeadless, mismatchDefect } from './mismatch.ts';
import { argument, columnDefects, lengthDefect, nearest, quoted, rowDefects, shown } from './names.ts';
import { numberOf } from './numbers.ts';
import type { TableOptions } from './options.ts';
import { absentRows, areAnswers, choice, isSummary, notLearners, rowNamed } from './rows.ts';

/** Takes one cell with an answer; indices of learner and item, and where the cell is. */
export type Visitor = (learner: number, item: number, cell: string, line: number, column: string) => void;

/** A table of answers whose shape is known and whose values are not judged yet. */
export interface Sheet {
  readonly learners: readonly string[];
  /** The name of the column of ids; undefined if learners are numbered. */
  readonly column: string | undefined;
  /** The items that the table has. */
  readonly found: ReadonlySet<string>;
  /** Names of the table that are neither an item nor read otherwise. */
  readonly others: readonly string[];
  /** Goes through all answers in the order of rows. */
  readonly visit: (each: Visitor) => void;
  readonly defects: readonly string[];
  readonly notes: readonly string[];
}

/** What is known of the items before the answers are read. */
export interface Expected {
  readonly indexOf: ReadonlyMap<string, number>;
  readonly qColumns: readonly string[];
  readonly responses: string;
  readonly qMatrix: string;
}

/** Reads a table with one row per learner and one column per item, or with one row per answer. */
export function readSheet(table: CsvTable, expected: Expected, options: TableOptions): Sheet {
  const isWide = table.header.some((name) => expected.indexOf.has(name));
  if (options.item === undefined && options.score === undefined) {
    if (isWide) return readWide(table, expected, options);
    if (!ROLES.every((role) => columnsOf(table.header, role).length > 0))
      return readWide(table, expected, options);
  }
  return readLong(table, expected, options);
}

const unread = {
  learners: [],
  column: undefined,
  found: new Set<string>(),
  others: [],
  visit: () => undefined,
  notes: [],
};

/** The column of ids of a table with one row per learner; undefined if its first column is an item. */
export function idColumn(
  header: readonly string[],
  isItem: (name: string) => boolean,
  learner: string | undefined,
): number | undefined {
  if (learner !== undefined) return header.indexOf(learner);
  return isItem(header[0] ?? '') ? undefined : 0;
}

/** One column per item; ids in the first column or that of `--learner`; otherwise learners are numbered. */
function readWide(table: CsvTable, expected: Expected, options: TableOptions): Sheet {
  const { indexOf, qMatrix } = expected;
  const isItem = (name: string): boolean => indexOf.has(name);
  const id = idColumn(table.header, isItem, options.learner);
  if (id === -1)
    return { ...unread, defects: [absentColumn('learner', options.learner ?? '', table.header)] };
  const { header, rows, notes } = withoutIndex(table, id);
  // The column of row numbers was before that of ids.
  const at = id === undefined || header === table.header ? id : id - 1;
  const found = new Set(header.filter(isItem));
  if (found.size === 0) return { ...unread, defects: [noItem(header, rows, expected)] };
  const items = header.flatMap((name, column) => (isItem(name) ? [column] : []));
  const odd = notLearners(rows, { header, items, id: at }, options);
  const oddLines = new Set(odd.map(({ line }) => line));
  const learners = rows.filter(({ line }) => !oddLines.has(line));
  const others = header.flatMap((name, column) =>
    name === '' || column === at || isItem(name) ? [] : [{ name, column }],
  );
  const spare = others.filter(({ column }) => isUnique(learners, column)).map(({ name }) => name);
  const ofIds = at === undefined ? [] : idDefects(learners, at, header[at] ?? '', spare, options);
  // A column that may contain the ids is named with them.
  const further = others.filter(({ name }) => ofIds.length === 0 || name !== spare[0]);
  return {
    learners: learners.map(({ cells }, n) => (at === undefined ? String(n + 1) : (cells[at] ?? ''))),
    column: at === undefined ? undefined : (header[at] ?? ''),
    found,
    others: others.map(({ name }) => name),
    visit: (each) => {
      const columns = items.map((column) => [column, header[column] ?? ''] as const);
      learners.forEach(({ line, cells }, n) => {
        for (const [column, name] of columns)
          each(n, indexOf.get(name) ?? -1, cells[column] ?? '', line, name);
      });
    },
    defects: [
      ...columnDefects(
        header.map((name, column) => (column === at ? '\0' : name)),
        1,
      ),
      ...absentRows(rows, options, [0, at]),
      ...odd.map(({ defect }) => defect),
      ...ofIds,
      ...otherColumns(
        further.map(({ name }) => name),
        expected,
        found,
        qMatrix,
        at === undefined || header[at] === '' ? spare : [],
      ),
    ],
    notes,
  };
}

/** Why a table without any item's name cannot be read. */
function noItem(header: readonly string[], rows: readonly CsvRow[], expected: Expected): string {
  const items = [...expected.indexOf.keys()];
  if (isHeadless(header)) return headlessDefect(header, items);
  return mismatchDefect({
    ...expected,
    columns: header.length === items.length ? header : header.slice(1),
    firstCells: rows.map(({ cells }) => cells[0] ?? ''),
    items,
  });
}

/** The table without an unnamed column of row numbers, if another column contains the ids. */
function withoutIndex(table: CsvTable, id: number | undefined): CsvTable {
  const { header, rows, notes } = table;
  const numbers = new Set(rows.map(({ cells }) => (/^\d+$/.test(cells[0] ?? '') ? cells[0] : '')));
  const isIndex =
    id !== undefined && id > 0 && header[0] === '' && numbers.size === rows.length && !numbers.has('');
  if (!isIndex) return table;
  return {
    header: header.slice(1),
    rows: rows.map(({ line, cells }) => ({ line, cells: cells.slice(1) })),
    notes: [...notes, `left out: the unnamed first column, which numbers the rows`],
  };
}

function isUnique(rows: readonly CsvRow[], column: number): boolean {
  const values = rows.map(({ cells }) => cells[column] ?? '');
  return (
    !values.includes('') &&
    new Set(values).size === values.length &&
    values.every((value) => Number.isInteger(numberOf(value) ?? 1))
  );
}

/** Ids that are missing, long or repeated, and how to go on. */
function idDefects(
  rows: readonly CsvRow[],
  at: number,
  name: string,
  spare: readonly string[],
  options: TableOptions,
): string[] {
  const defects = rowDefects(rows, at, 'learner id').map((defect) => {
    const [, row] = /^(row \d+): no learner id$/.exec(defect) ?? [];
    return row === undefined
      ? defect
      : `${defect}: add one, or, if this is no learner, leave it out with --ignore-rows "${row}"`;
  });
  if (defects.length === 0) return [];
  const rounded = rows.filter(({ cells }) => /^\d[.,]\d+E\+\d+$/i.test(cells[at] ?? '')).length;
  const cause =
    rounded > rows.length / 2
      ? 'a spreadsheet rounded the ids: export them again from a column of text'
      : 'give each learner an id of its own';
  const column =
    spare.length > 0
      ? `; if the ids are in ${quoted(spare)}, add --learner ${argument(spare[0] ?? '')}${name === '' ? '' : ` --ignore ${argument(name)}`}`
      : '';
  const numbers =
    name === '' || options.learner !== undefined
      ? ''
      : `, or number the learners with --ignore ${argument(name)}`;
  // If most rows are affected, it is the wrong column.
  const [first = '', ...more] = defects;
  const named =
    defects.length > rows.length / 2 && more.length > 0
      ? [`${first}, and ${more.length} rows like this`]
      : defects;
  return [`row 1, column "${shown(name)}": ${cause}${numbers}${column}`, ...named];
}

/** More columns than these are left out by a pattern. */
const MANY_COLUMNS = 12;

/** Columns that are neither ids nor an item. */
function otherColumns(
  others: readonly string[],
  { indexOf }: Expected,
  found: ReadonlySet<string>,
  qMatrix: string,
  spare: readonly string[],
): string[] {
  const absent = [...indexOf.keys()].filter((item) => !found.has(item));
  const near = nearest(absent);
  const alike = others.filter((name) => near(name) !== undefined);
  const rest = others.filter((name) => near(name) === undefined);
  const weights = rest.some((name) =>
    /^(?:w(?:[_-].*)?|(?:.*[_ -])?(?:wgt|weights?|gewicht(?:ung)?|poids|peso)(?:[_ -].*)?)$/i.test(name),
  );
  const [first] = spare.filter((name) => rest.includes(name));
  const left = rest.filter((name) => name !== first);
  // One name for each item that is missing: more likely another name than another column.
  const renamed =
    left.length > 0 && left.length === absent.length
      ? `; but if it is the item that is missing here (${quoted(absent)}), give it the same name in both tables`
      : '';
  return [
    ...alike.map(
      (name) =>
        `row 1: no item of ${qMatrix} is named "${shown(name)}"; it has "${shown(near(name) ?? '')}": give the item the same name in both tables`,
    ),
    ...(rest.length === 0
      ? []
      : [
          `row 1: no item of ${qMatrix} is named ${quoted(rest, MANY_COLUMNS)}: add --ignore ${
            rest.length > MANY_COLUMNS
              ? '"*", which leaves out all columns that are no item'
              : argument(...rest)
          }${
            first === undefined
              ? ''
              : `, or, if "${shown(first)}" contains the learner ids, --learner ${argument(first)}${left.length === 0 ? '' : ` --ignore ${argument(...left)}`}`
          }${renamed}${weights ? '. Weights of learners are not used: every learner counts once' : ''}`,
        ]),
  ];
}

const ROLES = ['learner', 'item', 'score'] as const;
type Role = (typeof ROLES)[number];

/** What platforms call the columns of a table with one row per answer; the second pattern counts only without the first. */
const SYNONYMS: Readonly<Record<Role, readonly [RegExp, RegExp]>> = {
  learner: [
    /^(?:(?:anon)?(?:learner|student|user|person|pupil|examinee|participant|respondent|candidate|testtaker|subject)(?:id|code|name|no|number|guid)?|idstud|uid|schüler(?:in)?|élève|alumno)$/u,
    /^id$/,
  ],
  item: [
    /^(?:(?:item|question|problem|task|exercise|aufgabe|frage|quest|assessmentitem)(?:id|code|name|no|number|guid|label)?|qid|iid)$/u,
    /^(?:step|stepname|content|contentid)$/,
  ],
  score: [
    /^(?:(?:item)?score|correct(?:ness)?|iscorrect|correctfirstattempt|firstattemptcorrect|scored(?:response)?|ergebnis|richtig)$/u,
    /^(?:result|outcome|points|punkte|response|answer|value)$/,
  ],
};

/** The columns that may have a role; a column of the role's own name is the only one. */
function columnsOf(header: readonly string[], role: Role): readonly number[] {
  const names = header.map((name) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ''));
  const own = names.indexOf(role);
  if (own >= 0) return [own];
  const [usual, seldom] = SYNONYMS[role].map((pattern) =>
    names.flatMap((name, at) => (pattern.test(name) ? [at] : [])),
  );
  return usual === undefined || usual.length === 0 ? (seldom ?? []) : usual;
}

function absentColumn(role: Role, name: string, header: readonly string[]): string {
  return `--${role} "${shown(name)}": there is no such column; row 1 contains ${quoted(header)}`;
}

/** The columns of a table with one row per answer, by option or synonym. */
function rolesOf(
  header: readonly string[],
  options: TableOptions,
): { readonly columns: Readonly<Record<Role, number>>; readonly defects: readonly string[] } {
  const defects: string[] = [];
  const columnOf = (role: Role): number => {
    const given = options[role];
    if (given !== undefined) {
      if (!header.includes(given)) defects.push(absentColumn(role, given, header));
      return header.indexOf(given);
    }
    const [first = -1, ...more] = columnsOf(header, role);
    const all = [first, ...more].map((at) => header[at] ?? '');
    if (first < 0)
      defects.push(`row 1 contains ${quoted(header)}: name the column of the ${role} with --${role} COL`);
    else if (more.length > 0)
      defects.push(
        `row 1: ${quoted(all)} may each be the ${role}: choose with --${role} ${argument(all[0] ?? '')}`,
      );
    return first;
  };
  return {
    columns: { learner: columnOf('learner'), item: columnOf('item'), score: columnOf('score') },
    defects,
  };
}

interface Entry {
  readonly learner: number;
  readonly item: number;
  readonly row: CsvRow;
}

/** One row per answer: learner, item, score. Learners come in the order of their first rows. */
function readLong(table: CsvTable, expected: Expected, options: TableOptions): Sheet {
  const { header, rows } = table;
  const { indexOf, qMatrix } = expected;
  const { columns, defects: ofColumns } = rolesOf(header, options);
  if (ofColumns.length > 0) return { ...unread, defects: ofColumns };
  const near = nearest([...indexOf.keys()]);
  const isTaken = rowNamed(options.take, [columns.learner]);
  const ignored = new Set(options.ignore);
  const learners = new Map<string, number>();
  const found = new Set<string>();
  const unknown = new Map<string, number>();
  const entries: Entry[] = [];
  const defects: string[] = [];
  for (const row of rows) {
    const { line, cells } = row;
    const [name = '', item = ''] = [cells[columns.learner], cells[columns.item]];
    if (ignored.has(item)) continue;
    const j = indexOf.get(item);
    const tooLong = lengthDefect(name);
    if (name === '') defects.push(`row ${line}: no learner id`);
    else if (tooLong !== undefined) defects.push(`row ${line}: ${tooLong}`);
    else if (j === undefined) unknown.set(item, unknown.get(item) ?? line);
    else {
      if (!learners.has(name)) {
        if (isSummary(name) && isTaken(row).length === 0) {
          const mayTake = areAnswers([cells[columns.score] ?? ''], options, new Set());
          defects.push(`row ${line}: "${shown(name)}" is no learner: ${choice(name, mayTake)}`);
        }
        learners.set(name, learners.size);
      }
      found.add(item);
      entries.push({ learner: learners.get(name) ?? 0, item: j, row });
    }
  }
  if (found.size === 0 && unknown.size > 0) {
    const sides = { ...expected, columns: [...unknown.keys()], firstCells: [], items: [...indexOf.keys()] };
    return {
      ...unread,
      defects: [
        mismatchDefect({ ...sides, qColumns: [] }).replace(
          'row 1',
          `column "${shown(header[columns.item] ?? '')}"`,
        ),
      ],
    };
  }
  const names = [...learners.keys()];
  const further = furtherAttempts(entries, table, { items: [...indexOf.keys()], learners: names }, options);
  const used = new Set(Object.values(columns));
  const others = header.filter((_, at) => !used.has(at));
  return {
    learners: names,
    column: header[columns.learner] ?? '',
    found,
    others: [...unknown.keys()],
    visit: (each) => {
      for (const { learner, item, row } of entries)
        each(learner, item, row.cells[columns.score] ?? '', row.line, header[columns.score] ?? '');
    },
    defects: [
      ...absentRows(rows, options, [columns.learner]),
      ...defects,
      ...[...unknown].map(([item, line]) => {
        const other = near(item);
        const remedy =
          other === undefined
            ? `add a row there, or add --ignore ${argument(item)}`
            : `it has "${shown(other)}": give the item the same name in both tables`;
        return `row ${line}: item "${shown(item)}" is not in ${qMatrix}: ${remedy}`;
      }),
      ...further.defects,
    ],
    notes: [
      ...table.notes,
      `one row per answer: "${shown(header[columns.learner] ?? '')}" is the learner, "${shown(header[columns.item] ?? '')}" the item, "${shown(header[columns.score] ?? '')}" the score`,
      ...(others.length === 0 ? [] : [`columns that were not read: ${quoted(others)}`]),
      ...further.notes,
    ],
  };
}

/** Answers of a learner to an item that he or she answered before: each is named unless `--attempts` decides. */
function furtherAttempts(
  entries: readonly Entry[],
  { header }: CsvTable,
  { items, learners }: Readonly<Record<'items' | 'learners', readonly string[]>>,
  { attempts }: TableOptions,
): { readonly defects: readonly string[]; readonly notes: readonly string[] } {
  const first = new Map<number, Entry>();
  const latest = new Map<number, Entry>();
  const repeated: (readonly [Entry, Entry])[] = [];
  const orders = header.flatMap((name, at) => (ORDER.test(name) ? [at] : []));
  const falls: string[] = [];
  for (const entry of entries) {
    const key = entry.learner * items.length + entry.item;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, entry);
    else {
      repeated.push([earlier, entry]);
      const before = (latest.get(key) ?? earlier).row.cells;
      const fallen = orders.find((at) => isBefore(entry.row.cells[at] ?? '', before[at] ?? ''));
      if (fallen !== undefined)
        falls.push(
          `row ${entry.row.line}: "${shown(header[fallen] ?? '')}" is lower than in an earlier attempt at this item: sort the rows by it, because --attempts ${attempts} follows the order of rows`,
        );
      latest.set(key, entry);
    }
  }
  if (repeated.length === 0) return { defects: [], notes: [] };
  if (attempts !== undefined)
    return {
      defects: attempts === 'best' ? [] : falls,
      notes: [`several answers to an item: the ${attempts} one counts; answers left out: ${repeated.length}`],
    };
  return {
    defects: [
      `${repeated.length} answers are further attempts of a learner at an item: choose which one counts with --attempts first, last or best`,
      ...repeated.map(
        ([earlier, { learner, item, row }]) =>
          `row ${row.line}: duplicate answer of learner "${shown(learners[learner] ?? '')}" to item "${shown(items[item] ?? '')}" (first in row ${earlier.row.line})`,
      ),
    ],
    notes: [],
  };
}

/** Columns that order attempts. */
const ORDER =
  /^(?:attempt|try|versuch|time|date|timestamp|submitted|start|end)(?:[ _-]?(?:no|number|id|at|time|count))?$/i;

function isBefore(cell: string, earlier: string): boolean {
  const [a, b] = [numberOf(cell), numberOf(earlier)];
  if (a !== undefined && b !== undefined) return a < b;
  const isIso = (text: string): boolean => /^\d{4}-\d\d-\d\d/.test(text);
  return isIso(cell) && isIso(earlier) && cell < earlier;
}
