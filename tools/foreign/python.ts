import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { projectRoot } from '../checks/checks.ts';

/** What the parts write. Git ignores it. */
export const buildFolder = join(projectRoot, 'build/foreign');

const requirements = join(import.meta.dirname, 'requirements.txt');
const environment = join(buildFolder, 'python');
/** The requirements that the environment was completed with. */
const completed = join(environment, 'requirements.txt');

interface Ended {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Rejects if there is no such program, or at the time limit. */
export async function runTool(
  file: string,
  args: readonly string[],
  seconds: number,
  place: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const child = spawn(file, args, {
    ...place,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The timer of the option `timeout` would keep this process alive for as long after a program that is not there.
    signal: AbortSignal.timeout(1000 * seconds),
    killSignal: 'SIGKILL',
  });
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [ended, stdout, stderr] = await Promise.all([code, text(child.stdout), text(child.stderr)]);
  return { code: ended, stdout, stderr };
}

/**
 * Returns the path of a Python program at its pinned version, installed into a virtual environment when it is first needed. Where no registry answers,
 * returns the program that this machine has, at any version. Fails with a sentence if there is none.
 */
export async function pythonTool(name: string): Promise<Result<string, string>> {
  const failure = await install();
  if (failure === undefined) return ok(join(environment, 'bin', name));
  const own = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
  if (own === undefined) return err(`${name} is not installed, and pip could not install it: ${failure}`);
  console.log(`${name}: ${own} in place of the pinned version (${failure})`);
  return ok(own);
}

/** @returns why there is no environment with exactly the pinned packages; undefined if there is one */
async function install(): Promise<string | undefined> {
  const pinned = readFileSync(requirements, 'utf8');
  if (existsSync(completed) && readFileSync(completed, 'utf8') === pinned) return undefined;
  rmSync(environment, { recursive: true, force: true });
  const pip = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-compile',
    '--require-hashes',
    '--only-binary',
    ':all:',
  ];
  const steps = [
    ['python3', '-m', 'venv', environment],
    [join(environment, 'bin/python'), ...pip, '--requirement', requirements],
  ] as const;
  for (const [file, ...args] of steps) {
    const { code, stdout, stderr } = await runTool(file, args, 600).catch((error: unknown) => ({
      ...{ code: 1, stdout: '', stderr: String(error) },
    }));
    if (code !== 0)
      return (
        `${stdout}\n${stderr}`
          .split('\n')
          .findLast((line) => line.trim() !== '')
          ?.trim() ?? `${file} failed`
      );
  }
  writeFileSync(completed, pinned);
  return undefined;
}
