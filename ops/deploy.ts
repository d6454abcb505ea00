import { createInterface } from 'node:readline/promises';
import { err, type Result } from '#shared/kernel/result.ts';
import { enterStage } from '#shared/stage/access.ts';
import { placeholders } from '#shared/stage/stages.ts';
import { exits, program, run, UsageError } from '#tools/terminal/command.ts';
import { deployArguments, type DeployArguments } from './cdk/arguments.ts';
import { spawnCdk } from './cdk/run-cdk.ts';
import { deployGuided } from './deploy/guided.ts';
import { subjectOf } from './doctor/finding.ts';

const command = program(
  'npm run deploy --',
  'Bundles the functions and deploys all stacks of a stage, or the stacks that you name, with those that they depend on. Checks the account first (npm run doctor), shows what CloudFormation would change, and asks. Stops before a change by which data or an address would be lost.\nThe release gates are read from the SSM parameters of the stage; -c gates is rejected.\nA first deployment needs -c first=ACCOUNT/REGION.\nOther options go to cdk deploy.',
)
  .usage('[options] [stacks] [options of cdk deploy]')
  .option(
    '-c <name=value...>',
    'context: stage=NAME (required, shared/stage/stages.ts), first=ACCOUNT/REGION',
  )
  .option('--prepare', 'only show what CloudFormation would change')
  .option('-y, --yes', 'do not ask; --require-approval never means the same')
  .option(
    '--allow-replacement <ID...>',
    'the logical id of a resource with data or an address that may be lost',
  )
  .option(
    '--without-profiles',
    'deploy although the new functions may not find the service profile of a tenant that has one',
  )
  .option('--profile <P>', 'the AWS profile whose credentials to use')
  .allowUnknownOption()
  .allowExcessArguments()
  .action(
    exits(() => {
      const read = deployArguments(process.argv.slice(2));
      return read.ok ? deploy(read.value) : err(new UsageError(read.error));
    }),
  );

if (import.meta.main) await run(command);

async function deploy({
  stage,
  profile,
  ...given
}: DeployArguments): Promise<Result<undefined, string | UsageError>> {
  const open = placeholders(stage);
  if (open.length > 0)
    return err(
      new UsageError(
        `${stage.name} still has placeholder settings: ${open.join(', ')} (shared/stage/stages.ts, docs/deploy.md step 2)`,
      ),
    );
  const place = await enterStage(stage, profile);
  if (!place.ok) return place;
  return deployGuided({
    ...given,
    subject: () => subjectOf(stage, place.value),
    cdk: (argv) => spawnCdk({ argv, offline: false, profile }),
    assembly: 'cdk.out',
    ask: process.stdin.isTTY ? askOnTerminal : undefined,
    print: (line) => {
      console.log(line);
    },
  });
}

async function askOnTerminal(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
