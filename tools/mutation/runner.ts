import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node';
import { join } from 'node:path';
import type { RunReply, RunRequest } from './pool.ts';

// A process that runs test files again and again, one mutant after the other: sources are compiled once, and every run has a process of
// its own. It works in the folder that holds the instrumented tree.

/** How long the tests of a file took when none failed, in milliseconds. */
const took = new Map<string, number>();

/** Takes the quickest file first: most mutants fail in a table, before any property is tried. */
class QuickestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const timeOf = ({ moduleId }: TestSpecification): number => took.get(moduleId) ?? 0;
    return Promise.resolve(files.toSorted((a, b) => timeOf(a) - timeOf(b)));
  }
}

const vitest = await createVitest({
  watch: false,
  reporters: [{}],
  maxWorkers: 1,
  bail: 1,
  sequence: { sequencer: QuickestFirst },
  execArgv: ['--import', join(import.meta.dirname, 'active.mjs')],
});
const found = new Map<string, Promise<TestSpecification[]>>();

async function runTests({ number, mutant, tests }: RunRequest): Promise<RunReply> {
  const key = tests.join(' ');
  const specifications = found.get(key) ?? vitest.globTestSpecifications([...tests]);
  found.set(key, specifications);
  process.env['__STRYKER_ACTIVE_MUTANT__'] = mutant ?? '';
  const own = new Set((await specifications).map(({ moduleId }) => moduleId));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(await specifications);
  process.exitCode = 0;
  const failed = testModules.find(
    // The result also holds what earlier runs left of other files.
    (module) => own.has(module.moduleId) && module.state() === 'failed',
  );
  if (failed === undefined)
    for (const module of testModules) took.set(module.moduleId, module.diagnostic().duration);
  const test = failed === undefined ? undefined : [...failed.children.allTests('failed')][0];
  const killedBy =
    failed === undefined
      ? unhandledErrors.length > 0
        ? 'an error outside any test'
        : undefined
      : [failed.relativeModuleId, ...(test === undefined ? [] : [test.fullName])].join(' > ');
  return { number, files: own.size, ...(killedBy === undefined ? {} : { killedBy }) };
}

process.on('message', (request) => {
  // SAFETY: pool.ts starts this process and sends exactly this.
  void runTests(request as RunRequest).then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit());
