import './tools/loopback.mjs';
import { configDefaults, defineConfig } from 'vitest/config';

/**
 * Which project a test file is in, a matter of its path alone:
 * - `slow`: `*.slow.test.ts`, whatever is exhaustive or spawns whole commands; `npm run test:slow`. Most that need a stack run over the bundles.
 * - `contract`: what stands in `test/contract`, and `*.contract.test.ts` elsewhere: whole functions, most of them in the test's own process.
 * - `unit`: every other `*.test.ts` of the tree.
 */
const contract = ['test/contract/**/*.test.ts', '**/*.contract.test.ts'];
const slow = ['**/*.slow.test.ts'];
const notOurs = [...configDefaults.exclude, '{build,cdk.out,.local}/**'];

/** Builds the functions, once for all files of the projects that have it. */
const bundles = ['test/support/global-setup.ts'];
const temporaryFolder = ['test/support/temporary-folder.ts'];

export default defineConfig({
  test: {
    maxWorkers: 2,
    globalSetup: temporaryFolder,
    setupFiles: 'test/support/show-function-lines.ts',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...notOurs, ...contract, ...slow],
          // No file may change what another one sees: modules are loaded once for all files of a worker.
          pool: 'forks',
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'contract',
          include: contract,
          exclude: [...notOurs, ...slow],
          globalSetup: bundles,
          // A worker keeps its stack from file to file (test/support/stack.ts).
          pool: 'forks',
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: slow,
          exclude: notOurs,
          globalSetup: bundles,
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
