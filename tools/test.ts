import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { ok } from '#shared/kernel/result.ts';
import { projectRoot, runCheck, runChecks, scriptCheck, staticChecks } from './checks/checks.ts';
import { quickProjects } from './checks/test-projects.ts';
import { examples, exits, program, run } from './terminal/command.ts';

/** How a run ended. A static check counts as one. */
const counts = z.strictObject({ passed: z.int(), failed: z.int(), skipped: z.int() });
type Counts = z.infer<typeof counts>;

const resultsFile = join(projectRoot, 'build/test-results.json');
/** The counts of the last `npm test`, for the report of the slow tests after it. */
const countsFile = join(projectRoot, 'build/test-counts.json');

const vitestResults = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
});

/** Runs vitest projects, with their output as it comes. */
async function runTests(projects: readonly string[]): Promise<Counts> {
  rmSync(resultsFile, { force: true });
  const args = [
    ...projects.map((project) => `--project=${project}`),
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${resultsFile}`],
  ];
  const passed = await runCheck(
    { ...scriptCheck('test:unit', args), name: `tests: ${projects.join(', ')}` },
    'at once',
  );
  const results = vitestResults.safeParse(readJson(resultsFile));
  if (!results.success) {
    console.log('FAIL the test runner wrote no results');
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const { numPassedTests, numFailedTests, numPendingTests } = results.data;
  // A file that does not load, an error outside any test, and no test at all fail the run without failing a test.
  const other = numFailedTests === 0 && (!passed || numPassedTests === 0) ? 1 : 0;
  return { passed: numPassedTests, failed: numFailedTests + other, skipped: numPendingTests };
}

async function runStaticChecks(): Promise<Counts> {
  const passed = await runChecks(staticChecks);
  const failed = passed.filter((one) => !one).length;
  return { passed: passed.length - failed, failed, skipped: 0 };
}

/** Runs the foreign tools, which count as one test. */
async function runForeign(): Promise<Counts> {
  const passed = await runCheck(scriptCheck('foreign'), 'at once');
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 };
}

function sum(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** What `npm test` left; one that did not come to its end has failed. */
function readCounts(): Counts {
  const read = counts.safeParse(readJson(countsFile));
  if (read.success) return read.data;
  console.log('FAIL npm test wrote no counts');
  return { passed: 0, failed: 1, skipped: 0 };
}

await run(
  program(
    'npm test --',
    'Runs every static check (npm run check) and all tests except the slow ones. Ends with a line of counts. Exits with 0 only if everything passed.',
  )
    .option('--slow', 'run the slow tests and foreign tools instead, as npm run test:slow does')
    .option('--sum', 'run the slow tests; counts and exit code include the last npm test')
    .addHelpText(
      'after',
      examples(
        'npm run test:slow                       run the slow tests',
        'npm run test:unit -- functions/mastery  run the tests of a folder or file',
      ),
    )
    .action(
      exits(async ({ slow = false, sum: withSum = false }) => {
        mkdirSync(join(projectRoot, 'build'), { recursive: true });
        let total: Counts;
        if (slow || withSum) {
          const own = sum(await runTests(['slow']), await runForeign());
          total = withSum ? sum(readCounts(), own) : own;
        } else {
          rmSync(countsFile, { force: true });
          const checked = await runStaticChecks();
          total = sum(checked, await runTests(quickProjects));
          writeFileSync(countsFile, JSON.stringify(total));
        }
        const { passed, failed, skipped } = total;
        console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
        if (failed > 0) process.exitCode = 1;
        return ok(undefined);
      }),
    ),
);
