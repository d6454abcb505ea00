import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { buildFunctions, projectRoot, sizeTable } from '#tools/bundling/build.ts';
import { cdkArguments, type CdkCommand } from './arguments.ts';

/**
 * Bundles the functions, then runs the CDK command line with the given arguments.
 * @returns the exit code
 */
export async function runCdk(command: CdkCommand, given: readonly string[], help: string): Promise<number> {
  if (given.includes('--help') || given.includes('-h')) {
    console.log(help);
    return 0;
  }
  const checked = cdkArguments(command, given);
  if (!checked.ok) {
    console.error(checked.error);
    return 2;
  }
  const { argv, quiet, offline } = checked.value;
  const report = (line: string): void => {
    if (!quiet) console.error(line);
  };
  report('bundling the functions …');
  const built = await buildFunctions();
  if (!built.ok) {
    console.error(built.error.join('\n'));
    return 1;
  }
  report(`${sizeTable(built.value)}\nsynthesizing …`);
  return run([join(projectRoot, 'node_modules/aws-cdk/bin/cdk'), ...argv, '--no-notices'], offline);
}

function run(argv: readonly string[], offline: boolean): Promise<number> {
  const child = spawn(process.execPath, argv, {
    cwd: projectRoot,
    stdio: 'inherit',
    env: {
      ...process.env,
      // cdk.json starts the app with plain `node`: the one that runs this, also without npm.
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      CDK_DISABLE_VERSION_CHECK: 'true',
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
