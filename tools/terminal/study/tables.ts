import { err, ok, type Result } from '#shared/kernel/result.ts';
import { readCsv, writeCsv, type CsvRow, type CsvTable } from '../csv.ts';
import type { NamedText } from './files.ts';
import { readKey } from './key.ts';
import { headlessDefect, isHeadless } from './mismatch.ts';
import { argument, nearest, quoted, shown } from './names.ts';
import { binaryOf } from './numbers.ts';
import type { TableOptions } from './options.ts';
import { readQMatrix, type QMatrix } from './q-matrix.ts';
import { idColumn, readSheet, type Sheet } from './responses.ts';
import { rowNamed } from './rows.ts';
import { bookletsOf, type Understood } from './understood.ts';
import { MISSING, Tally, scoringOf, type Scoring } from './values.ts';

/*
 * Learners' answers and the items' Q-matrix, in the forms in which researchers keep them. Every command that takes a study reads it here.
 */

/** One learner's answers in the order of the study's items: 1, 0 or `MISSING`. */
export interface LearnerAnswers {
  readonly name: string;
  readonly answers: Int8Array;
}

/** Answers and Q-matrix, agreed on items; items and knowledge components (KCs) in the order of the Q-matrix. */
export interface StudyTables {
  readonly items: readonly string[];
  readonly kcs: readonly string[];
  /** Per item the ascending indices of its KCs, at least one. */
  readonly kcsOf: readonly (readonly number[])[];
  /** All learners of the table, also those without any answer. */
  readonly learners: readonly LearnerAnswers[];
}

/** Tables, and what a reader understood of them. */
export interface ReadStudyTables extends StudyTables {
  readonly understood: Understood;
}

/** Both tables of a study. */
export type StudyFiles = Readonly<Record<'responses' | 'qMatrix', NamedText>>;

/** Reads both tables and checks them against each other; the error is one line per defect: file, row, column, what to do. */
export function readStudyTables(
  files: StudyFiles,
  options: TableOptions = {},
): Result<ReadStudyTables, readonly string[]> {
  if (files.responses.text === files.qMatrix.text)
    return err([
      `the answers and the Q-matrix are the same table: ${files.responses.name}, ${files.qMatrix.name}`,
    ]);
  const read = readBoth(files, options);
  if (read.ok || !inOrder(files.responses, files.qMatrix).exchanged) return read;
  const { responses, qMatrix } = files;
  return err([
    `the two files are exchanged: ${responses.name} contains the Q-matrix, and ${qMatrix.name} the answers`,
  ]);
}

function readBoth(files: StudyFiles, options: TableOptions): Result<ReadStudyTables, readonly string[]> {
  const { responses, qMatrix } = files;
  const left = new Map<string, number>();
  const answers = readCsv(responses.text, leftOut(options, left));
  const needs = readCsv(qMatrix.text);
  if (!answers.ok || !needs.ok) return err([...located(qMatrix, needs), ...located(responses, answers)]);
  const ignored = new Set(options.ignore);
  const kept = without(needs.value, ignored);
  if (kept.rows.length > 0 && kept.rows.every(({ cells }) => ignored.has(cells[0] ?? '')))
    return err([`--ignore leaves out all items of ${qMatrix.name}: keep those that learners answered`]);
  const matrix = withNames(
    readQMatrix(kept, (name) => ignored.has(name), options.byPosition === true),
    without(answers.value, ignored).header,
    files,
    options,
  );
  const defects = [
    ...unusedOptions(files, answers.value, needs.value, options, left),
    ...matrix.defects.map((defect) => `${qMatrix.name}: ${defect}`),
  ];
  if (matrix.items.length === 0 || !matrix.named) {
    if (isHeadless(answers.value.header))
      defects.push(`${responses.name}: ${headlessDefect(answers.value.header, matrix.items)}`);
    return err(defects);
  }
  const table = without(answers.value, ignored, columnPatterns(answers.value.header, matrix.items, options));
  return studyOf(table, matrix, files, options, defects, left);
}

/** Scores the answers of a table whose columns are known, and collects what is wrong with both tables. */
function studyOf(
  table: CsvTable,
  matrix: QMatrix,
  { responses, qMatrix }: StudyFiles,
  options: TableOptions,
  defects: string[],
  left: ReadonlyMap<string, number>,
): Result<ReadStudyTables, readonly string[]> {
  const { items, kcs, kcsOf, notes } = matrix;
  const expected = {
    indexOf: new Map(items.map((item, j) => [item, j])),
    qColumns: kcs,
    responses: responses.name,
    qMatrix: qMatrix.name,
  };
  const sheet = readSheet(table, expected, options);
  const key = options.key === undefined ? undefined : readKey(options.key, items);
  const keys = key === undefined ? undefined : new Map(items.map((item, j) => [item, key.keys[j] ?? '']));
  const { scoring, learners } = scored(sheet, items, options, keys);
  defects.push(...absentItems(sheet, matrix, responses.name, qMatrix.name), ...(key?.defects ?? []));
  defects.push(...[...sheet.defects, ...scoring.defects].map((defect) => `${responses.name}: ${defect}`));
  if (defects.length > 0) return err(defects);
  const names = learners.map(({ name }) => name);
  return ok({
    items,
    kcs,
    kcsOf,
    learners,
    understood: {
      learners: {
        count: names.length,
        first: names[0] ?? '',
        last: names.at(-1) ?? '',
        column: sheet.column,
      },
      items: {
        count: items.length,
        first: items[0] ?? '',
        last: items.at(-1) ?? '',
        by: options.byPosition === true ? 'position' : 'name',
      },
      kcs,
      codes: scoring.codes,
      scoring: `${scoring.rule}; ${shareCorrect(learners)} of the answers correct`,
      booklets: bookletsOf(learners.map(({ answers }) => answers)),
      notes: [
        ...(left.size === 0 ? [] : [`rows left out of the answers: ${rowCounts(left)}`]),
        ...(options.ignore === undefined ? [] : [`columns left out: ${quoted(options.ignore)}`]),
        ...notes,
        ...sheet.notes,
      ],
    },
  });
}

/** Judges all values of the answers, then takes them. */
function scored(
  sheet: Sheet,
  items: readonly string[],
  options: TableOptions,
  keys: ReadonlyMap<string, string> | undefined,
): { readonly scoring: Scoring; readonly learners: readonly LearnerAnswers[] } {
  const tally = new Tally(sheet.found.size);
  sheet.visit((_, item, cell, line, column) => {
    tally.add(line, column, cell, items[item] ?? '');
  });
  const scoring = scoringOf(tally, options, keys);
  const learners = sheet.learners.map((name) => ({
    name,
    answers: new Int8Array(items.length).fill(MISSING),
  }));
  const taken = new Set<number>();
  sheet.visit((n, item, cell) => {
    const answers = learners[n]?.answers ?? new Int8Array();
    const answer = scoring.scorer(cell, item);
    const earlier = answers[item] ?? MISSING;
    if (options.attempts === 'first') {
      const answered = n * items.length + item;
      if (taken.has(answered)) return;
      taken.add(answered);
    }
    answers[item] = options.attempts === 'best' ? Math.max(earlier, answer) : answer;
  });
  return { scoring, learners };
}

/** Which share of the answers given is correct, in percent. */
function shareCorrect(learners: readonly LearnerAnswers[]): string {
  let [correct, given] = [0, 0];
  for (const { answers } of learners)
    for (const answer of answers) {
      if (answer === MISSING) continue;
      given += 1;
      correct += answer;
    }
  return `${((100 * correct) / Math.max(given, 1)).toFixed(1)} %`;
}

/** Items of the Q-matrix that the answers lack and do not nearly name. */
function absentItems(
  { found, others }: Sheet,
  { items, lines }: QMatrix,
  responses: string,
  qMatrix: string,
): string[] {
  if (found.size === 0) return [];
  const near = nearest(others);
  return items.flatMap((item, j) =>
    found.has(item) || near(item) !== undefined
      ? []
      : [
          `${qMatrix}: row ${lines[j]}: item "${shown(item)}" is not in ${responses}: give it the name that the item has there, remove the row, or add --ignore ${argument(item)}`,
        ],
  );
}

/** With `--by-position`, the Q-matrix under the names of the columns of answers. */
function withNames(
  matrix: QMatrix,
  header: readonly string[],
  { responses }: StudyFiles,
  { byPosition, learner }: TableOptions,
): QMatrix {
  const rows = matrix.lines.length;
  if (byPosition !== true || matrix.items.length === 0) return matrix;
  const id = learner === undefined ? (header.length === rows + 1 ? 0 : undefined) : header.indexOf(learner);
  const columns = header.filter((name, at) => at !== id && !(name === '' && learner !== undefined));
  if (columns.length !== rows) {
    const defect = `--by-position: the Q-matrix has ${rows} rows, and ${responses.name} has ${columns.length} columns that may be items (${quoted(columns, 3)}): leave out the others with --ignore, and name that of the ids with --learner`;
    return { ...matrix, items: [], defects: [...matrix.defects, defect] };
  }
  const moved = matrix.items.find((item, j) => columns.includes(item) && columns[j] !== item);
  if (matrix.named && moved !== undefined) {
    const defect = `--by-position: item "${shown(moved)}" is in both tables, but not in the same place: leave out --by-position, or put the rows in the order of the columns`;
    return { ...matrix, items: [], defects: [...matrix.defects, defect] };
  }
  const [first, last] = [`"${shown(columns[0] ?? '')}"`, `"${shown(columns.at(-1) ?? '')}"`];
  const note = `matched by position: ${first} has row ${matrix.lines[0]} of the Q-matrix, ${last} row ${matrix.lines.at(-1)}`;
  return { ...matrix, items: columns, named: true, notes: [...matrix.notes, note] };
}

function rowCounts(left: ReadonlyMap<string, number>): string {
  return [...left]
    .map(([name, count]) => `"${shown(name)}"${count === 1 ? '' : ` (${count} rows)`}`)
    .join(', ');
}

/** Finds the rows that `--ignore-rows` names, and notes which of its names were found; undefined without the option. */
function leftOut(
  { ignoreRows, learner }: TableOptions,
  left: Map<string, number>,
): ((header: readonly string[]) => (row: CsvRow) => boolean) | undefined {
  if (ignoreRows === undefined) return undefined;
  return (header) => {
    const namesOf = rowNamed(ignoreRows, [0, learner === undefined ? undefined : header.indexOf(learner)]);
    return (row) => {
      const names = namesOf(row);
      for (const name of names) left.set(name, (left.get(name) ?? 0) + 1);
      return names.length > 0;
    };
  };
}

/** The columns of answers that a pattern of `--ignore` leaves out: neither ids nor an item. */
function columnPatterns(
  header: readonly string[],
  items: readonly string[],
  { ignore = [], learner, item, score }: TableOptions,
): (name: string, at: number) => boolean {
  const starts = ignore.flatMap((name) => (isPattern(name, header) ? [name.slice(0, -1)] : []));
  const known = new Set(items);
  const id = idColumn(header, (name) => known.has(name), learner);
  const roles = new Set([item, score]);
  return (name, at) =>
    at !== id && !known.has(name) && !roles.has(name) && starts.some((start) => name.startsWith(start));
}

function isPattern(name: string, header: readonly string[]): boolean {
  return name.endsWith('*') && !header.includes(name);
}

/** Names of options that are in neither table. */
function unusedOptions(
  { responses, qMatrix }: StudyFiles,
  answers: CsvTable,
  needs: CsvTable,
  { ignore = [], ignoreRows = [] }: TableOptions,
  left: ReadonlyMap<string, number>,
): string[] {
  const columns = [...answers.header, ...needs.header, ...needs.rows.map(({ cells }) => cells[0] ?? '')];
  const known = new Set(columns);
  const near = nearest([...known]);
  return [
    ...ignore
      .filter((name) =>
        isPattern(name, answers.header)
          ? !columns.some((column) => column.startsWith(name.slice(0, -1)))
          : !known.has(name),
      )
      .map((name) => {
        const other = near(name);
        const hint = other === undefined ? '' : `; there is "${shown(other)}"`;
        return `--ignore "${shown(name)}": neither ${responses.name} nor ${qMatrix.name} has this column${hint}`;
      }),
    ...ignoreRows
      .filter((name) => !left.has(name))
      .map((name) => `--ignore-rows "${shown(name)}": no row of ${responses.name} begins with it`),
  ];
}

/** Both tables in their plain form: commas, 1 and 0, an empty cell for a missing answer; NA for a learner without any, who could pass for a note. */
export function writeStudyTables({ items, kcs, kcsOf, learners }: StudyTables): {
  readonly 'responses.csv': string;
  readonly 'q-matrix.csv': string;
} {
  // Without a name of its own, the first column cannot be taken for an item.
  return {
    'responses.csv': writeCsv([
      ['', ...items],
      ...learners.map(({ name, answers }) => {
        const gap = answers.every((answer) => answer === MISSING) ? 'NA' : '';
        return [name, ...Array.from(answers, (answer) => (answer === MISSING ? gap : answer))];
      }),
    ]),
    'q-matrix.csv': writeCsv([
      ['', ...kcs],
      ...items.map((item, j) => [item, ...kcs.map((_, k) => Number(kcsOf[j]?.includes(k)))]),
    ]),
  };
}

/** The learners with at least one answer. */
export function withAnswers(learners: readonly LearnerAnswers[]): readonly LearnerAnswers[] {
  return learners.filter(({ answers }) => answers.some((answer) => answer !== MISSING));
}

function located({ name }: NamedText, read: Result<CsvTable, readonly string[]>): readonly string[] {
  return read.ok ? [] : read.error.map((defect) => `${name}: ${defect}`);
}

/** The table without some of its columns. */
function without(
  { header, rows, notes }: CsvTable,
  ignored: ReadonlySet<string>,
  isLeft: (name: string, at: number) => boolean = () => false,
): CsvTable {
  const kept = header.flatMap((name, at) => (ignored.has(name) || isLeft(name, at) ? [] : [at]));
  if (kept.length === header.length) return { header, rows, notes };
  const pick = (cells: readonly string[]): readonly string[] => kept.map((at) => cells[at] ?? '');
  return { header: pick(header), rows: rows.map(({ line, cells }) => ({ line, cells: pick(cells) })), notes };
}

/** Two files in the order answers, Q-matrix; `exchanged` where the names of the items show that they were given the other way round. */
export function inOrder(
  first: NamedText,
  second: NamedText,
): { readonly files: StudyFiles; readonly exchanged: boolean } {
  const [a, b] = [readCsv(first.text), readCsv(second.text)];
  const exchanged = a.ok && b.ok && isExchanged(a.value, b.value);
  return {
    files: exchanged ? { responses: second, qMatrix: first } : { responses: first, qMatrix: second },
    exchanged,
  };
}

/** Whether the second table names the items of the first one, and hardly the other way round. */
function isExchanged(first: CsvTable, second: CsvTable): boolean {
  const share = sharedItems(second, first);
  return share > 0.5 && sharedItems(first, second) < share / 4;
}

/** Share of the rows of a Q-matrix that a table of answers names: in its first row, or in a column with one row per answer. */
function sharedItems(answers: CsvTable, needs: CsvTable): number {
  const items = new Set(
    needs.rows.map(({ cells }) => cells[0] ?? '').filter((name) => binaryOf(name) === undefined),
  );
  if (items.size === 0) return 0;
  const shareOf = (names: readonly string[]): number =>
    new Set(names.filter((name) => items.has(name))).size / items.size;
  const columns = answers.header
    .slice(0, 40)
    .map((_, at) => answers.rows.map(({ cells }) => cells[at] ?? ''));
  const isLong = (column: readonly string[]): boolean => new Set(column).size < column.length / 2;
  return Math.max(shareOf(answers.header), ...columns.filter(isLong).map(shareOf));
}
