import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { projectRoot } from '#tools/bundling/build.ts';
import { ownCredentials } from '#shared/stage/app-context.ts';
import type { CdkArguments } from './arguments.ts';

/** Runs the CDK command line. `cdk.json` bundles the functions. @returns its exit code */
export function spawnCdk({ argv, offline, profile }: CdkArguments): Promise<number> {
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
