import { InvalidArgumentError } from '@commander-js/extra-typings';
import { text } from '../command.ts';
import { csvField, readFields, type CsvRow } from '../csv.ts';

/*
 * Names of learners, items and knowledge components: how messages show them, how a shell takes them, and which of them nearly agree.
 */

/** Names, as in a seed. */
const LONGEST_NAME = 128;

/** The beginning of a value from a file. */
export function shown(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}

/** Names in quotes: the first ones, and how many more there are. */
export function quoted(names: readonly string[], most = 5): string {
  const first = names.slice(0, most).map((name) => `"${shown(name)}"`);
  const rest = names.length - first.length;
  return rest > 0 ? `${first.join(', ')} and ${rest} more` : first.join(', ');
}

/** Names as one argument of a command line, as `namesOf` reads them. */
export function argument(...names: readonly string[]): string {
  const fields = names.map((name) => (/[",]/.test(name) ? csvField(name) : name)).join(',');
  if (/^[\w.,-]+$/.test(fields)) return fields;
  return /["$`\\!]/.test(fields) ? `'${fields.replaceAll("'", `'\\''`)}'` : `"${fields}"`;
}

/** Reads an option's names, separated by commas; a name with a comma is in double quotes. */
export function namesOf(value: string): readonly string[] {
  const names = readFields(text(value));
  if (names.length === 0 || names.includes(''))
    throw new InvalidArgumentError('It must be names separated by commas.');
  return [...new Set(names)];
}

/** Columns without a name of their own. @param from number of the first one in the file */
export function columnDefects(names: readonly string[], from: number): string[] {
  return nameDefects(names, (at) => `column ${at + from}`, 'column name').map((defect) =>
    defect.endsWith(': no column name')
      ? `row 1, ${defect}: name it, or remove the column`
      : `row 1, ${defect}`,
  );
}

/** Rows without a name of their own in a column. */
export function rowDefects(rows: readonly CsvRow[], column: number, what: string): string[] {
  return nameDefects(
    rows.map(({ cells }) => cells[column] ?? ''),
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

/** What is wrong with a name as such; undefined for a usable one. */
export function lengthDefect(name: string): string | undefined {
  return name.length > LONGEST_NAME ? tooLong(name) : undefined;
}

function tooLong(name: string): string {
  return `"${shown(name)}" is longer than ${LONGEST_NAME} characters`;
}

/** A name without what people write differently: case, blanks, punctuation, invisible characters, leading zeros. */
export function folded(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .replaceAll(/(?<!\d)0+(?=\d)/g, '');
}

/** Finds for a name the one that differs only in form, or only in the text before the same number; undefined if that is not unique. */
export function nearest(names: readonly string[]): (name: string) => string | undefined {
  const byForm = unique(names, folded);
  const byNumber = unique(names, (name) => /(\d+)\D*$/.exec(folded(name))?.[1] ?? '');
  return (name) => {
    const form = folded(name);
    return byForm.get(form) ?? byNumber.get(/(\d+)\D*$/.exec(form)?.[1] ?? '');
  };
}

function unique(names: readonly string[], keyOf: (name: string) => string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const several = new Set<string>();
  for (const name of names) {
    const key = keyOf(name);
    if (found.has(key)) several.add(key);
    found.set(key, name);
  }
  for (const key of [...several, '']) found.delete(key);
  return found;
}
