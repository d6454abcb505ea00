import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';

const root = resolve(import.meta.dirname, '..');
const listing = z.array(z.object({ file: z.string(), projectName: z.string() }));

/** Every test file that vitest would run, once for each project that it is in. */
function listed(): readonly string[] {
  const text = execFileSync(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'list', '--filesOnly', '--json'],
    // Not the variables by which a worker of vitest knows itself.
    { cwd: root, encoding: 'utf8', env: { PATH: process.env['PATH'] } },
  );
  return listing.parse(JSON.parse(text)).map(({ file }) => relative(root, file));
}

it('every test file of the tree is in exactly one project', () => {
  const files = globSync('**/*.test.{ts,mts,cts,js,mjs,cjs}', {
    cwd: root,
    exclude: (name) => ['node_modules', 'build', 'cdk.out', '.local', '.git'].includes(name),
  });
  expect(files.length).toBeGreaterThan(100);
  expect(listed().toSorted()).toStrictEqual(files.toSorted());
}, 60_000);
