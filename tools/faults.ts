import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { projectRoot, runCheck, scriptCheck } from './checks/checks.ts';
import { faultTable } from './faults/fault-table.ts';
import { examples, exits, program, run, text } from './terminal/command.ts';

/** Where the walks are: every port of a function, in every way in which it can go wrong, under every route and every background function. */
const walks = ['test/lemmas/faults-', 'test/lemmas/stores', 'test/contract/callers'];
const resultsFile = join(projectRoot, 'build/faults.json');

const results = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

/** Runs the walks, and prints what was tried and every difference. */
async function tryFaults(only: string | undefined): Promise<Result<undefined, string>> {
  mkdirSync(join(projectRoot, 'build'), { recursive: true });
  rmSync(resultsFile, { force: true });
  const args = [
    ...walks,
    ...['contract', 'slow'].map((project) => `--project=${project}`),
    ...['--reporter=dot', '--reporter=json', `--outputFile.json=${resultsFile}`],
    ...(only === undefined ? [] : ['-t', only.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')]),
  ];
  const hasPassed = await runCheck({ ...scriptCheck('test:unit', args), name: 'walks' }, 'at once');
  if (!existsSync(resultsFile)) return err('the walks did not run to their end');
  const { testResults } = results.parse(JSON.parse(readFileSync(resultsFile, 'utf8')));
  const { lines, tried, differences } = faultTable(
    testResults.flatMap(({ assertionResults }) => assertionResults),
  );
  console.log(`\n${lines.join('\n')}`);
  if (tried === 0) return err(`nothing to try${only === undefined ? '' : `: no title contains "${only}"`}`);
  // A file that does not load, or an error outside any cell, fails no cell.
  if (differences === 0 && !hasPassed) return err('the walks did not run to their end');
  return differences === 0 ? ok(undefined) : err(`${differences} of ${tried} cells differ`);
}

await run(
  program(
    'npm run faults --',
    'Breaks every port of the functions: each call to an owner and each store, down, throttled, silent, late or wrong but well-formed, under every route and background function. Each cell has one declared answer, and none is a 500. Prints a row per route or store, and every difference. Takes about ten minutes; the walks are a part of npm test and npm run test:slow.',
  )
    .option(
      '--only <TEXT>',
      'only cells whose title contains this: a route, an operation of an owner, or a store',
      text,
    )
    .addHelpText(
      'after',
      examples(
        'npm run faults',
        'npm run faults -- --only readAttemptReport',
        'npm run faults -- --only "the store records"',
      ),
    )
    .action(exits(({ only }) => tryFaults(only))),
);
