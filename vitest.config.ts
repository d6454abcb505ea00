import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{functions,shared,lib,client,ops,local,psychometrics,tools,test}/**/*.test.ts'],
    // Bundles are built once for all files that talk to the handlers over HTTP.
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
