import { contextFault } from '#shared/stage/app-context.ts';
import { parseGates } from '#shared/release/read-release.ts';
import { stageNamed, type Stage } from '#shared/stage/stages.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';

export interface CdkArguments {
  readonly argv: readonly string[];
  /** `-c gates=…` was given: nothing needs the stage's account. */
  readonly offline: boolean;
  /** The CDK does not pass `--profile` on to its app, which must use the same credentials. */
  readonly profile: string | undefined;
}

/**
 * Checks what can be checked before anything is bundled, for an early answer: what makes a deployment safe is checked by the app itself. Every option that this does not know goes on to the CDK command line as it is; a
 * context of another name is refused, since nothing would read it and a mistyped gate would stay unsaid.
 * @param given the arguments after `npm run synth --`
 */
export function synthArguments(given: readonly string[]): Result<CdkArguments, string> {
  const context = contextOf(given);
  if (!context.ok) return context;
  const gates = context.value.get('gates');
  const stage = context.value.get('stage');
  if (gates !== undefined) {
    const parsed = parseGates(gates);
    if (!parsed.ok) return err(`-c gates=${gates}: ${parsed.error}`);
  }
  if (stage !== undefined) {
    const named = stageNamed(stage);
    if (!named.ok) return named;
  }
  return ok({ argv: ['synth', ...given], offline: gates !== undefined, profile: profileOf(given) });
}

export interface DeployArguments {
  readonly stage: Stage;
  readonly profile: string | undefined;
  readonly context: readonly string[];
  readonly stacks: readonly string[];
  readonly yes: boolean;
  readonly prepare: boolean;
  readonly allowed: ReadonlySet<string>;
  readonly withoutProfiles: boolean;
  /** The arguments that are passed to `cdk deploy`. */
  readonly rest: readonly string[];
}

/** What `npm run deploy` decides itself. */
const ownOptions = [
  ...['-a', '--app', '-e', '--exclusively', '-m', '--method', '-o', '--output', '--change-set-name'],
  ...['--execute', '--no-execute', '--hotswap', '--hotswap-fallback', '--watch'],
];
/** Options of `cdk deploy` that change nothing here: stacks are deployed one after the other, and every step is shown. */
const withoutEffect = ['--all', '--concurrency', '--progress', '--require-approval'];

/**
 * Takes the arguments apart, and checks them as `synthArguments` does.
 * @param given the arguments after `npm run deploy --`
 */
export function deployArguments(given: readonly string[]): Result<DeployArguments, string> {
  const context = contextOf(given);
  if (!context.ok) return context;
  if (context.value.has('gates'))
    return err('deploy reads the release gates from the stage: -c gates is only for npm run synth');
  const name = context.value.get('stage');
  if (name === undefined) return err('missing: -c stage=NAME');
  const stage = stageNamed(name);
  if (!stage.ok) return stage;
  const stacks: string[] = [];
  const rest: string[] = [];
  const allowed = new Set<string>();
  let yes = false;
  let prepare = false;
  let withoutProfiles = false;
  const words = given.flatMap((word) => /^(--[\w-]+)=(.*)$/s.exec(word)?.slice(1) ?? word);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const value = withValue.has(word) ? words[(at += 1)] : undefined;
    if (ownOptions.includes(word))
      return err(`npm run deploy decides ${word} itself: for another way, use npx cdk deploy`);
    if (word === '--yes' || word === '-y' || (word === '--require-approval' && value === 'never')) yes = true;
    else if (word === '--prepare') prepare = true;
    else if (word === '--without-profiles') withoutProfiles = true;
    else if (word === '--allow-replacement') {
      if (value === undefined) return err('--allow-replacement needs the logical id of a resource');
      allowed.add(value);
    } else if (word.startsWith('-c') || ['--context', '--profile', ...withoutEffect].includes(word)) continue;
    else if (word.startsWith('-')) rest.push(word, ...(value === undefined ? [] : [value]));
    else stacks.push(word);
  }
  return ok({
    stage: stage.value,
    profile: profileOf(given),
    context: [...context.value].flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    stacks,
    yes,
    prepare,
    allowed,
    withoutProfiles,
    rest,
  });
}

/** Options of the CDK command line whose value is an argument of its own. */
const withValue: ReadonlySet<string> = new Set([
  ...['-c', '--context', '--profile', '-o', '--output', '--role-arn', '-r', '--require-approval'],
  ...['--method', '--change-set-name', '-m', '--concurrency', '--progress', '-O', '--outputs-file'],
  ...['--parameters', '--toolkit-stack-name', '-t', '--tags', '--allow-replacement'],
]);

/** Returns the `name=value` pairs of `-c` in each form that the CDK command line reads. */
function contextOf(given: readonly string[]): Result<ReadonlyMap<string, string>, string> {
  const pairs = new Map<string, string>();
  for (const [index, argument] of given.entries()) {
    const attached = /^(?:--context=|-c=?)(.+)$/s.exec(argument)?.[1];
    const pair = argument === '-c' || argument === '--context' ? given[index + 1] : attached;
    if (pair === undefined) {
      if (argument === '-c' || argument === '--context') return err(`${argument} needs name=value`);
      continue;
    }
    const at = pair.indexOf('=');
    if (at < 1) return err(`-c ${pair}: expected name=value`);
    const name = pair.slice(0, at);
    const fault = contextFault(name);
    if (fault !== undefined) return err(`-c ${pair}: ${fault}`);
    if (pairs.has(name)) return err(`-c ${name} is given twice`);
    pairs.set(name, pair.slice(at + 1));
  }
  return ok(pairs);
}

/** Returns the last `--profile`, which is the one that the CDK command line uses. */
function profileOf(given: readonly string[]): string | undefined {
  return given
    .flatMap((argument, index) =>
      argument === '--profile' ? (given[index + 1] ?? []) : (/^--profile=(.+)$/s.exec(argument)?.[1] ?? []),
    )
    .at(-1);
}
