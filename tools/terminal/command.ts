import { Command, CommanderError, Help, InvalidArgumentError } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Result } from '#shared/kernel/result.ts';
import { plainText } from './plain-text.ts';

/** A mistake in the arguments that only the command itself can find. Like every usage error it exits with 2. */
export class UsageError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Marks a failure of the command itself; every other error that commander reports is one of usage. */
const FAILED = 'failed';

/**
 * A program of package.json, for `run`: options, arguments and subcommands are declared on it as commander has them.
 * @param name as the user types it, for example `npm run token --`
 */
export function program(name: string, description: string): Command {
  return (
    new Command(name)
      .description(description)
      .helpCommand(false)
      .exitOverride()
      .configureOutput({
        outputError: (text, write) => {
          const sentence = text.replace(/^error: /, '').replace(/\n\((Did you mean .*)\)\n$/, '. $1\n');
          // An argument is quoted as it was given, even if it has control characters of a terminal.
          write(sentence.split('\n').map(plainText).join('\n'));
        },
      })
      // The help of a program with subcommands shows theirs as well: one page holds every option.
      .configureHelp({
        formatHelp: (command, helper) =>
          [command, ...command.commands]
            .map((each) => Help.prototype.formatHelp.call(helper, each, helper))
            .join('\n'),
      })
  );
}

/** Example commands for `addHelpText('after', …)`. One that is wider than the help continues after `\\`, so that it works when pasted. */
export function examples(...lines: readonly string[]): (context: { command: CommandUnknownOpts }) => string {
  return ({ command }) => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? HELP_WIDTH;
    return ['\nExamples:', ...lines.flatMap((line) => wrapCommand(`  ${line}`, width))].join('\n');
  };
}

/** Where standard output is no terminal. */
const HELP_WIDTH = 80;

/** Breaks a command before one of its options. A comment in columns behind it goes to a line of its own. */
function wrapCommand(line: string, width: number): readonly string[] {
  if (line.length <= width) return [line];
  const [, command = line, comment] = /^(.*?\S) {2,}(\S.*)$/.exec(line) ?? [];
  if (comment !== undefined) return [`  ${command.trim()}`, `      ${comment}`];
  const at = line.lastIndexOf(' --', width - ' \\'.length);
  if (at < 1 || line.slice(0, at).trim() === '') return [line];
  return [`${line.slice(0, at)} \\`, ...wrapCommand(`     ${line.slice(at)}`, width)];
}

type Missing = (options: Readonly<Record<string, unknown>>, args: readonly string[]) => readonly string[];
const conditions = new WeakMap<object, Missing>();

/**
 * Adds what a command needs in addition to its required options and arguments, for example one of two options.
 * @param missing returns the names of what is missing, as the user writes them
 */
export function needs(command: CommandUnknownOpts, missing: Missing): void {
  conditions.set(command, missing);
}

/** Everything that a command needs and was not given, in one sentence; undefined when it has all. */
function missingOf(command: CommandUnknownOpts): string | undefined {
  const values = command.opts() as Readonly<Record<string, unknown>>;
  const names = [
    ...command.registeredArguments
      .filter(({ required }, at) => required && at >= command.args.length)
      .map((argument) => argument.name()),
    ...command.options
      .filter((option) => option.mandatory && values[option.attributeName()] === undefined)
      .map(({ long }) => long ?? ''),
    ...(conditions.get(command)?.(values, command.args) ?? []),
  ];
  return names.length === 0 ? undefined : `missing: ${names.join(', ')}`;
}

/** A handler for `action`, made of a function that returns what went wrong: text exits with 1, a `UsageError` with 2. */
export function exits<Args extends readonly unknown[]>(
  main: (
    ...args: Args
  ) => Result<undefined, string | UsageError> | Promise<Result<undefined, string | UsageError>>,
): (this: CommandUnknownOpts, ...args: Args) => Promise<void> {
  return async function (...args) {
    const missing = missingOf(this);
    if (missing !== undefined) this.error(missing);
    const result = await main(...args);
    if (result.ok) return;
    if (result.error instanceof UsageError) this.error(result.error.message);
    this.error(result.error, { code: FAILED });
  };
}

/** Runs a program with the arguments of this process and sets its exit code: 0 on success only, 2 for wrong usage, else 1. */
export async function run(command: CommandUnknownOpts): Promise<void> {
  // `npm run … | head`: the reader has what it wanted.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  const code = await exitCodeOf(command, process.argv.slice(2));
  if (code !== 0) process.exitCode = code;
}

/** Runs a program: help goes to standard output, a mistake as a sentence to standard error. A throw is a defect and passes through. */
async function exitCodeOf(command: CommandUnknownOpts, argv: readonly string[]): Promise<number> {
  refuseRepetition(command);
  nameAllMissing(command);
  const words = subcommandFirst(command, argv);
  const [first = '-'] = words;
  try {
    // Help wins over every other mistake.
    if (words.includes('--help'))
      await command.parseAsync([...(first.startsWith('-') ? [] : [first]), '--help'], { from: 'user' });
    else await command.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === FAILED) return 1;
    return error.code === 'commander.helpDisplayed' ? 0 : 2;
  }
}

/** commander names only the first missing option or argument. */
function nameAllMissing(command: CommandUnknownOpts): void {
  for (const each of [command, ...command.commands]) {
    const refuse = (): void => {
      each.error(missingOf(each) ?? 'missing argument');
    };
    Object.assign(each, { missingMandatoryOptionValue: refuse, missingArgument: refuse });
  }
}

/** Otherwise an option's second value would silently win over the first. */
function refuseRepetition(command: CommandUnknownOpts): void {
  for (const each of [command, ...command.commands]) {
    for (const option of each.options.filter(({ variadic }) => !variadic)) {
      let isGiven = false;
      each.on(`option:${option.name()}`, () => {
        if (isGiven) each.error(`${option.long ?? ''} is given twice`);
        isGiven = true;
      });
    }
  }
}

/** Version 0.1.0 took the subcommand after options as well; commander wants it first. */
function subcommandFirst({ commands }: CommandUnknownOpts, argv: readonly string[]): string[] {
  if (commands.length === 0) return [...argv];
  const takesValue = new Set(
    commands.flatMap(({ options }) => options.filter(({ required }) => required).map(({ long }) => long)),
  );
  const at = argv.findIndex((word, index) => !word.startsWith('-') && !takesValue.has(argv[index - 1]));
  return at < 0 ? [...argv] : [...argv.slice(at, at + 1), ...argv.slice(0, at), ...argv.slice(at + 1)];
}

/** Reads an option's value; the next option's name is none, and an empty one is a slip of the shell. */
export function text(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must not be empty.');
  if (value.startsWith('--'))
    throw new InvalidArgumentError('The value is missing: this is the next option.');
  return value;
}

/** The option of every command that calls AWS. */
export const profileOption = [
  '--profile <P>',
  'the AWS profile whose credentials to use; default: those of the environment',
] as const;

/** Reads a value with a function that returns what is wrong with it. */
export function parsed<Value>(parse: (text: string) => Result<Value, string>): (value: string) => Value {
  return (value) => {
    const read = parse(value);
    if (!read.ok) throw new InvalidArgumentError(`${read.error}.`);
    return read.value;
  };
}

/** Reads a whole number from `min` to `max`. */
export function integer(min: number, max: number): (value: string) => number {
  return number(`a whole number from ${min} to ${max}`, /^-?\d+$/, (n) => n >= min && n <= max);
}

/** Reads a number. @param range describes which ones `isIn` takes, for example `above 0 and below 1` */
export function decimal(range: string, isIn: (value: number) => boolean): (value: string) => number {
  return number(`a number ${range}`, /^[\d.]+(e-?\d+)?$/i, isIn);
}

function number(what: string, form: RegExp, isIn: (value: number) => boolean): (value: string) => number {
  return (value) => {
    const read = form.test(value) ? Number(value) : NaN;
    if (!isIn(read)) throw new InvalidArgumentError(`It must be ${what}.`);
    return read;
  };
}

/** Reads names separated by commas; a repeated one counts once, as lists made by scripts have them. */
export function list(value: string): readonly string[] {
  const names = text(value).split(',');
  if (names.includes('')) throw new InvalidArgumentError('It must be names separated by commas.');
  return [...new Set(names)];
}
