import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { examples, exits, program, run as runProgram } from './terminal/command.ts';

/** All that CI checks, every check in its own process; a failure does not hide the others. */
interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

const root = join(import.meta.dirname, '..');
const resultsFile = join(root, 'build/test-results.json');

const staticChecks: readonly Check[] = [
  { name: 'format', command: ['npm', 'run', '--silent', 'check:format'] },
  { name: 'lint', command: ['npm', 'run', '--silent', 'check:lint'] },
  { name: 'types', command: ['npm', 'run', '--silent', 'check:types'] },
  { name: 'boundaries', command: ['npm', 'run', '--silent', 'check:boundaries'] },
  { name: 'dead code', command: ['npm', 'run', '--silent', 'check:dead-code'] },
  { name: 'documents', command: ['npm', 'run', '--silent', 'check:docs'] },
];

const tests: Check = {
  name: 'tests',
  command: [
    'npm',
    'run',
    '--silent',
    'test:unit',
    '--',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${resultsFile}`,
  ],
};

function run(check: Check, live: boolean): Promise<boolean> {
  const started = Date.now();
  return new Promise((resolve) => {
    const [program = '', ...args] = check.command;
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe'],
    });
    const output: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => output.push(chunk));
    child.on('error', (error) => output.push(Buffer.from(error.message)));
    child.on('close', (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${check.name} (${seconds} s)`);
      if (code !== 0) process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}

/** Two at a time: the checks are single-threaded and CI has two cores. */
async function runAll(checks: readonly Check[]): Promise<boolean[]> {
  const waiting = [...checks];
  const results: boolean[] = [];
  const worker = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift())
      results.push(await run(check, false));
  };
  await Promise.all([worker(), worker()]);
  return results;
}

interface TestResults {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

async function testAll(): Promise<Result<undefined, string>> {
  mkdirSync(join(root, 'build'), { recursive: true });
  rmSync(resultsFile, { force: true });
  const outcomes = await runAll(staticChecks);
  const testsPassed = await run(tests, true);
  let counts: TestResults = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 };
  try {
    counts = JSON.parse(readFileSync(resultsFile, 'utf8')) as TestResults;
  } catch {
    console.log('FAIL the test runner left no results');
  }
  const passed = counts.numPassedTests + outcomes.filter(Boolean).length;
  const crashed = !testsPassed && counts.numFailedTests === 0 ? 1 : 0;
  const failed = counts.numFailedTests + crashed + outcomes.filter((ok) => !ok).length;
  const summary = `\n${passed} passed, ${failed} failed, ${counts.numPendingTests} skipped`;
  if (failed > 0 || counts.numPassedTests === 0) return err(summary);
  console.log(summary);
  return ok(undefined);
}

await runProgram(
  program(
    'npm test --',
    'All that CI checks: format, lint, types, import directions, dead code, generated documents, then every test. Ends with a line of counts, exit code 0 only when all is well.',
  )
    .addHelpText(
      'after',
      examples(
        'npm test                                     everything',
        'npm run check:lint                           one check alone (format, lint, types, boundaries, dead-code, docs)',
        'npm run test:unit -- functions/mastery       tests of one folder or file',
      ),
    )
    .action(exits(testAll)),
);
