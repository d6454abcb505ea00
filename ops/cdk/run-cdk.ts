import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { projectRoot } from '#tools/bundling/build.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { exits, program, run as runProgram, UsageError } from '#tools/terminal/command.ts';
import { ownCredentials } from '#shared/stage/app-context.ts';
import { cdkArguments, type CdkArguments, type CdkCommand } from './arguments.ts';

/**
 * Runs `npm run synth` or `npm run deploy`: the CDK command line with the arguments of this process. `cdk.json` bundles the functions.
 * @param about what the command does, for its help
 */
export async function runCdk(command: CdkCommand, about: string): Promise<void> {
  await runProgram(
    program(`npm run ${command} --`, `${about}\nOther options go to cdk ${command}.`)
      .usage(`[options] [options of cdk ${command}]`)
      .option(
        '-c <name=value...>',
        'context: stage=NAME (shared/stage/stages.ts); synth also takes gates=A,D; first=ACCOUNT/REGION for a first deployment',
      )
      .option('--quiet', 'no templates, no progress')
      .option('--profile <P>', 'the AWS profile whose credentials to use')
      .allowUnknownOption()
      .allowExcessArguments()
      .action(
        exits(async () => {
          const checked = cdkArguments(command, process.argv.slice(2));
          if (!checked.ok) return err(new UsageError(checked.error));
          process.exitCode = await run(checked.value);
          return ok(undefined);
        }),
      ),
  );
}

function run({ argv, offline, profile }: CdkArguments): Promise<number> {
  const cdk = join(projectRoot, 'node_modules/aws-cdk/bin/cdk');
  const child = spawn(process.execPath, [cdk, ...argv, '--no-notices'], {
    cwd: projectRoot,
    stdio: 'inherit',
    env: {
      ...process.env,
      // cdk.json starts the app with plain `node`: the one that runs this, also without npm.
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      CDK_DISABLE_VERSION_CHECK: 'true',
      ...(profile === undefined
        ? {}
        : { ...Object.fromEntries(ownCredentials.map((name) => [name, undefined])), AWS_PROFILE: profile }),
      // Without an account to ask, the search for credentials would wait for an instance's metadata service.
      ...(offline ? { AWS_EC2_METADATA_DISABLED: 'true' } : {}),
    },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve(code ?? (signal === null ? 1 : 128));
    });
  });
}
