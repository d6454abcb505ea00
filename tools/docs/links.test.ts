import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '#tools/checks/checks.ts';
import { anchorOf } from '#tools/site/markdown.ts';

/** Every page that people read. Generated parts are held to the same. */
const pages = globSync(['*.md', 'docs/**/*.md', 'client/**/*.md', 'examples/**/*.md'], {
  cwd: projectRoot,
  exclude: ['**/node_modules/**'],
}).toSorted();

interface Page {
  /** Without code blocks and comments. */
  readonly prose: string;
  readonly anchors: ReadonlySet<string>;
}

const read = (path: string): Page => {
  const text = readFileSync(join(projectRoot, path), 'utf8');
  const prose = text.replace(/^([ \t]*)(```|~~~)[\s\S]*?^\1\2/gm, '').replace(/<!--[\s\S]*?-->/g, '');
  const taken = new Map<string, number>();
  const headings = [...prose.matchAll(/^#{1,6} (.+)$/gm)];
  return { prose, anchors: new Set(headings.map(([, heading = '']) => anchorOf(heading.trim(), taken))) };
};

it.each([
  ['What runs: `npm test`', 'what-runs-npm-test'],
  ['Limits & [budgets](a.md), 2nd_part', 'limits--budgets-2nd_part'],
  ['Übersicht – a-b', 'übersicht--a-b'],
])(
  'the heading “%s” has the anchor that GitHub gives it, and numbered ones when it comes again',
  (heading, anchor) => {
    const taken = new Map<string, number>();
    expect([1, 2, 3].map(() => anchorOf(heading, taken))).toEqual([anchor, `${anchor}-1`, `${anchor}-2`]);
  },
);

/** What is wrong with a link; undefined: nothing. */
function defectOf(page: string, target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file =
    path === '' ? page : relative(projectRoot, resolve(projectRoot, dirname(page), decodeURI(path)));
  if (!existsSync(join(projectRoot, file))) return `${page}: ${target} is not a file of the project`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  return read(file).anchors.has(anchor) ? undefined : `${page}: ${file} has no heading #${anchor}`;
}

describe('the pages', () => {
  it('are found', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/README.md', 'docs/client-guide.md']));
  });

  it('link files and headings that exist', () => {
    const defects = pages.flatMap((page) =>
      [
        ...read(page)
          .prose.replace(/(?<!\[)`[^`\n]*`/g, '')
          .matchAll(/\]\(<?([^()<>\s]+)>?\)/g),
      ]
        .map(([, target = '']) => defectOf(page, target))
        .filter((defect) => defect !== undefined),
    );
    expect(defects).toEqual([]);
  });

  it('link every file of the project that they name', () => {
    const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    const unlinked = pages
      // The changelog names files as they were.
      .filter((page) => page !== 'CHANGELOG.md')
      .flatMap((page) =>
        [
          ...read(page)
            .prose.replace(/\[[^\]]*\]\([^)]*\)/g, '')
            .matchAll(/`((?!\.local\/)[\w.@/-]+)`/g),
        ]
          .filter(
            ([, name = '']) =>
              isFile(join(projectRoot, name)) || isFile(join(projectRoot, dirname(page), name)),
          )
          .map(([, name = '']) => `${page}: ${name}`),
      );
    expect(unlinked).toEqual([]);
  });

  it('name no file that does not exist', () => {
    const folders = 'bin|lib|functions|shared|client|ops|local|psychometrics|tools|bench|test|docs|examples';
    const path = new RegExp(`\`((?:${folders})/[\\w.@/-]+\\.\\w+)\``, 'g');
    const absent = pages
      .filter((page) => page !== 'CHANGELOG.md')
      .flatMap((page) =>
        [...read(page).prose.matchAll(path)]
          .filter(([, name = '']) => !existsSync(join(projectRoot, name)))
          .map(([, name = '']) => `${page}: ${name}`),
      );
    expect(absent).toEqual([]);
  });
});
