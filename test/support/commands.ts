import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export const projectFolder = join(import.meta.dirname, '../..');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program of package.json in a process of its own.
 * @param given `env`: all that it gets of an environment, beside the path and the folder for temporary files
 */
export function runProgram(
  file: string,
  argv: readonly string[],
  given: { readonly folder?: string | undefined; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const { folder = projectFolder, env } = given;
  const { PATH, TMPDIR } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(projectFolder, file), ...argv],
      { cwd: folder, env: { PATH, TMPDIR, ...env }, maxBuffer: 1e8 },
      (_, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stdout, stderr });
      },
    );
  });
}

/** Runs programs of package.json for the tests of a file, one after the other in one process. */
export function useCommands(): (file: string, argv: readonly string[], folder?: string) => Promise<Ended> {
  const host = fork(join(import.meta.dirname, 'command-host.ts'), {
    cwd: projectFolder,
    env: { PATH: process.env['PATH'] },
    stdio: 'pipe',
  });
  afterAll(() => {
    host.disconnect();
  });
  return async (file, argv, folder = projectFolder) => {
    host.send({ file: join(projectFolder, file), argv, folder });
    const [ended] = (await once(host, 'message')) as [Ended];
    return ended;
  };
}
