import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { err, ok, type Result } from '#shared/kernel/result.ts';

/** One row of a table; cells are trimmed, and line breaks inside them are blanks. */
export interface CsvRow {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A table as it was written: the names in its first row, and the rows below it, each as long as the first. */
export interface CsvTable {
  readonly header: readonly string[];
  readonly rows: readonly CsvRow[];
  /** Sentences about what was not read as it stands. */
  readonly notes: readonly string[];
}

const SAVE_AS = 'export the table as CSV (UTF-8), with a comma, semicolon or tab between columns';

/** How files begin that are often named .csv and are none: in hexadecimal digits. */
const BINARY_SIGNATURES: readonly (readonly [RegExp, string])[] = [
  [/^504b0304/, `an Excel workbook (.xlsx), an OpenDocument file or a zip archive: ${SAVE_AS}`],
  [/^d0cf11e0/, `an old Excel workbook (.xls): ${SAVE_AS}`],
  [/^255044462d/, `a PDF: ${SAVE_AS}`],
  [/^24464c[23]/, `an SPSS file (.sav): ${SAVE_AS}`],
  [/^50415231/, `a Parquet file: ${SAVE_AS}`],
  [/^(?:1f8b|425a68|fd377a58)/, 'a compressed file: unpack it first'],
];
const TEXT_SIGNATURES: readonly (readonly [RegExp, string])[] = [
  [
    /^\s*<(?:!doctype|!--|html|head|\?xml|table)/i,
    'a web page (HTML), often that of a login: log in and download the table again',
  ],
  [/^\s*(?:\{|\[\s*[[{])/, `JSON: ${SAVE_AS}`],
];

/** Returns what a file is instead of a table, by its first bytes; undefined if nothing speaks against a table. */
export function foreignKind(start: Uint8Array): string | undefined {
  const bytes = Buffer.from(start.subarray(0, 4096));
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const is =
    (form: string) =>
    ([signature]: readonly [RegExp, string]): boolean =>
      signature.test(form);
  return (BINARY_SIGNATURES.find(is(bytes.toString('hex', 0, 8))) ?? TEXT_SIGNATURES.find(is(text)))?.[1];
}

/** The text of a file in UTF-8, or in UTF-16 with a byte order mark; the error explains how to save it instead. */
export function decodeText(bytes: Uint8Array): Result<string, string> {
  const [first, second] = bytes;
  const utf16 =
    first === 0xff && second === 0xfe
      ? 'utf-16le'
      : first === 0xfe && second === 0xff
        ? 'utf-16be'
        : undefined;
  if (utf16 !== undefined) return ok(new TextDecoder(utf16).decode(bytes));
  const kind = foreignKind(bytes);
  if (kind !== undefined) return err(`this is no table, but ${kind}`);
  if (bytes.includes(0)) return err(`this is not a text file: ${SAVE_AS}`);
  if (isUtf8(bytes)) return ok(new TextDecoder().decode(bytes));
  let line = 1;
  for (let from = 0; from < bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, from);
    const next = end < 0 ? bytes.length : end + 1;
    if (!isUtf8(bytes.subarray(from, next))) break;
    from = next;
  }
  return err(`row ${line}: the text is not UTF-8: save the file as “CSV UTF-8”`);
}

/**
 * Reads a table separated by commas, semicolons or tabs (RFC 4180), with LF or CRLF. Each defect names which row it is and what to do.
 * @param skipped returns, for the names in the first row, which rows to leave out before they are compared with it
 */
export function readCsv(
  text: string,
  skipped?: (header: readonly string[]) => (row: CsvRow) => boolean,
): Result<CsvTable, readonly string[]> {
  // Tabs at the end are empty cells.
  let content = text.replace(/^\uFEFF/, '').replace(/(?:\r?\n *)+$/, '');
  if (content.trim() === '') return err(['the file is empty']);
  if (/\r(?!\n)/.test(content))
    return err([
      'lines end with a carriage return only: save the file as “CSV UTF-8”, not as “CSV (Macintosh)”',
    ]);
  // Excel's first line.
  const [whole = '', separator] = /^"?sep=(.)"?[,;\t]*\r?\n/i.exec(content) ?? [];
  content = content.slice(whole.length);
  const delimiter = separator ?? delimiterOf(firstRecord(content));
  if (delimiter === undefined) return err([oneColumn(content)]);
  const { records, defects } = readRecords(content, delimiter, whole === '' ? 0 : 1);
  const [first, ...all] = records;
  const given = first?.cells ?? [];
  const notes: string[] = [];
  const last = all.findLastIndex(({ cells }) => cells.some((cell) => cell !== ''));
  const isSkipped = skipped?.(given);
  const filled = all.slice(0, last + 1);
  const rows = isSkipped === undefined ? filled : filled.filter((row) => !isSkipped(row));
  if (last + 1 < all.length) notes.push(`empty rows at the end: ${all.length - last - 1}`);
  if (rows.length === 0) defects.push('there are no rows below row 1');
  const { header, note } = completed(given, rows);
  if (note !== undefined) notes.push(note);
  defects.push(...lengthDefects(header.length, rows));
  return defects.length === 0 ? ok(withoutEmptyColumns({ header, rows, notes })) : err(defects);
}

/** The fields of one line, separated by commas. */
export function readFields(text: string): readonly string[] {
  return readRecords(text, ',', 0).records[0]?.cells ?? [];
}

/** Text as a field of a table with any of the separators. */
export function csvField(text: string): string {
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table of these rows, the first of which names the columns, as `readCsv` reads it. */
export function writeCsv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map((value) => csvField(String(value))).join(',')}\n`).join('');
}

/** The text before the first line break that is outside quotes, without its quoted fields. */
function firstRecord(text: string): string {
  const quoted = /(?<=^|[,;\t])[^\S\n]*"(?:[^"]|"")*"(?=\s*(?:[,;\t\n]|$))/g;
  return text.slice(0, 1_000_000).replaceAll(quoted, '').split('\n', 1)[0] ?? '';
}

/** The character that separates the fields of a row: the most frequent one. */
function delimiterOf(row: string): string | undefined {
  const [most] = [',', ';', '\t']
    .map((delimiter) => ({ delimiter, count: row.split(delimiter).length - 1 }))
    .sort((a, b) => b.count - a.count);
  return most === undefined || most.count === 0 ? undefined : most.delimiter;
}

/** Describes a first row with one column: a title, or columns separated by something else. */
function oneColumn(text: string): string {
  const lines = text.split('\n', 20);
  const header = lines.findIndex((line) => delimiterOf(line) !== undefined);
  const [first = ''] = lines;
  if (header > 0)
    return `row 1 has only one column, and row ${header + 1} has several: remove the rows above the names of the columns`;
  const cells = first.trim().split(/ +/);
  const blanks =
    cells.length > 1 ? ' (they are separated by blanks; in R, write the file with write.csv)' : '';
  const names =
    cells.length > 1 && cells.every((cell) => /^"?[01]"?$/.test(cell))
      ? '. Row 1 also contains answers or marks instead of names: add a first row with names'
      : '';
  return `row 1 has only one column: separate columns with commas, semicolons or tabs${blanks}${names}`;
}

/** Invisible characters around a cell. */
const INVISIBLE = /^[\s\u200b-\u200f\u2060\ufeff]+|[\s\u200b-\u200f\u2060\ufeff]+$/g;

function cellOf(value: string): string {
  // Most cells are one digit.
  if (/^[!-~]*$/.test(value)) return value;
  return value
    .replaceAll(INVISIBLE, '')
    .replaceAll(/\s*[\r\n]\s*/g, ' ')
    .normalize('NFC');
}

/** The rows up to the first that cannot be read. A line break in a field is taken unless a row follows it: then a quote was forgotten. */
function readRecords(
  text: string,
  delimiter: string,
  linesAbove: number,
): { readonly records: readonly CsvRow[]; readonly defects: string[] } {
  const records: CsvRow[] = [];
  const defects: string[] = [];
  let read = linesAbove;
  try {
    parse(text, {
      delimiter,
      trim: true,
      relax_column_count: true,
      relax_quotes: true,
      record_delimiter: ['\n', '\r\n'],
      on_record: (values: readonly string[], { lines }) => {
        const line = read + 1;
        read = linesAbove + lines;
        const columns = records[0]?.cells.length ?? Infinity;
        const swallowed = values.some(
          (value) =>
            value.includes('\n') &&
            value
              .split('\n')
              .slice(1)
              .some((inner) => inner.split(delimiter).length >= Math.max(2, columns - 1)),
        );
        if (swallowed)
          defects.push(`row ${line}: a quoted field goes on over the next rows: close the quote`);
        records.push({ line, cells: values.map(cellOf) });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    defects.push(
      error.code === 'CSV_QUOTE_NOT_CLOSED'
        ? `row ${read + 1}: a quoted field has no closing quote`
        : `row ${read + 1}: cannot be read as CSV (${error.code})`,
    );
  }
  return { records, defects };
}

interface Header {
  readonly header: readonly string[];
  readonly note?: string;
}

/** The names of the columns, also where R left out that of the row names, or rows end with a separator. */
function completed(header: readonly string[], rows: readonly CsvRow[]): Header {
  if (rows.length === 0 || !rows.every(({ cells }) => cells.length === header.length + 1)) return { header };
  if (rows.every(({ cells }) => cells.at(-1) === '')) return { header: [...header, ''] };
  const ids = new Set(rows.map(({ cells }) => cells[0]));
  if (rows.length < 2 || ids.size < rows.length) return { header };
  return {
    header: ['', ...header],
    note: 'row 1 does not name the first column: it was read as the row names of R’s write.table',
  };
}

/** Rows that are longer or shorter than the first one, with the usual cause. */
function lengthDefects(columns: number, rows: readonly CsvRow[]): string[] {
  const wrong = rows.filter(({ cells }) => cells.length !== columns);
  if (rows.length > 1 && rows.every(({ cells }) => cells.length === columns + 1)) {
    return [
      `row 1 names ${columns} columns, but every other row has ${columns + 1} values: name the first column too, or remove the separator at the end of the rows`,
    ];
  }
  return wrong.map(({ line, cells }) => {
    if (cells.every((cell) => cell === '')) return `row ${line}: the row is empty: remove it`;
    if (cells.filter((cell) => cell !== '').length === 1 && columns > 2)
      return `row ${line}: "${cells.join('').slice(0, 40)}" is a note and no row of the table: remove it, or add --ignore-rows "row ${line}"`;
    const isDecimal = cells.length === 2 * columns || cells.length === 2 * columns - 1;
    return `row ${line}: found ${cells.length} values, but row 1 names ${columns} columns${
      isDecimal ? ': if numbers have decimal commas, separate columns with semicolons' : ''
    }`;
  });
}

/** The table without columns that have neither a name nor a value. */
function withoutEmptyColumns({ header, rows, notes }: CsvTable): CsvTable {
  const unnamed = header.flatMap((name, at) => (name === '' ? [at] : []));
  const empty = new Set(unnamed.filter((at) => rows.every(({ cells }) => cells[at] === '')));
  if (empty.size === 0) return { header, rows, notes };
  const pick = (cells: readonly string[]): readonly string[] => cells.filter((_, at) => !empty.has(at));
  return {
    header: pick(header),
    rows: rows.map(({ line, cells }) => ({ line, cells: pick(cells) })),
    notes: [...notes, `columns without name and values: ${empty.size}`],
  };
}
