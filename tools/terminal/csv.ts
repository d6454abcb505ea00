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
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  while (lines.at(-1)?.trim() === '') lines.pop();
  const [first, ...rest] = lines;
  if (first === undefined) return { table: nothing, defects: ['is empty'] };
  const dialect = otherDialect(lines);
  if (dialect !== undefined) return { table: nothing, defects: [dialect] };
  const [, ...columns] = fields(first) ?? [];
  const defects: string[] = [];
  if (columns.length === 0) defects.push('row 1: names no column');
  defects.push(...nameDefects(columns, (at) => `row 1, column ${at + 2}`));
  if (rest.length === 0) defects.push('holds no row below its first one');
  const rows = rest.map((line, at) => {
    const number = at + 2;
    const values = fields(line);
    if (values === undefined) defects.push(`row ${number}: a quoted field has no end`);
    const [name = '', ...cells] = values ?? [];
    if (values !== undefined && cells.length !== columns.length) {
      defects.push(`row ${number}: holds ${cells.length} values for ${columns.length} columns`);
    }
    return { line: number, name, cells };
  });
  defects.push(
    ...nameDefects(
      rows.map((row) => row.name),
      (at) => `row ${at + 2}`,
    ),
  );
  return { table: { columns, rows }, defects };
}

const nothing: NamedTable = { columns: [], rows: [] };

/** What a spreadsheet may have written instead; told once, where every row would otherwise be wrong. */
function otherDialect(lines: readonly string[]): string | undefined {
  if (lines.some((line) => line.includes('\r'))) {
    return 'ends its lines with a carriage return alone; LF or CRLF is needed (save it as “CSV”, not as “CSV (Macintosh)”)';
  }
  const unquoted = lines[0]?.replaceAll(/"(?:[^"]|"")*"/g, '') ?? '';
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

/** The trimmed fields of one line; undefined when a quote stays open. */
function fields(line: string): readonly string[] | undefined {
  if (!line.includes('"')) return line.split(',').map((value) => value.trim());
  const values: string[] = [];
  let rest = line;
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*(,|$)/.exec(rest);
    const match = quoted ?? /^([^,]*)(,|$)/.exec(rest);
    if (match === null) return undefined;
    const [whole, value = '', separator] = match;
    if (quoted === null && value.trim().startsWith('"')) return undefined;
    values.push(quoted === null ? value.trim() : value.replaceAll('""', '"').trim());
    if (separator === '') return values;
    rest = rest.slice(whole.length);
  }
}
