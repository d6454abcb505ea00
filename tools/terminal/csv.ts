import { CsvError, parse } from 'csv-parse/sync';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';

/** A table whose first row and first column are names. */
export interface NamedTable {
  readonly columns: readonly string[];
  readonly rows: readonly {
    /** Line of the file, from 1. */
    readonly line: number;
    readonly name: string;
    readonly cells: readonly string[];
  }[];
}

/**
 * Reads a comma-separated table (RFC 4180 without line breaks inside fields); a byte order mark, CRLF and quoted fields are taken.
 * Every row must be as long as the first; names must be there and distinct.
 */
export function readNamedTable(text: string): Result<NamedTable, readonly string[]> {
  const { table, defects } = readTable(text);
  return defects.length === 0 ? ok(table) : err(defects);
}

/** As `readNamedTable`, with what could be read beside the defects: rows may then be short, long, or without names. */
export function readTable(text: string): { readonly table: NamedTable; readonly defects: readonly string[] } {
  const content = text.trimEnd();
  if (content === '') return { table: nothing, defects: ['is empty'] };
  const dialect = otherDialect(content);
  if (dialect !== undefined) return { table: nothing, defects: [dialect] };
  const { records, defects } = readRecords(content);
  const [first, ...rest] = records;
  const [, ...columns] = first?.values ?? [];
  if (columns.length === 0) defects.push('row 1: names no column');
  defects.push(...nameDefects(columns, (at) => `row 1, column ${at + 2}`));
  if (rest.length === 0) defects.push('holds no row below its first one');
  const rows = rest.map(({ line, values: [name = '', ...cells] }) => {
    if (cells.length !== columns.length)
      defects.push(`row ${line}: holds ${cells.length} values for ${columns.length} columns`);
    return { line, name, cells };
  });
  const names = rows.map(({ name }) => name);
  defects.push(...nameDefects(names, (at) => `row ${rows[at]?.line ?? NaN}`));
  return { table: { columns, rows }, defects };
}

interface CsvRecord {
  readonly line: number;
  /** Trimmed. */
  readonly values: readonly string[];
}

/** The records up to the first that cannot be read. A line break in a field is a defect: it is a quote that was forgotten, seldom a name. */
function readRecords(text: string): { readonly records: readonly CsvRecord[]; readonly defects: string[] } {
  const records: CsvRecord[] = [];
  const defects: string[] = [];
  try {
    parse(text, {
      bom: true,
      trim: true,
      relax_column_count: true,
      relax_quotes: true,
      record_delimiter: ['\n', '\r\n'],
      on_record: (values: readonly string[], { lines }) => {
        if (values.some((value) => value.includes('\n')))
          defects.push(`row ${lines}: a quoted field has a line break in it`);
        records.push({ line: lines, values: values.map((value) => value.trim()) });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const row = (records.at(-1)?.line ?? 0) + 1;
    defects.push(
      error.code === 'CSV_QUOTE_NOT_CLOSED'
        ? `row ${row}: a quoted field has no end`
        : `row ${row}: is no comma-separated row (${error.code})`,
    );
  }
  return { records, defects };
}

const nothing: NamedTable = { columns: [], rows: [] };

/** What a spreadsheet may have written instead; told once, where every row would otherwise be wrong. */
function otherDialect(text: string): string | undefined {
  if (/\r(?!\n)/.test(text)) {
    return 'ends its lines with a carriage return alone; LF or CRLF is needed (save it as “CSV”, not as “CSV (Macintosh)”)';
  }
  const unquoted = text.split('\n', 1)[0]?.replaceAll(/"(?:[^"]|"")*"/g, '') ?? '';
  if (unquoted.includes(',')) return undefined;
  const separator = unquoted.includes(';') ? 'semicolons' : unquoted.includes('\t') ? 'tabs' : undefined;
  return separator === undefined
    ? undefined
    : `separates its columns with ${separator}; commas are needed (a spreadsheet takes the separator from its region settings)`;
}

function nameDefects(names: readonly string[], placeOf: (at: number) => string): readonly string[] {
  const first = new Map<string, number>();
  return names.flatMap((name, at) => {
    if (name === '') return [`${placeOf(at)}: has no name`];
    const earlier = first.get(name);
    if (earlier !== undefined)
      return [`${placeOf(at)}: the name "${name}" stands in ${placeOf(earlier)} already`];
    first.set(name, at);
    return [];
  });
}
