import { InvalidArgumentError, Option, type Command, type OptionValues } from '@commander-js/extra-typings';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { text } from '../command.ts';
import { readTableFile, type NamedText } from './files.ts';
import { namesOf } from './names.ts';
import { numberOf } from './numbers.ts';

/** What the tables of a study cannot express themselves. */
export interface TableOptions {
  /** The marks of a missing answer, in addition to an empty cell, NA, N/A and NaN. */
  readonly missing?: readonly string[] | undefined;
  /** Columns of either table to leave out; an item among them loses its row in the Q-matrix too. */
  readonly ignore?: readonly string[] | undefined;
  /** Rows of the answers to leave out: what their first or id column contains, or `row N`. */
  readonly ignoreRows?: readonly string[] | undefined;
  /** Rows to take as learners although they look like none. */
  readonly take?: readonly string[] | undefined;
  /** The values of a correct answer, and of an incorrect one. */
  readonly correct?: readonly string[] | undefined;
  readonly incorrect?: readonly string[] | undefined;
  /** The lowest score that counts as correct. */
  readonly correctFrom?: number | undefined;
  /** The right answer of each item. */
  readonly key?: NamedText | undefined;
  /** Columns of a table with one row per answer; `learner` also names the id column of a table with one column per item. */
  readonly learner?: string | undefined;
  readonly item?: string | undefined;
  readonly score?: string | undefined;
  /** Which of several answers of a learner to an item counts. */
  readonly attempts?: 'first' | 'last' | 'best' | undefined;
  /** Whether the rows of the Q-matrix are in the order of the columns of answers. */
  readonly byPosition?: boolean | undefined;
}

/** The options as commander returns them: the key is a path. */
export type GivenOptions = Omit<TableOptions, 'key'> & { readonly key?: string | undefined };

function scoreOf(value: string): number {
  const score = numberOf(value);
  if (score === undefined) throw new InvalidArgumentError('It must be a number, for example 2 or 80%.');
  return score;
}

const names = (flags: string, description: string): Option =>
  new Option(flags, description).argParser(namesOf);
const one = (flags: string, description: string): Option => new Option(flags, description).argParser(text);

const OPTIONS: readonly Option[] = [
  names(
    '--missing <CODE,…>',
    'values that mark a missing answer, for example "99,."; an empty cell, NA, N/A and NaN always do',
  ),
  names(
    '--ignore <COL,…>',
    'columns to leave out of both tables; an item’s name leaves the item out; "x*" means all that begin with x and are no item',
  ),
  names(
    '--ignore-rows <ROW,…>',
    'rows that are no learner, by their first column, or as "row 2": maximum points, key, averages',
  ),
  names('--take <ROW,…>', 'rows that are learners although they look like none'),
  names('--correct <VALUE,…>', 'values of a correct answer, for example T'),
  names('--incorrect <VALUE,…>', 'values of an incorrect answer, if more than one is not in --correct'),
  new Option(
    '--correct-from <SCORE>',
    'partial credit: this score and higher ones are correct, lower ones incorrect',
  ).argParser(scoreOf),
  one('--key <CSV>', 'scores chosen options: columns item and key, or one column per item and one row'),
  one('--learner <COL>', 'column of learner ids, with one row per learner or per answer'),
  one('--item <COL>', 'column of items, with one row per answer'),
  one('--score <COL>', 'column of scores, with one row per answer'),
  new Option(
    '--attempts <WHICH>',
    'which of several answers of a learner to an item counts, in the order of rows',
  ).choices(['first', 'last', 'best']),
  new Option(
    '--by-position',
    'match the rows of the Q-matrix with the columns of items by order, not by name',
  ),
];

/** Adds the options of every command that reads a study. */
export function studyOptions<Args extends unknown[], Opts extends OptionValues>(
  command: Command<Args, Opts>,
): Command<Args, Opts & GivenOptions> {
  for (const option of OPTIONS) command.addOption(option);
  return command;
}

/** Returns the options of a reader: reads the file of the key. */
export async function tableOptions(given: GivenOptions): Promise<Result<TableOptions, string>> {
  const { key: path, ...others } = given;
  if (path === undefined) return ok(others);
  const key = await readTableFile(path);
  return key.ok ? ok({ ...others, key: { name: path, text: key.value } }) : err(key.error);
}
