/**
 * Which project of the test runner a test file is in, which depends only on its path:
 * - `slow`: `*.slow.test.ts`, everything that is exhaustive or spawns whole commands; `npm run test:slow`. Most that need a stack run over the bundles.
 * - `contract`: what is in `test/contract`, and `*.contract.test.ts` elsewhere: whole functions, most of them in the test's own process.
 * - `psychometrics`: every other `*.test.ts` of the studies.
 * - `unit`: every other `*.test.ts` of the tree.
 */
export const testGlobs = {
  slow: ['**/*.slow.test.ts'],
  contract: ['test/contract/**/*.test.ts', '**/*.contract.test.ts'],
  psychometrics: ['psychometrics/**/*.test.ts'],
  unit: ['**/*.test.ts'],
};

/** The projects that `npm test` runs. */
export const quickProjects = ['unit', 'psychometrics', 'contract'] as const;
