import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export const projectFolder = join(import.meta.dirname, '../..');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
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
