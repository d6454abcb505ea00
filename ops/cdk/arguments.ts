import { parseGates } from '#shared/release/read-release.ts';
import { placeholders, stageNamed } from '#shared/stage/stages.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';

/** The context that bin/app.ts reads. */
const CONTEXT_NAMES = ['gates', 'stage'];
/** The names of the CDK itself: its feature flags and its settings. */
const CDK_CONTEXT = /^(?:@aws-cdk|aws-cdk|aws:)/;

export type CdkCommand = 'synth' | 'deploy';

export interface CdkArguments {
  /** What the CDK command line is started with. */
  readonly argv: readonly string[];
  readonly quiet: boolean;
  /** `-c gates=…` was given: nothing needs the stage's account. */
  readonly offline: boolean;
}

/**
 * Checks what can be checked before anything is bundled. Every option that this does not know goes on to the CDK command line as it is; a
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
    quiet: given.includes('--quiet') || given.includes('-q'),
    offline: gates !== undefined,
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
    if (!CONTEXT_NAMES.includes(name) && !CDK_CONTEXT.test(name)) {
      return err(`-c ${pair}: unknown name "${name}": expected ${CONTEXT_NAMES.join(' or ')}`);
    }
    if (pairs.has(name)) return err(`-c ${name} is given twice`);
    pairs.set(name, pair.slice(at + 1));
  }
  return ok(pairs);
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
