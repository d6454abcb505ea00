import { readTable } from '#tools/terminal/csv.ts';
import type { NamedTable } from '#tools/terminal/csv.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { MAXIMUM_KCS, collapse } from './model.ts';
import type { Responses } from './model.ts';

/** The most bytes of one input file: some ten million answers. */
export const MAXIMUM_FILE_BYTES = 32 * 1024 * 1024;
/** The most steps (rows x items x patterns) of one E-step, which then takes minutes. */
const MAXIMUM_WORK = 2e10;
/** So many faults are collected; a file that is wrong everywhere is not told cell by cell. */
const MAXIMUM_FAULTS = 1000;
/** Names, as in a seed. */
const LONGEST_NAME = 128;

/** What is wrong with an input, and where: `row` is a line of the file from 1, `column` a name of its first row. */
export interface DataFault {
  readonly kind:
    | 'malformed-table'
    | 'bad-value'
    | 'unknown-name'
    | 'missing-name'
    | 'bad-name'
    | 'measures-nothing'
    | 'never-measured'
    | 'never-answered'
    | 'too-large';
  readonly file: 'responses' | 'q-matrix';
  readonly row?: number;
  readonly column?: string;
  readonly message: string;
}

/** Answers and Q-matrix, agreed on items; items and KCs in the order of the Q-matrix. */
export interface Study {
  readonly items: readonly string[];
  readonly kcs: readonly string[];
  /** For each item the ascending indices of its KCs. */
  readonly kcsOf: readonly (readonly number[])[];
  readonly responses: Responses;
  /** For each item: learners who answered it, and how many of them correctly. */
  readonly answered: readonly number[];
  readonly correct: readonly number[];
  /** Learners without any answer, who are left out. */
  readonly silent: number;
  readonly missing: number;
  /** Sentences about what makes the fit less sure. */
  readonly warnings: readonly string[];
}

/** The texts of both files. */
export interface StudyFiles {
  readonly responses: string;
  readonly qMatrix: string;
}

/** Reads both tables and holds them against each other. All faults, up to a thousand, are answered at once. */
export function readStudy(files: StudyFiles): Result<Study, readonly DataFault[]> {
  const faults = [
    ...(files.responses.length > MAXIMUM_FILE_BYTES ? [tooLarge('responses')] : []),
    ...(files.qMatrix.length > MAXIMUM_FILE_BYTES ? [tooLarge('q-matrix')] : []),
  ];
  if (faults.length > 0) return err(faults);
  const responses = readTable(files.responses);
  const qMatrix = readTable(files.qMatrix);
  faults.push(
    ...formFaults(responses.defects, 'responses'),
    ...formFaults(qMatrix.defects, 'q-matrix'),
    ...valueFaults(responses.table, 'responses'),
    ...valueFaults(qMatrix.table, 'q-matrix'),
  );
  // What the tables say of each other counts once both are tables.
  if (responses.defects.length === 0 && qMatrix.defects.length === 0) {
    faults.push(
      ...qMatrixFaults(qMatrix.table),
      ...nameFaults(qMatrix.table, responses.table),
      ...answerFaults(responses.table),
    );
  }
  return faults.length > 0 ? err(faults.slice(0, MAXIMUM_FAULTS)) : assemble(qMatrix.table, responses.table);
}

/** A fault as a line: file, row, column, what is wrong. `names` are the files as the user calls them. */
export function describeFault(fault: DataFault, names: Readonly<Record<DataFault['file'], string>>): string {
  const place = [
    ...(fault.row === undefined ? [] : [`row ${fault.row}`]),
    ...(fault.column === undefined ? [] : [`column "${fault.column}"`]),
  ];
  return [names[fault.file], ...(place.length === 0 ? [] : [place.join(', ')]), fault.message].join(': ');
}

/** Defects of a table's form; most of them begin with their row. */
function formFaults(defects: readonly string[], file: DataFault['file']): DataFault[] {
  return defects.slice(0, MAXIMUM_FAULTS).map((defect) => {
    const [, row, message] = /^row (\d+): (.*)$/s.exec(defect) ?? [];
    return row === undefined || message === undefined
      ? { kind: 'malformed-table', file, message: defect }
      : { kind: 'malformed-table', file, row: Number(row), message };
  });
}

/** Cells that say nothing that the table may say. */
function valueFaults(table: NamedTable, file: DataFault['file']): DataFault[] {
  const isAnswer = file === 'responses';
  const allowed = isAnswer ? 'must be 0 or 1, or empty or NA where there is no answer' : 'must be 0 or 1';
  const faults: DataFault[] = [];
  for (const row of table.rows) {
    if (faults.length >= MAXIMUM_FAULTS) return faults;
    row.cells.forEach((cell, at) => {
      const answer = answerOf(cell);
      if (answer !== undefined && (isAnswer || answer >= 0)) return;
      const column = shown(table.columns[at] ?? '');
      faults.push({
        kind: 'bad-value',
        file,
        row: row.line,
        column,
        message: `${allowed}, is "${shown(cell)}"`,
      });
    });
  }
  return faults;
}

/** Also for whoever looks at the size before reading. */
export function tooLarge(file: DataFault['file']): DataFault {
  return {
    kind: 'too-large',
    file,
    message: `is larger than ${MAXIMUM_FILE_BYTES / 1024 / 1024} MiB; fit a random sample of the learners`,
  };
}

function qMatrixFaults(table: NamedTable): DataFault[] {
  const file = 'q-matrix';
  const faults: DataFault[] = [];
  if (table.columns.length > MAXIMUM_KCS) {
    faults.push({
      kind: 'too-large',
      file,
      message: `has ${table.columns.length} knowledge components; the exact E-step goes through all 2^K patterns and takes at most ${MAXIMUM_KCS}. Fit parts of the bank that share no component by themselves`,
    });
  }
  for (const row of table.rows) {
    if (!row.cells.includes('1') && row.cells.every((cell) => cell === '0')) {
      const message = `the item "${row.name}" needs no knowledge component`;
      faults.push({ kind: 'measures-nothing', file, row: row.line, message });
    }
  }
  table.columns.forEach((column, at) => {
    if (table.rows.every((row) => row.cells[at] === '0')) {
      faults.push({
        kind: 'never-measured',
        file,
        column,
        message: 'no item needs this knowledge component',
      });
    }
  });
  for (const name of [...table.columns, ...table.rows.map((row) => row.name)]) {
    if (name.length > LONGEST_NAME) {
      const message = `the name "${shown(name)}" is longer than ${LONGEST_NAME} characters`;
      faults.push({ kind: 'bad-name', file, message });
    }
  }
  return faults;
}

function nameFaults(qMatrix: NamedTable, responses: NamedTable): DataFault[] {
  const answered = new Set(responses.columns);
  const known = new Set(qMatrix.rows.map((row) => row.name));
  return [
    ...qMatrix.rows
      .filter((row) => !answered.has(row.name))
      .map((row): DataFault => {
        const message = `the item "${shown(row.name)}" has no column in the responses`;
        return { kind: 'unknown-name', file: 'q-matrix', row: row.line, message };
      }),
    ...responses.columns
      .filter((column) => !known.has(column))
      .map((column): DataFault => {
        return {
          kind: 'missing-name',
          file: 'responses',
          row: 1,
          column: shown(column),
          message: 'the item has no row in the Q-matrix',
        };
      }),
  ];
}

function answerFaults(table: NamedTable): DataFault[] {
  const file = 'responses';
  const faults: DataFault[] = [];
  table.columns.forEach((column, at) => {
    if (table.rows.every((row) => answerOf(row.cells[at] ?? '') === -1)) {
      faults.push({
        kind: 'never-answered',
        file,
        column: shown(column),
        message: 'no learner answered this item',
      });
    }
  });
  return faults;
}

/** 1, 0, or -1 where there is no answer; undefined for anything else. */
function answerOf(cell: string): number | undefined {
  if (cell === '1') return 1;
  if (cell === '0') return 0;
  return cell === '' || cell === 'NA' ? -1 : undefined;
}

/** The beginning of a value from the file. */
function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function assemble(qMatrix: NamedTable, table: NamedTable): Result<Study, readonly DataFault[]> {
  const items = qMatrix.rows.map((row) => row.name);
  const kcsOf = qMatrix.rows.map((row) => row.cells.flatMap((cell, k) => (cell === '1' ? [k] : [])));
  const columns = items.map((item) => table.columns.indexOf(item));
  const speaking = table.rows.filter((row) => row.cells.some((cell) => answerOf(cell) !== -1));
  const answers = new Int8Array(speaking.length * items.length);
  const answered = items.map(() => 0);
  const correct = items.map(() => 0);
  speaking.forEach((row, learner) => {
    columns.forEach((column, j) => {
      const answer = answerOf(row.cells[column] ?? '') ?? -1;
      answers[learner * items.length + j] = answer;
      if (answer >= 0) answered[j] = (answered[j] ?? 0) + 1;
      if (answer === 1) correct[j] = (correct[j] ?? 0) + 1;
    });
  });
  const responses = collapse(answers, items.length);
  const work = responses.counts.length * items.length * 2 ** qMatrix.columns.length;
  if (work > MAXIMUM_WORK) {
    const message = `${responses.counts.length} different rows x ${items.length} items x ${2 ** qMatrix.columns.length} patterns are too many for exact steps; fit a random sample of the learners`;
    return err([{ kind: 'too-large', file: 'responses', message }]);
  }
  const study = {
    items,
    kcs: qMatrix.columns,
    kcsOf,
    responses,
    answered,
    correct,
    silent: table.rows.length - speaking.length,
    missing: answers.reduce((count, answer) => count + Number(answer < 0), 0),
  };
  return ok({ ...study, warnings: warningsOf(study) });
}

/** Fewer learners than this give unstable parameters of any cognitive diagnosis model. */
const FEW_LEARNERS = 100;
/** Items that each KC needs for identification of DINA (Gu and Xu, 2019, Psychometrika 84, 468-483). */
const ITEMS_PER_KC = 3;

/** What the data cannot tell, in sentences. */
function warningsOf(study: Omit<Study, 'warnings'>): string[] {
  const { items, kcs, kcsOf, responses, answered, correct } = study;
  const alone = new Set(kcsOf.flatMap((own) => (own.length === 1 ? own : [])));
  const named = (indices: readonly number[], names: readonly string[]): string =>
    indices.map((index) => `"${names[index] ?? ''}"`).join(', ');
  const jointly = kcs.flatMap((_, k) => (alone.has(k) ? [] : [k]));
  const rarely = kcs.flatMap((_, k) =>
    kcsOf.filter((own) => own.includes(k)).length < ITEMS_PER_KC ? [k] : [],
  );
  const same = kcs.flatMap((_, k) => {
    const column = (of: number): string => kcsOf.map((own) => Number(own.includes(of))).join('');
    return kcs.some((_other, l) => l < k && column(l) === column(k)) ? [k] : [];
  });
  const constant = items.flatMap((_, j) => (correct[j] === 0 || correct[j] === answered[j] ? [j] : []));
  return [
    ...(study.silent === 0 ? [] : [`Learners who answered nothing and are left out: ${study.silent}.`]),
    ...(responses.learners >= FEW_LEARNERS
      ? []
      : [
          `Few learners (${responses.learners}): parameters and standard errors are rough below ${FEW_LEARNERS}.`,
        ]),
    ...(constant.length === 0
      ? []
      : [
          `No variance: everybody who answered gave the same outcome on ${named(constant, items)}. The probabilities go to their bound and say little.`,
        ]),
    ...(jointly.length === 0
      ? []
      : [
          `The Q-matrix is not complete: no item measures ${named(jointly, kcs)} alone, so that some patterns of mastery give the same answers (Chiu, Douglas and Li, 2009). Their posteriors lean on the higher-order model.`,
        ]),
    ...(rarely.length === 0
      ? []
      : [
          `Fewer than ${ITEMS_PER_KC} items need ${named(rarely, kcs)}; identification asks for ${ITEMS_PER_KC} (Gu and Xu, 2019).`,
        ]),
    ...(same.length === 0
      ? []
      : [
          `The same items need ${named(same, kcs)} as another knowledge component before it: the data cannot tell these apart.`,
        ]),
  ];
}
