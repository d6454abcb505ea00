import { parseArgs } from 'node:util';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';

/** One `--name` of a command. `fallback` is the value when it is absent; `read` turns its text into a value or says what is wrong. */
export interface Option<T> {
  readonly description: string;
  /** What stands after the name in the help, for example `N`; absent for a flag. */
  readonly placeholder?: string;
  readonly fallback: T;
  readonly read: (text: string) => Result<T, string>;
}

/** What a command is called and takes; `positionals` names its plain arguments, all of them required. */
interface CommandLine<Options extends Readonly<Record<string, Option<unknown>>>> {
  /** As the user types it, for example `npm run token --`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: Options;
  readonly positionals?: readonly string[];
  /** What further plain arguments, any number of them, are; absent when none is taken. */
  readonly rest?: string;
  /** Lines shown below the options. */
  readonly examples?: readonly string[];
}

export type OptionValues<Options extends Readonly<Record<string, Option<unknown>>>> = {
  readonly [Name in keyof Options]: Options[Name] extends Option<infer T> ? T : never;
};

/** An option that takes any non-empty text. */
export function text(description: string, placeholder: string): Option<string | undefined>;
export function text(description: string, placeholder: string, fallback: string): Option<string>;
export function text(
  description: string,
  placeholder: string,
  fallback?: string,
): Option<string | undefined> {
  return {
    description,
    placeholder,
    fallback,
    read: (value) => (value === '' ? err('must not be empty') : ok(value)),
  };
}

/** An option that takes a whole number from `min` to `max`. */
export function integer(
  description: string,
  placeholder: string,
  range: { readonly min: number; readonly max: number },
): Option<number | undefined>;
export function integer(
  description: string,
  placeholder: string,
  range: { readonly min: number; readonly max: number },
  fallback: number,
): Option<number>;
export function integer(
  description: string,
  placeholder: string,
  range: { readonly min: number; readonly max: number },
  fallback?: number,
): Option<number | undefined> {
  return {
    description,
    placeholder,
    fallback,
    read: (value) => {
      const number = /^-?\d+$/.test(value) ? Number(value) : NaN;
      return number >= range.min && number <= range.max
        ? ok(number)
        : err(`must be a whole number from ${range.min} to ${range.max}`);
    },
  };
}

/** An option that takes names separated by commas; a repeated one counts once, as lists made by scripts have them. */
export function list(description: string, placeholder: string): Option<readonly string[] | undefined> {
  return {
    description,
    placeholder,
    fallback: undefined,
    read: (value) => {
      const names = value.split(',');
      if (names.includes('')) return err('must be names separated by commas');
      return ok([...new Set(names)]);
    },
  };
}

/** An option that takes one of a few words. */
export function choice<const Word extends string>(
  description: string,
  words: readonly Word[],
  fallback: NoInfer<Word>,
): Option<Word> {
  return {
    description,
    placeholder: words.join('|'),
    fallback,
    read: (value) => {
      const word = words.find((candidate) => candidate === value);
      return word === undefined ? err(`must be one of ${words.join(', ')}`) : ok(word);
    },
  };
}

/** An option without a value. */
export function flag(description: string): Option<boolean> {
  return { description, fallback: false, read: () => ok(true) };
}

type ParsedCommandLine<Options extends Readonly<Record<string, Option<unknown>>>> =
  | { readonly help: true }
  | {
      readonly help: false;
      readonly values: OptionValues<Options>;
      readonly positionals: readonly string[];
    };

/**
 * Reads a command's arguments. The built-in parser finds the tokens; this adds what it lacks: typed values, refused repetition,
 * and messages that name what would have been right. `--help` wins over everything else.
 */
export function parseCommandLine<Options extends Readonly<Record<string, Option<unknown>>>>(
  command: CommandLine<Options>,
  argv: readonly string[],
): Result<ParsedCommandLine<Options>, string> {
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(command.options).map(([name, option]) => [
        name,
        { type: option.placeholder === undefined ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
  });
  if (tokens.some((token) => token.kind === 'option' && token.rawName === '--help'))
    return ok({ help: true });

  const given = new Map<string, unknown>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(command.options, token.name) ? command.options[token.name] : undefined;
    if (option === undefined || !token.rawName.startsWith('--')) {
      return err(`unknown option ${token.rawName}; known are ${optionNames(command)}`);
    }
    if (given.has(token.name)) return err(`${token.rawName} is given twice`);
    if (option.placeholder === undefined) {
      if (token.value !== undefined) return err(`${token.rawName} takes no value`);
      given.set(token.name, true);
      continue;
    }
    // `--tenant --scope x`: the parser would take the next option for the value.
    if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) {
      return err(`${token.rawName} needs a value: ${token.rawName} ${option.placeholder}`);
    }
    const value = option.read(token.value);
    if (!value.ok) return err(`${token.rawName} ${value.error}`);
    given.set(token.name, value.value);
  }

  const expected = command.positionals ?? [];
  if (positionals.length < expected.length) {
    return err(`missing argument: ${expected.slice(positionals.length).join(' ')}`);
  }
  const surplus = positionals[expected.length];
  if (surplus !== undefined && command.rest === undefined) return err(`unexpected argument "${surplus}"`);

  const values = Object.fromEntries(
    Object.entries(command.options).map(([name, option]) => [
      name,
      given.has(name) ? given.get(name) : option.fallback,
    ]),
  );
  // SAFETY: each value came from its option's own `read` or `fallback`.
  return ok({ help: false, values: values as OptionValues<Options>, positionals });
}

function optionNames(command: CommandLine<Readonly<Record<string, Option<unknown>>>>): string {
  return [...Object.keys(command.options), 'help'].map((name) => `--${name}`).join(', ');
}

/** The text of `--help`. */
export function renderHelp(command: CommandLine<Readonly<Record<string, Option<unknown>>>>): string {
  const rows: (readonly [string, string])[] = Object.entries(command.options).map(([name, option]) => [
    option.placeholder === undefined ? `--${name}` : `--${name} ${option.placeholder}`,
    typeof option.fallback === 'string' || typeof option.fallback === 'number'
      ? `${option.description} (default ${option.fallback})`
      : option.description,
  ]);
  rows.push(['--help', 'shows this text']);
  const width = Math.max(...rows.map(([left]) => left.length));
  const rest = command.rest === undefined ? [] : [`[${command.rest} …]`];
  const usage = [command.usage, '[options]', ...(command.positionals ?? []), ...rest].join(' ');
  const lines = [
    usage,
    '',
    command.summary,
    '',
    ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
  ];
  if (command.examples !== undefined) lines.push('', ...command.examples.map((line) => `  ${line}`));
  return `${lines.join('\n')}\n`;
}

/**
 * Runs a command of this process: help to standard output, a user's mistake as one line on standard error. Exit code 0 only on success,
 * 2 for wrong arguments, 1 for anything else. A throw is a defect and keeps its stack trace.
 */
export async function runCommand<Options extends Readonly<Record<string, Option<unknown>>>>(
  command: CommandLine<Options>,
  main: (values: OptionValues<Options>, positionals: readonly string[]) => Promise<Result<undefined, string>>,
): Promise<void> {
  // `npm run … | head`: the reader has what it wanted.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  const parsed = parseCommandLine(command, process.argv.slice(2));
  if (!parsed.ok) {
    process.stderr.write(`${parsed.error}\n`);
    process.exitCode = 2;
    return;
  }
  if (parsed.value.help) {
    process.stdout.write(renderHelp(command));
    return;
  }
  const result = await main(parsed.value.values, parsed.value.positionals);
  if (result.ok) return;
  process.stderr.write(`${result.error}\n`);
  process.exitCode = 1;
}
