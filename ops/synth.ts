import { err, ok } from '#shared/kernel/result.ts';
import { exits, program, run, UsageError } from '#tools/terminal/command.ts';
import { synthArguments } from './cdk/arguments.ts';
import { spawnCdk } from './cdk/run-cdk.ts';

const command = program(
  'npm run synth --',
  'Bundles the functions and synthesizes all stacks into cdk.out. The default stage is sandbox-dev; -c stage=NAME chooses another.\n-c gates=A,D opens these release gates without access to an AWS account; -c gates= opens none. Without it, the gate flags are read from the SSM parameters of the stage.\nOther options go to cdk synth.',
)
  .usage('[options] [options of cdk synth]')
  .option(
    '-c <name=value...>',
    'context: stage=NAME (shared/stage/stages.ts), gates=A,D, first=ACCOUNT/REGION for a first deployment',
  )
  .option('--quiet', 'no templates, no progress')
  .option('--profile <P>', 'the AWS profile whose credentials to use')
  .allowUnknownOption()
  .allowExcessArguments()
  .action(
    exits(async () => {
      const checked = synthArguments(process.argv.slice(2));
      if (!checked.ok) return err(new UsageError(checked.error));
      process.exitCode = await spawnCdk(checked.value);
      return ok(undefined);
    }),
  );

if (import.meta.main) await run(command);
