import { globSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import config from '../vitest.config.ts';

// SAFETY: as the file defines them.
const projects = config.test?.projects as unknown as readonly {
  readonly test: { readonly include: readonly string[]; readonly exclude: readonly string[] };
}[];

it('every test file of the tree is in exactly one project', () => {
  const files = globSync('**/*.test.{ts,mts,cts,js,mjs,cjs}', {
    cwd: join(import.meta.dirname, '..'),
    exclude: (name) => ['node_modules', 'build', 'cdk.out', '.local', '.git'].includes(name),
  });
  expect(files.length).toBeGreaterThan(100);
  for (const file of files) {
    const isIn = (globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(file, glob));
    expect(
      projects.filter(({ test }) => isIn(test.include) && !isIn(test.exclude)),
      file,
    ).toHaveLength(1);
  }
});
