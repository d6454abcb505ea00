import './tools/loopback.mjs';
import { configDefaults, defineConfig } from 'vitest/config';
import { testGlobs } from './tools/checks/test-projects.ts';

const { contract, psychometrics, slow, unit } = testGlobs;
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
          include: unit,
          exclude: [...notOurs, ...contract, ...psychometrics, ...slow],
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
          name: 'psychometrics',
          include: psychometrics,
          exclude: [...notOurs, ...contract, ...slow],
          pool: 'forks',
          isolate: false,
          // They compute.
          testTimeout: 60_000,
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
