import { readFile, stat } from 'node:fs/promises';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { list } from './command.ts';
import { decodeText, readCsv, writeCsv, type CsvRow, type CsvTable } from './csv.ts';
import { readFrom } from './file-failure.ts';

/*
 * Learners' answers and the items' Q-matrix, in the forms in which researchers keep them. Every command that takes a study reads it here.
 */

/** Where no answer was given. */
export const MISSING = -1;
/** Names, as in a seed. */
const LONGEST_NAME = 128;
/** The most bytes of one table: some ten million answers. */
const MAXIMUM_BYTES = 32 * 1024 * 1024;
/** The most different wrong values of a table that are collected. */
const MAXIMUM_VALUES = 1000;

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

/** The text of a table and what to call it in messages. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Both tables of a study. */
export type StudyFiles = Readonly<Record<'responses' | 'qMatrix', NamedText>>;

export interface TableOptions {
  /** The marks of a missing answer, besides an empty cell, NA, N/A and NaN. */
  readonly missing?: readonly string[] | undefined;
  /** Columns of either table to leave out; an item among them loses its row in the Q-matrix too. */
  readonly ignore?: readonly string[] | undefined;
}

/** `--missing`, of every command that reads a study. */
export const missingOption = new Option(
  '--missing <CODE,…>',
  'values that mark a missing answer, for example "99,."; an empty cell, NA, N/A and NaN always do',
).argParser((value): readonly string[] => {
  const codes = list(value).map((code) => code.trim());
  const answer = codes.find((code) => binaryOf(code) !== undefined);
  if (answer !== undefined) throw new InvalidArgumentError(`"${answer}" is an answer.`);
  return codes;
});

/** `--ignore`, of every command that reads a study. */
export const ignoreOption = new Option(
  '--ignore <COL,…>',
  'columns to leave out of both tables; an item’s name leaves the item out',
).argParser((value): readonly string[] => list(value).map((column) => column.trim()));

/** The text of a table's file; the error is a sentence with its path. */
export async function readTableFile(path: string): Promise<Result<string, string>> {
  const size = await readFrom(path, async () => (await stat(path)).size);
  if (!size.ok) return size;
  if (size.value > MAXIMUM_BYTES)
    return err(
      `${path}: larger than ${MAXIMUM_BYTES / 1024 / 1024} MiB: use a random sample of the learners`,
    );
  const bytes = await readFrom(path, () => readFile(path));
  if (!bytes.ok) return bytes;
  const text = decodeText(bytes.value);
  return text.ok ? text : err(`${path}: ${text.error}`);
}

/** Reads both tables and checks them against each other; the error is one line per defect: file, row, column, what to do. */
export function readStudyTables(
  files: StudyFiles,
  options: TableOptions = {},
): Result<StudyTables, readonly string[]> {
  const { responses, qMatrix } = files;
  const [answers, needs] = [readCsv(responses.text), readCsv(qMatrix.text)];
  if (!answers.ok || !needs.ok) return err([...located(qMatrix, needs), ...located(responses, answers)]);
  const ignored = new Set(options.ignore);
  const defects = [...ignored]
    .filter(
      (name) =>
        ![...answers.value.header, ...needs.value.header].includes(name) &&
        !needs.value.rows.some(({ cells }) => cells[0] === name),
    )
    .map(
      (name) => `--ignore "${shown(name)}": neither ${responses.name} nor ${qMatrix.name} has this column`,
    );
  const matrix = readQMatrix(without(needs.value, ignored), ignored);
  defects.push(...matrix.defects.map((defect) => `${qMatrix.name}: ${defect}`));
  if (matrix.items.length === 0) return err(defects);
  const read = readResponses(without(answers.value, ignored), matrix, files, options);
  defects.push(...read.defects);
  const { items, kcs, kcsOf } = matrix;
  return defects.length > 0 ? err(defects) : ok({ items, kcs, kcsOf, learners: read.learners });
}

/** Both tables in their plain form: commas, 1 and 0, an empty cell for a missing answer. */
export function writeStudyTables({ items, kcs, kcsOf, learners }: StudyTables): {
  readonly 'responses.csv': string;
  readonly 'q-matrix.csv': string;
} {
  // Without a name of its own, the first column cannot be taken for an item.
  return {
    'responses.csv': writeCsv([
      ['', ...items],
      ...learners.map(({ name, answers }) => [
        name,
        ...Array.from(answers, (answer) => (answer === MISSING ? '' : answer)),
      ]),
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

/** The beginning of a value from a file. */
function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function located({ name }: NamedText, read: Result<CsvTable, readonly string[]>): readonly string[] {
  return read.ok ? [] : read.error.map((defect) => `${name}: ${defect}`);
}

/** The table without some of its columns. */
function without({ header, rows }: CsvTable, ignored: ReadonlySet<string>): CsvTable {
  if (ignored.size === 0) return { header, rows };
  const kept = header.flatMap((name, at) => (ignored.has(name) ? [] : [at]));
  const pick = (cells: readonly string[]): readonly string[] => kept.map((at) => cells[at] ?? '');
  return { header: pick(header), rows: rows.map(({ line, cells }) => ({ line, cells: pick(cells) })) };
}

/** 1 or 0 as spreadsheets and statistics programs write them: also TRUE and FALSE, and with decimals of zero. */
function binaryOf(cell: string): 0 | 1 | undefined {
  if (/^(?:1(?:[.,]0+)?|true)$/i.test(cell)) return 1;
  return /^(?:0(?:[.,]0+)?|false)$/i.test(cell) ? 0 : undefined;
}

/** Wrong values of a table: one line per different value, with its first place. */
class WrongValues {
  readonly #found = new Map<string, { readonly place: string; count: number }>();

  add(line: number, column: string, value: string): void {
    const earlier = this.#found.get(value);
    if (earlier !== undefined) earlier.count += 1;
    else if (this.#found.size < MAXIMUM_VALUES)
      this.#found.set(value, { place: `row ${line}, column "${shown(column)}"`, count: 1 });
  }

  lines(say: (found: string, value: string) => string): string[] {
    return [...this.#found].map(([value, { place, count }]) => {
      const found = value === '' ? 'an empty cell' : `"${shown(value)}"`;
      return `${place}: ${say(count === 1 ? found : `${found} (${count} cells)`, value)}`;
    });
  }
}

interface QMatrix {
  readonly items: readonly string[];
  readonly kcs: readonly string[];
  readonly kcsOf: readonly (readonly number[])[];
  /** Line of the file, per item. */
  readonly lines: readonly number[];
  readonly defects: readonly string[];
}

/** One row per item, named in the first column; one column per KC. */
function readQMatrix(table: CsvTable, ignored: ReadonlySet<string>): QMatrix {
  const [corner = '', ...kcs] = table.header;
  const rows = table.rows.filter(({ cells }) => !ignored.has(cells[0] ?? ''));
  const items = rows.map(({ cells }) => cells[0] ?? '');
  const lines = rows.map(({ line }) => line);
  const none = { items, kcs, kcsOf: [], lines };
  if (items.every((item) => binaryOf(item) !== undefined)) {
    const message = `column "${shown(corner)}" contains only 1 and 0: the first column must name the items`;
    return { ...none, items: [], defects: [message] };
  }
  const defects = [
    ...columnDefects(kcs, 2),
    ...rowDefects(rows, 'item'),
    ...(kcs.length === 0 ? ['row 1: there is no column of a knowledge component'] : []),
  ];
  const wrong = new WrongValues();
  const kcsOf = rows.map(({ line, cells: [, ...cells] }) =>
    cells.flatMap((cell, k) => {
      const needs = binaryOf(cell);
      if (needs === undefined) wrong.add(line, kcs[k] ?? '', cell);
      return needs === 0 ? [] : [k];
    }),
  );
  defects.push(
    ...wrong.lines(
      (found) => `found ${found}; expected 1 if the item needs the knowledge component, otherwise 0`,
    ),
  );
  if (defects.length > 0) return { ...none, defects };
  const measured = new Set(kcsOf.flat());
  return {
    ...none,
    kcsOf,
    defects: [
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
    ],
  };
}

interface Responses {
  readonly learners: readonly LearnerAnswers[];
  readonly defects: readonly string[];
}

/** Reads a cell of answers, and collects it where it is none. */
type AnswerReader = (line: number, column: string, cell: string) => number;

/** Learners' answers: one row per learner and one column per item, or one row per answer. */
function readResponses(
  table: CsvTable,
  { items, lines }: QMatrix,
  files: StudyFiles,
  options: TableOptions,
): Responses {
  const indexOf = new Map(items.map((item, j) => [item, j]));
  const codes = new Set(options.missing);
  const wrong = new WrongValues();
  const answerOf: AnswerReader = (line, column, cell) => {
    if (codes.has(cell) || /^(?:|na|n\/a|nan)$/i.test(cell)) return MISSING;
    const answer = binaryOf(cell);
    if (answer === undefined) wrong.add(line, column, cell);
    return answer ?? MISSING;
  };
  const long = longColumns(table, indexOf);
  const { learners, found, defects } =
    long === undefined
      ? readWide(table, indexOf, files.qMatrix.name, answerOf)
      : readLong(table.rows, long, indexOf, files.qMatrix.name, new Set(options.ignore), answerOf);
  const ofResponses = [
    ...defects,
    ...wrong.lines((value, raw) => {
      const expected = 'expected 1 (correct), 0 (incorrect), or an empty cell or NA (missing)';
      const code = shown(raw);
      return `found ${value}; ${expected}. If "${code}" marks a missing answer, add --missing ${argument(code)}`;
    }),
  ];
  const absent = items.flatMap((item, j) =>
    found.has(item) || found.size === 0
      ? []
      : [
          `${files.qMatrix.name}: row ${lines[j]}: item "${shown(item)}" is not in ${files.responses.name}: remove the row, or add --ignore ${argument(item)}`,
        ],
  );
  return {
    learners,
    defects: [...absent, ...ofResponses.map((defect) => `${files.responses.name}: ${defect}`)],
  };
}

interface ReadAnswers extends Responses {
  /** The items that the table has. */
  readonly found: ReadonlySet<string>;
}

/** One column per item; the first column holds the learners' ids, unless it is an item's: then learners are numbered. */
function readWide(
  { header, rows }: CsvTable,
  indexOf: ReadonlyMap<string, number>,
  qMatrix: string,
  answerOf: AnswerReader,
): ReadAnswers {
  const found = new Set(header.filter((name) => indexOf.has(name)));
  if (found.size === 0) {
    const message = `row 1: no column is named after an item of ${qMatrix}: row 1 must contain the items’ names, or with one row per answer the names learner, item and score`;
    return { learners: [], found, defects: [message] };
  }
  const corner = header[0] ?? '';
  const hasIds = !indexOf.has(corner);
  const names = header.slice(Number(hasIds));
  const defects = columnDefects(names, Number(hasIds) + 1);
  const ofIds = hasIds ? rowDefects(rows, 'learner id') : [];
  const others = names.filter((name) => name !== '' && !indexOf.has(name));
  if (ofIds.length > 0) {
    // The ids may be in one of the other columns: those are listed once this is settled.
    if (corner !== '')
      defects.push(
        `row 1: if "${shown(corner)}" is not the column of learner ids, add --ignore ${argument(corner)}`,
      );
    defects.push(...ofIds);
  } else if (others.length > 0) {
    const columns = others.map((name) => `"${shown(name)}"`).join(', ');
    defects.push(
      `row 1: no item of ${qMatrix} is named ${columns}: add --ignore ${argument(others.join(','))}`,
    );
  }
  const learners = rows.map(({ line, cells }, n) => {
    const answers = new Int8Array(indexOf.size).fill(MISSING);
    header.forEach((name, at) => {
      const item = indexOf.get(name);
      if (item !== undefined) answers[item] = answerOf(line, name, cells[at] ?? '');
    });
    return { name: hasIds ? (cells[0] ?? '') : String(n + 1), answers };
  });
  return { learners, found, defects };
}

/** Where a table with one row per answer has its columns; undefined for any other table. */
function longColumns({ header }: CsvTable, indexOf: ReadonlyMap<string, number>): LongColumns | undefined {
  if (header.length !== 3 || header.some((name) => indexOf.has(name))) return undefined;
  const [learner, item, score] = ['learner', 'item', 'score'].map((name) =>
    header.findIndex((column) => column.toLowerCase() === name),
  );
  if (learner === undefined || item === undefined || score === undefined) return undefined;
  return Math.min(learner, item, score) < 0 ? undefined : { learner, item, score };
}
type LongColumns = Readonly<Record<'learner' | 'item' | 'score', number>>;

/** One row per answer: learner, item, score. Learners come in the order of their first rows. */
function readLong(
  rows: readonly CsvRow[],
  columns: LongColumns,
  indexOf: ReadonlyMap<string, number>,
  qMatrix: string,
  ignored: ReadonlySet<string>,
  answerOf: AnswerReader,
): ReadAnswers {
  const learners = new Map<string, { readonly answers: Int8Array; readonly lines: (number | undefined)[] }>();
  const found = new Set<string>();
  const unknown = new Set<string>();
  const defects: string[] = [];
  for (const { line, cells } of rows) {
    const [name = '', item = '', score = ''] = [columns.learner, columns.item, columns.score].map(
      (at) => cells[at],
    );
    if (ignored.has(item)) continue;
    const j = indexOf.get(item);
    if (name === '') defects.push(`row ${line}: no learner id`);
    else if (name.length > LONGEST_NAME) defects.push(`row ${line}: ${tooLong(name)}`);
    else if (j === undefined) {
      if (!unknown.has(item))
        defects.push(
          `row ${line}: item "${shown(item)}" is not in ${qMatrix}: add a row there, or add --ignore ${argument(item)}`,
        );
      unknown.add(item);
    } else {
      const learner = learners.get(name) ?? { answers: new Int8Array(indexOf.size).fill(MISSING), lines: [] };
      learners.set(name, learner);
      found.add(item);
      const earlier = learner.lines[j];
      if (earlier !== undefined)
        defects.push(
          `row ${line}: duplicate answer of learner "${shown(name)}" to item "${shown(item)}" (first in row ${earlier})`,
        );
      learner.lines[j] = line;
      learner.answers[j] = answerOf(line, 'score', score);
    }
  }
  return { learners: [...learners].map(([name, { answers }]) => ({ name, answers })), found, defects };
}

/** Columns without a name of their own. @param from number of the first one in the file */
function columnDefects(names: readonly string[], from: number): string[] {
  return nameDefects(names, (at) => `column ${at + from}`, 'column name').map((defect) => `row 1, ${defect}`);
}

/** Rows without a name of their own in the first column. */
function rowDefects(rows: readonly CsvRow[], what: string): string[] {
  return nameDefects(
    rows.map(({ cells }) => cells[0] ?? ''),
    (at) => `row ${rows[at]?.line}`,
    what,
  );
}

function nameDefects(names: readonly string[], placeOf: (at: number) => string, what: string): string[] {
  const first = new Map<string, number>();
  return names.flatMap((name, at) => {
    if (name === '') return [`${placeOf(at)}: no ${what}`];
    if (name.length > LONGEST_NAME) return [`${placeOf(at)}: ${tooLong(name)}`];
    const earlier = first.get(name);
    if (earlier !== undefined)
      return [`${placeOf(at)}: duplicate ${what} "${shown(name)}" (first in ${placeOf(earlier)})`];
    first.set(name, at);
    return [];
  });
}

function tooLong(name: string): string {
  return `"${shown(name)}" is longer than ${LONGEST_NAME} characters`;
}

/** A value as an argument of a command line. */
function argument(value: string): string {
  return /^[\w.,-]+$/.test(value) ? value : `"${value}"`;
}
