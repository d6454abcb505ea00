import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPages, renderIndex } from './pages.ts';

const page = (title: string, ...lines: readonly string[]): string =>
  `---\n${lines.join('\n')}\n---\n\n# ${title}\n\n---\nkind: none\n---\n`;

async function folderWith(pages: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'docs-'));
  for (const [name, text] of Object.entries({ 'README.md': '# Index\n', ...pages }))
    await writeFile(join(folder, name), text);
  return folder;
}

it('lists each reader’s pages to start with in their order, and every page by reader and kind', async () => {
  const folder = await folderWith({
    'a.md': page('Runbook', 'kind: maintenance', 'reader: operator', 'start: 10', 'about: one: two'),
    'b.md': page('Deploy', 'kind: guide', 'reader: operator', 'start: 2', 'about: first steps'),
    'c.md': page('Terms', 'kind: reference', 'reader: contributor, operator'),
  });
  const pages = readPages(folder);
  const index = pages.ok ? renderIndex(pages.value) : pages.error;
  expect(index).toContain('### Operator\n\n1. [Deploy](b.md): first steps\n2. [Runbook](a.md): one: two\n\n');
  expect(index).toContain('\n| Operator | [Deploy](b.md) | [Terms](c.md) |  | [Runbook](a.md) |\n');
  expect(index).toContain('\n| Contributor |  | [Terms](c.md) |  |  |');
});

const oneOf = 'Invalid option: expected one of';

it.each([
  ['no front matter', '# A page\n', `x.md: kind: ${oneOf} "guide"|"reference"|`],
  ['an unknown kind', page('X', 'kind: note', 'reader: operator'), `x.md: kind: ${oneOf} "guide"|`],
  [
    'an unknown reader',
    page('X', 'kind: guide', 'reader: operator, owner'),
    `x.md: reader: 1: ${oneOf} "client`,
  ],
  ['no reader', page('X', 'kind: guide'), `x.md: reader: 0: ${oneOf} "client developer"|`],
  [
    'an unknown name',
    page('X', 'kind: guide', 'reader: operator', 'order: 1'),
    'x.md: Unrecognized key: "order"',
  ],
  ['no place', page('X', 'kind: guide', 'reader: operator', 'start: first'), 'x.md: start: Invalid input'],
])('refuses a page with %s, and says where its form is', async (_, text, defect) => {
  const refused = readPages(await folderWith({ 'x.md': text }));
  expect(refused.ok ? '' : refused.error).toContain('docs/change.md');
  expect(refused.ok ? '' : refused.error).toContain(`\n  ${defect}`);
});

it('refuses a seventh page that a reader starts with, and says what to do', async () => {
  const pages = (length: number): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Array.from({ length }, (_, n) => [
        `p${n}.md`,
        page(`P${n}`, 'kind: guide', 'reader: contributor, operator', `start: ${n}`, 'about: more'),
      ]),
    );
  expect(readPages(await folderWith(pages(6)))).toMatchObject({ ok: true });
  expect(readPages(await folderWith(pages(7)))).toMatchObject({
    error: expect.stringContaining(
      'operator: at most six pages to start with: remove start from one of p0.md, p1.md, p2.md, p3.md, p4.md, p5.md, p6.md',
    ) as string,
  });
});
