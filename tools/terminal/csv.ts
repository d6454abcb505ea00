import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { err, ok, type Result } from '#shared/kernel/result.ts';

/** One row of a table; cells are trimmed. */
export interface CsvRow {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A table as it was written: the names in its first row, and the rows below it, each as long as the first. */
export interface CsvTable {
  readonly header: readonly string[];
  readonly rows: readonly CsvRow[];
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
  if (bytes.includes(0))
    return err(
      'this is not a text file: export the sheet as CSV (UTF-8), with a comma, semicolon or tab between columns',
    );
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
 * Reads a table separated by commas, semicolons or tabs (RFC 4180 without line breaks inside fields), with LF or CRLF. Each defect names
 * which row it is and what to do.
 */
export function readCsv(text: string): Result<CsvTable, readonly string[]> {
  // Tabs at the end are empty cells.
  const content = text.replace(/^\uFEFF/, '').replace(/(?:\r?\n *)+$/, '');
  if (content.trim() === '') return err(['the file is empty']);
  if (/\r(?!\n)/.test(content))
    return err([
      'lines end with a carriage return only: save the file as “CSV UTF-8”, not as “CSV (Macintosh)”',
    ]);
  const delimiter = delimiterOf(content);
  if (delimiter === undefined)
    return err(['row 1 has only one column: separate columns with commas, semicolons or tabs']);
  const { records, defects } = readRecords(content, delimiter);
  const [first, ...rows] = records;
  const header = first?.cells ?? [];
  if (rows.length === 0) defects.push('there are no rows below row 1');
  defects.push(...lengthDefects(header.length, rows));
  return defects.length === 0 ? ok({ header, rows }) : err(defects);
}

/** A table of these rows, the first of which names the columns, as `readCsv` reads it. */
export function writeCsv(rows: readonly (readonly (string | number)[])[]): string {
  const field = (value: string | number): string => {
    const text = String(value);
    return /[",;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(field).join(',')}\n`).join('');
}

/** The character that separates the names of the first row: the most frequent one outside quotes. */
function delimiterOf(text: string): string | undefined {
  const unquoted = text.split('\n', 1)[0]?.replaceAll(/"(?:[^"]|"")*"/g, '') ?? '';
  const [most] = [',', ';', '\t']
    .map((delimiter) => ({ delimiter, count: unquoted.split(delimiter).length - 1 }))
    .sort((a, b) => b.count - a.count);
  return most === undefined || most.count === 0 ? undefined : most.delimiter;
}

/** The rows up to the first that cannot be read. A line break in a field is a defect: a forgotten quote, seldom a name. */
function readRecords(
  text: string,
  delimiter: string,
): { readonly records: readonly CsvRow[]; readonly defects: string[] } {
  const records: CsvRow[] = [];
  const defects: string[] = [];
  try {
    parse(text, {
      delimiter,
      trim: true,
      relax_column_count: true,
      relax_quotes: true,
      record_delimiter: ['\n', '\r\n'],
      on_record: (values: readonly string[], { lines }) => {
        if (values.some((value) => value.includes('\n')))
          defects.push(
            `row ${lines}: a quoted field contains a line break: close the quote, or remove the break`,
          );
        records.push({ line: lines, cells: values.map((value) => value.trim()) });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const row = (records.at(-1)?.line ?? 0) + 1;
    defects.push(
      error.code === 'CSV_QUOTE_NOT_CLOSED'
        ? `row ${row}: a quoted field has no closing quote`
        : `row ${row}: cannot be read as CSV (${error.code})`,
    );
  }
  return { records, defects };
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
    const isDecimal = cells.length === 2 * columns || cells.length === 2 * columns - 1;
    return `row ${line}: found ${cells.length} values, but row 1 names ${columns} columns${
      isDecimal ? ': if numbers have decimal commas, separate columns with semicolons' : ''
    }`;
  });
}
