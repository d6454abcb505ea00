import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import * as z from 'zod';

/** A process of this project that passes or fails. */
export interface Check {
  readonly name: string;
  /** Program and arguments, run in the project's folder. */
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export const projectRoot = join(import.meta.dirname, '../..');

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')));

/**
 * For the compiler and the typed lint, which are Go programs: one thread each, since checks run two at a time, and no garbage collection below a
 * size that they do not reach today. Both together save a third of their processor time and take a fifth more memory (2.7 instead of 2.2 GB at most).
 */
const goSettings = { GOMAXPROCS: '1', GOGC: 'off', GOMEMLIMIT: '3GiB' };

/** A script of package.json with further arguments, run as npm runs it but without the half second of processor time that npm takes to start. */
export function scriptCheck(script: string, args: readonly string[] = []): Check {
  const text = scripts[script];
  if (text === undefined) throw new Error(`package.json has no script ${script}`);
  const path = [join(projectRoot, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  return {
    name: script.replace('check:', ''),
    command: ['sh', '-c', `${text} "$@"`, 'sh', ...args],
    env: { ...goSettings, ...process.env, PATH: path },
  };
}

/** Every static check: the scripts `check:…`. */
export const staticChecks = Object.keys(scripts)
  .filter((script) => script.startsWith('check:'))
  .map((script) => scriptCheck(script));

/**
 * Runs checks two at a time, since each has one thread and CI two cores; a failure does not hide the others. Prints a line per check, and the output of
 * those that fail.
 * @returns for each check, in the order in which they ended, whether it passed
 */
export async function runChecks(checks: readonly Check[]): Promise<readonly boolean[]> {
  const waiting = [...checks];
  const results: boolean[] = [];
  const worker = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      results.push(await runCheck(check, 'when it fails'));
    }
  };
  await Promise.all([worker(), worker()]);
  return results;
}

/**
 * Runs one check and prints whether it passed.
 * @param shown when its output is shown: as it comes, or all of it at the end of a failure
 */
export function runCheck(
  { name, command, env }: Check,
  shown: 'at once' | 'when it fails',
): Promise<boolean> {
  const started = Date.now();
  const stream = shown === 'at once' ? 'inherit' : 'pipe';
  return new Promise((resolve) => {
    const [program = '', ...args] = command;
    const child = spawn(program, args, { cwd: projectRoot, env, stdio: ['ignore', stream, stream] });
    const output: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => output.push(chunk));
    child.on('error', (error) => output.push(Buffer.from(error.message)));
    child.on('close', (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
      if (code !== 0) process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}
