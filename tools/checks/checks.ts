import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A process of this project that passes or fails. */
export interface Check {
  readonly name: string;
  /** Program and arguments, run in the project's folder. */
  readonly command: readonly string[];
}

export const projectRoot = join(import.meta.dirname, '../..');

/**
 * The static checks.
 * @param cached whether they may reuse what they found out about files that are unchanged. The typed lint then misses what a change of
 *   one file's types does to an unchanged importer, so CI runs without; the others find the same either way.
 */
export function staticChecks(cached: boolean): readonly Check[] {
  const folder = cached ? cacheFolder() : '';
  const script = (name: string, ...options: readonly string[]): Check => ({
    name,
    command: ['npm', 'run', '--silent', `check:${name}`, '--', ...(cached ? options : [])],
  });
  const content = ['--cache', '--cache-strategy', 'content', '--cache-location'];
  return [
    // The longest one first: they run two at a time.
    script('lint', ...content, join(folder, 'eslint')),
    cached
      ? script('types')
      : { name: 'types', command: ['npm', 'run', '--silent', 'check:types', '--', ...TYPES_UNCACHED] },
    script('format', ...content, join(folder, 'prettier')),
    script('dead-code', '--cache', '--cache-location', join(folder, 'knip')),
    // dependency-cruiser's cache is of no use after a change: it then reads everything again.
    script('boundaries'),
    script('docs'),
  ];
}

const TYPES_UNCACHED = ['--incremental', 'false', '--tsBuildInfoFile', 'null'];

/** Packages and settings decide what a check finds, so that each set of them has caches of its own. */
function cacheFolder(): string {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', 'tsconfig.json', 'eslint.config.mjs']) {
    hash.update(readFileSync(join(projectRoot, file)));
  }
  return join('node_modules/.cache/checks', hash.digest('hex').slice(0, 16));
}

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
export function runCheck({ name, command }: Check, shown: 'at once' | 'when it fails'): Promise<boolean> {
  const started = Date.now();
  const stream = shown === 'at once' ? 'inherit' : 'pipe';
  return new Promise((resolve) => {
    const [program = '', ...args] = command;
    const child = spawn(program, args, { cwd: projectRoot, stdio: ['ignore', stream, stream] });
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
