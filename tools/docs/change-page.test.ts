import { globSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '#tools/checks/checks.ts';

const read = (file: string): string => readFileSync(join(projectRoot, file), 'utf8');

/** A cell's links as paths from the root. */
const linksIn = (text: string): readonly string[] =>
  [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, to = '']) =>
    relative(projectRoot, resolve(projectRoot, 'docs', to)),
  );

const page = read('docs/change.md');

interface Recipe {
  readonly title: string;
  readonly example: string;
  /** The files of each row of the table. */
  readonly rows: readonly (readonly string[])[];
}

/** The kinds of change without a scaffold. */
const recipes: readonly Recipe[] = page
  .split(/^## /m)
  .filter((section) => /^Example: /m.test(section))
  .map((section) => ({
    title: section.split('\n')[0] ?? '',
    example: /^Example: `([\w-]+)`/m.exec(section)?.[1] ?? '',
    rows: [...section.matchAll(/^\| (\[.*?) \|/gm)].map(([, cell = '']) => linksIn(cell)),
  }));

/** Every file that is edited by hand, without tests and without the recipes. */
const files = globSync(
  '{bin,lib,functions,shared,client,ops,psychometrics,local,tools,bench,docs}/**/*.{ts,mjs,json,md}',
  {
    cwd: projectRoot,
    exclude: [
      '**/*.test.ts',
      '**/node_modules/**',
      'docs/openapi/**',
      'client/{src/generated,dist}/**',
      'docs/*.schema.json',
      'docs/change.md',
    ],
  },
).map((file) => [file, read(file)] as const);

/** Pages that `npm run docs` writes a part of. */
const written = ['docs/log-codes.md', 'docs/platform-contracts.md', 'docs/problems.md'];

describe('docs/change.md', () => {
  it.each(recipes)(
    '“$title” lists every file that mentions its example, and no other',
    ({ example, rows }) => {
      const name = new RegExp(`(?<![\\w-])${example}(?![\\w-])`);
      const mention = files.filter(([, text]) => name.test(text)).map(([file]) => file);
      expect(mention).not.toEqual([]);
      // A row may name a neighbour beside the example's own file.
      for (const row of rows) expect([row, row.some((file) => mention.includes(file))]).toEqual([row, true]);
      expect(mention.filter((file) => ![...rows.flat(), ...written].includes(file))).toEqual([]);
    },
  );

  it('has a recipe for what has no scaffold', () => {
    expect(recipes.length).toBeGreaterThanOrEqual(3);
  });

  it('links files under their paths', () => {
    const links = [...page.matchAll(/\[`([^`]+)`\]\([^)]+\)/g)];
    expect(links.length).toBeGreaterThan(25);
    for (const [link, path] of links) expect(linksIn(link)).toEqual([path]);
  });

  it('names checks that exist: npm scripts, and titles of tests', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
    for (const [, script = ''] of page.matchAll(/npm run ([\w:-]+)/g))
      expect(Object.keys(scripts)).toContain(script);
    const titled = [...page.matchAll(/\]\(([^)]+\.test\.ts)\) “([^”]+)”/g)];
    expect(titled.length).toBeGreaterThan(3);
    for (const [, to = '', title = ''] of titled) {
      const [file = ''] = linksIn(`](${to})`);
      expect([
        file,
        title,
        read(file)
          .replaceAll(String.raw`\'`, "'")
          .includes(title),
      ]).toEqual([file, title, true]);
    }
  });
});

describe('every setting of a stage', () => {
  const source = read('shared/stage/stage.ts');
  const members = source.slice(source.indexOf('export interface StageConfig'));
  const settings = [...members.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = '']) => name);
  const readers = files.filter(([file]) => /^(?:lib|bin|ops)\//.test(file)).map(([, text]) => text);
  const deploy = read('docs/deploy.md');

  it('is found in the interface', () => {
    expect(settings).toEqual(
      expect.arrayContaining(['environment', 'token', 'requestsPerAddress', 'alarmsEmail']),
    );
  });

  it.each(settings)('%s is read by lib, bin or a command of the operator', (name) => {
    const reads = new RegExp(`config\\.${name}\\b|\\{[^}]*\\b${name}\\b[^}]*\\} = (?:stage\\.)?config\\b`);
    expect(readers.some((text) => reads.test(text))).toBe(true);
  });

  it.each(settings)('%s is explained by docs/deploy.md', (name) => {
    const named = [...deploy.matchAll(/^\| (`.*?) \|/gm)].flatMap(
      ([, cell = '']) => cell.match(/\w+/g) ?? [],
    );
    expect(named).toContain(name);
  });
});
