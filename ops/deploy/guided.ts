import type { ResourceChange } from '@aws-sdk/client-cloudformation';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { stackName } from '#shared/stage/stack-names.ts';
import { accountChecks } from '#ops/doctor/account-checks.ts';
import { mendAll, renderLine, runChecks, type Check, type Line, type Subject } from '#ops/doctor/finding.ts';
import { stageChecks } from '#ops/doctor/stage-checks.ts';
import type { DeployedStack } from '#shared/stage-checks/finding.ts';
import { readChangeSet } from '#ops/doctor/stacks.ts';
import { readAssembly, type AssemblyStack } from './assembly.ts';
import { addressTypes, dataTypes, describeChange, losses } from './losses.ts';

/** The name of every change set that is reviewed here; an older one of that name is replaced. */
export const CHANGE_SET = 'mastery-reports-review';

export interface Deploying {
  /** The stage as it is now: asked again after every change. */
  readonly subject: () => Subject;
  /** Runs the CDK command line. @returns its exit code */
  readonly cdk: (argv: readonly string[]) => Promise<number>;
  /** Where the CDK writes the synthesized stacks. */
  readonly assembly: string;
  /** The stacks to deploy, with those that they depend on. Empty: all. */
  readonly stacks: readonly string[];
  /** `-c name=value`, for the synthesis. */
  readonly context: readonly string[];
  /** Further options of the operator for `cdk deploy`. */
  readonly rest: readonly string[];
  /** Logical ids of resources with data or an address that may be replaced or deleted. */
  readonly allowed: ReadonlySet<string>;
  readonly yes: boolean;
  readonly prepare: boolean;
  /** Deploys although the new functions may not find a tenant's service profile. */
  readonly withoutProfiles: boolean;
  /** Undefined: there is no terminal. */
  readonly ask: ((question: string) => Promise<boolean>) | undefined;
  readonly print: (line: string) => void;
}

/** What is to be done with a stack. `later`: its change set can only be made once the stacks before it are deployed. */
interface Plan {
  readonly stack: AssemblyStack;
  readonly kind: 'new' | 'reviewed' | 'later' | 'unchanged';
  readonly changes: readonly ResourceChange[];
}

/**
 * Checks the account, synthesizes, shows what CloudFormation would change, asks, deploys stack by stack, and checks what is deployed. Stops
 * before any change by which data or an address would be lost.
 */
export async function deployGuided(deploying: Deploying): Promise<Result<undefined, string>> {
  const { subject, cdk, assembly, context, print } = deploying;
  const before = await report(deploying, { ...accountChecks, release: stageChecks.release });
  if (before.some(isFailure)) return err('the account is not ready: nothing was changed');
  if ((await cdk(['synth', ...context, '--quiet', '--output', assembly])) !== 0)
    return err('the synthesis failed: nothing was changed');
  const stacks = await readAssembly(assembly, deploying.stacks);
  if (!stacks.ok) return stacks;

  const deployed = await subject().stacks();
  const plans: Plan[] = [];
  for (const stack of stacks.value) plans.push(await review(deploying, stack, deployed.get(stack.name)));
  const lost = lossesOf(plans, deploying);
  if (lost !== undefined) return err(`${lost}\nNothing was deployed.`);
  if (deploying.prepare) return ok(undefined);
  if (plans.every(({ kind }) => kind === 'unchanged')) print('Nothing to deploy.');
  else {
    const agreed = await confirm(deploying);
    if (!agreed.ok) return agreed;
  }
  const done = await carryOut(deploying, plans);
  return done.ok ? verify(deploying) : done;
}

/** Prepares and shows what would change in a stack. */
async function review(
  { subject, cdk, assembly, rest, print }: Deploying,
  stack: AssemblyStack,
  deployed: DeployedStack | undefined,
): Promise<Plan> {
  const { id, name, resources } = stack;
  if (deployed === undefined || /^(REVIEW_IN_PROGRESS|ROLLBACK_COMPLETE)$/.test(deployed.status)) {
    print(`${name}: a new stack of ${resources} resources`);
    return { stack, kind: 'new', changes: [] };
  }
  const prepare = ['--method', 'prepare-change-set', '--change-set-name', CHANGE_SET];
  const code = await cdk(['deploy', id, ...only(assembly), ...prepare, ...rest]);
  const changes = code === 0 ? await readChangeSet(subject().place, name, CHANGE_SET) : undefined;
  if (changes === undefined) {
    print(`${name}: CloudFormation prepared no change set; the changes are shown after the stacks before it`);
    return { stack, kind: 'later', changes: [] };
  }
  print(changes.length === 0 ? `${name}: no changes` : `${name}:`);
  for (const change of changes) print(describeChange(change));
  return { stack, kind: changes.length === 0 ? 'unchanged' : 'reviewed', changes };
}

/** Only the stack, as it was synthesized. */
function only(assembly: string): readonly string[] {
  return ['--exclusively', '--app', assembly, '--require-approval', 'never'];
}

/** Returns a sentence about everything that would be lost. */
function lossesOf(plans: readonly Plan[], { allowed }: Deploying): string | undefined {
  const lost = plans.flatMap(({ stack, changes }) =>
    losses(changes, allowed).map((change) => ({ ...change, stack: stack.name })),
  );
  if (lost.length === 0) return undefined;
  const options = lost.map(({ LogicalResourceId }) => `--allow-replacement ${LogicalResourceId}`);
  return [
    'these resources contain data or are an address, and would be replaced or deleted:',
    ...lost.map((change) => `${describeChange(change)} of ${change.stack}`),
    `If that is what you want: ${options.join(' ')}`,
  ].join('\n');
}

async function confirm({ yes, ask }: Deploying): Promise<Result<undefined, string>> {
  if (yes) return ok(undefined);
  if (ask === undefined) return err('there is no terminal to ask on: run the command again with --yes');
  return (await ask('Deploy these changes?')) ? ok(undefined) : err('not deployed');
}

/** Deploys stack by stack. The keys are made before the first function that needs them. */
async function carryOut(deploying: Deploying, plans: readonly Plan[]): Promise<Result<undefined, string>> {
  const { subject, cdk, assembly, rest, print } = deploying;
  const stores = stackName(subject().stage.name, 'records-and-keys');
  const stored = await storeProfiles(deploying, plans);
  if (!stored.ok) return stored;
  let hasKeys = false;
  let isStale = false;
  for (const plan of plans) {
    const { id, name } = plan.stack;
    if (name !== stores && !hasKeys) {
      for (const line of await mendAll(await runChecks({ keys: stageChecks.keys }, subject())))
        print(renderLine(line));
      hasKeys = true;
    }
    if (plan.kind === 'unchanged' && !isStale) continue;
    let current = plan;
    if (plan.kind === 'later' || (plan.kind !== 'new' && isStale)) {
      // What it reads has changed since it was looked at.
      current = await review(deploying, plan.stack, (await subject().stacks()).get(name));
      if (current.kind === 'unchanged') continue;
      if (current.kind === 'later')
        return err(`${name} cannot be deployed: see the message of the CDK above`);
      const lost = lossesOf([current], deploying);
      if (lost !== undefined) return err(`${lost}\n${name} was not deployed.`);
      const agreed = await confirm(deploying);
      if (!agreed.ok) return agreed;
    }
    const method =
      current.kind === 'new' ? rest : ['--method', 'execute-change-set', '--change-set-name', CHANGE_SET];
    const code = await cdk(['deploy', id, ...only(assembly), ...method, '--progress', 'events']);
    if (code !== 0)
      return err(
        `${name} was not deployed. To see what is: npm run doctor -- --stage ${subject().stage.name}`,
      );
    isStale ||= current.changes.some(
      ({ ResourceType: type = '', Replacement }) =>
        (dataTypes.has(type) || addressTypes.has(type)) &&
        Replacement !== undefined &&
        Replacement !== 'False',
    );
  }
  return ok(undefined);
}

const callersOfOwners = ['mastery', 'reports'] as const;

/** Stores the service profiles that new functions would miss. Where that is impossible, a deployment would close these tenants. */
async function storeProfiles(
  { subject, withoutProfiles, print }: Deploying,
  plans: readonly Plan[],
): Promise<Result<undefined, string>> {
  const names = callersOfOwners.map((id) => stackName(subject().stage.name, id));
  // A first deployment has no tenants yet.
  const replaced = plans.filter(
    ({ stack, kind }) => names.includes(stack.name) && /^(reviewed|later)$/.test(kind),
  );
  if (replaced.length === 0) return ok(undefined);
  const check = () => runChecks({ profiles: stageChecks.profiles }, subject());
  for (const line of await mendAll(await check())) print(renderLine(line));
  const left = (await check()).filter(({ mend, unchecked }) => mend !== undefined || unchecked === true);
  if (left.length === 0 || withoutProfiles) return ok(undefined);
  return err(
    [
      ...left.map(renderLine),
      `Nothing was deployed: the new functions would not find these service profiles. Store them: npm run release -- profile --all --stage ${subject().stage.name}`,
      'Then deploy again, with --without-profiles if your credentials may not read them.',
    ].join('\n'),
  );
}

/** A new API, and a new stage of one, are served everywhere within a minute. */
const HEALTH_ATTEMPTS = 6;
const HEALTH_PAUSE_MS = 10_000;

/** Checks what is deployed, and prints the addresses. */
async function verify(deploying: Deploying): Promise<Result<undefined, string>> {
  const { subject, print } = deploying;
  for (let attempt = 1; attempt < HEALTH_ATTEMPTS; attempt += 1) {
    if (!(await runChecks({ health: stageChecks.health }, subject())).some(isFailure)) break;
    await subject().pause(HEALTH_PAUSE_MS);
  }
  const lines = await report(deploying, { ...accountChecks, ...stageChecks });
  for (const [stack, { outputs }] of await subject().stacks())
    for (const [name, value] of outputs)
      if (/^(Base|Receipts|Site|Sandbox)Url$/.test(name)) print(`${stack} ${name}: ${value}`);
  const failures = lines.filter(isFailure).length;
  return failures === 0
    ? ok(undefined)
    : err(`deployed, but ${failures} checks failed: npm run doctor -- --stage ${subject().stage.name}`);
}

async function report(
  { subject, print }: Deploying,
  checks: Readonly<Record<string, Check>>,
): Promise<readonly Line[]> {
  const lines = await runChecks(checks, subject());
  for (const line of lines) print(renderLine(line));
  return lines;
}

/** A role that only deploys may not look at everything: what it cannot check is printed and stops nothing. */
function isFailure({ status, unchecked }: Line): boolean {
  return status === 'failure' && unchecked !== true;
}
