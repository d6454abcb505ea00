import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { offlineRelease } from '#shared/release/read-release.ts';
import { openApiFiles, refreshFiles, staleFiles } from './files.ts';

// That the generated files of this project are up to date: npm run check:docs.

it('OpenAPI documents of a stage name its own host names, and a placeholder without one', () => {
  const files = openApiFiles(offlineRelease(new Set()), { reports: 'https://reports.school.org' });
  const servers = ['reports', 'reports.tolerant', 'mastery'].map(
    (name) => (JSON.parse(files.get(`${name}.json`) ?? '') as { servers: unknown }).servers,
  );
  const own = [{ url: 'https://reports.school.org' }];
  expect(servers).toMatchObject([own, own, [{ url: '{baseUrl}' }]]);
});

describe('refreshFiles', () => {
  let root: string;
  const files = new Map([
    ['docs/openapi/a.json', '{}\n'],
    ['docs/b.json', '[]\n'],
  ]);

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'docs-'));
  });

  it('writes what is missing or changed, removes what nothing makes any more, and then finds nothing to do', async () => {
    await mkdir(join(root, 'docs/openapi'), { recursive: true });
    await writeFile(join(root, 'docs/openapi/a.json'), 'old');
    await writeFile(join(root, 'docs/openapi/gone.json'), '{}');
    await writeFile(join(root, 'hand-written.md'), 'text');
    const stale = [
      { path: 'docs/openapi/a.json', kind: 'changed' },
      { path: 'docs/b.json', kind: 'missing' },
      { path: 'docs/openapi/gone.json', kind: 'orphan' },
    ];
    expect(await staleFiles(root, files)).toEqual(stale);
    expect(await refreshFiles(root, files)).toEqual(stale);
    expect(await staleFiles(root, files)).toEqual([]);
    expect(await readFile(join(root, 'docs/b.json'), 'utf8')).toBe('[]\n');
    expect(await readFile(join(root, 'hand-written.md'), 'utf8')).toBe('text');
  });
});
