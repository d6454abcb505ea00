import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { groups } from './check.ts';
import { exampleTenantFile } from './tenant-file.ts';

let page: string;
beforeAll(async () => {
  page = await readFile(join(import.meta.dirname, '../../docs/proof.md'), 'utf8');
});

it('shows the tenant file that --example prints', () => {
  const block = /<!-- tenant -->\n\n```json\n(.*?)```/s.exec(page)?.[1];
  expect(JSON.parse(block ?? '')).toEqual(exampleTenantFile);
});

it('names every group of checks, in the order in which they run, and no other', () => {
  const table = page.split('<!-- checks -->')[1]?.split('\n\n')[1] ?? '';
  expect([...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)).toEqual(groups);
  const leaks = page.split('## Which leak is caught where')[1]?.split('\n## ')[0] ?? '';
  const caughtBy = [...leaks.matchAll(/^\|[^|]*\|([^|]*)\|$/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([\w.-]+)`/g)].map(([, id = '']) => id.split('.')[0]),
  );
  expect(caughtBy.length).toBeGreaterThan(20);
  expect(caughtBy.filter((name) => !groups.some((group) => group === name))).toEqual([]);
});
