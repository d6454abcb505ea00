import { contextFault } from '#shared/stage/app-context.ts';
import { parseGates } from '#shared/release/read-release.ts';
import { placeholders, stageNamed } from '#shared/stage/stages.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';

export type CdkCommand = 'synth' | 'deploy';

export interface CdkArguments {
  /** What the CDK command line is started with. */
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
export function cdkArguments(command: CdkCommand, given: readonly string[]): Result<CdkArguments, string> {
  const context = contextOf(given);
  if (!context.ok) return context;
  const gates = context.value.get('gates');
  const stage = context.value.get('stage');
  if (command === 'deploy') {
    if (gates !== undefined)
      return err('deploy reads the release gates from the stage: -c gates is only for npm run synth');
    if (stage === undefined) return err('missing: -c stage=NAME');
  }
  if (gates !== undefined) {
    const parsed = parseGates(gates);
    if (!parsed.ok) return err(`-c gates=${gates}: ${parsed.error}`);
  }
  if (stage !== undefined) {
    const named = stageNamed(stage);
    if (!named.ok) return named;
    const open = placeholders(named.value);
    if (command === 'deploy' && open.length > 0) {
      return err(
        `${stage} still has placeholder settings: ${open.join(', ')} (shared/stage/stages.ts, docs/deploy.md step 2)`,
      );
    }
  }
  const stacksNamed = given.some(
    (argument, index) => !argument.startsWith('-') && !takesValue(given[index - 1]),
  );
  return ok({
    argv: [
      command,
      ...given,
      ...(command === 'deploy' && !stacksNamed && !given.includes('--all') ? ['--all'] : []),
    ],
    offline: gates !== undefined,
    profile: profileOf(given),
  });
}

/** The `name=value` pairs of `-c` in each form that the CDK command line reads. */
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

/** The last `--profile`, which is the one that the CDK command line uses. */
function profileOf(given: readonly string[]): string | undefined {
  return given
    .flatMap((argument, index) =>
      argument === '--profile' ? (given[index + 1] ?? []) : (/^--profile=(.+)$/s.exec(argument)?.[1] ?? []),
    )
    .at(-1);
}

/** Options of the CDK command line whose value is an argument of its own: such a value names no stack. */
function takesValue(option: string | undefined): boolean {
  return (
    option !== undefined &&
    [
      '-c',
      '--context',
      '--profile',
      '-o',
      '--output',
      '--role-arn',
      '-r',
      '--require-approval',
      '--method',
      '--change-set-name',
      '-m',
      '--concurrency',
      '--progress',
      '-O',
      '--outputs-file',
      '--parameters',
      '--toolkit-stack-name',
      '-t',
      '--tags',
    ].includes(option)
  );
}
