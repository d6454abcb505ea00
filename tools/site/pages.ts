import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';

const kinds = ['guide', 'reference', 'explanation', 'maintenance'] as const;
export const readers = ['client developer', 'operator', 'psychometrician', 'contributor'] as const;

/** The front matter of a page; docs/change.md explains it. */
const frontMatter = z.strictObject({
  kind: z.enum(kinds),
  reader: z.preprocess((names) => String(names).split(', '), z.array(z.enum(readers))),
  start: z.coerce.number().optional(),
  about: z.string().optional(),
});

/** A page of `docs` with its front matter. */
export type Page = z.infer<typeof frontMatter> & { readonly name: string; readonly title: string };

/** Pages outside of `docs`. They have no front matter: a package's page shows its README as it is. */
export const pagesOutside: readonly Page[] = [
  outside('../client/README.md', 'TypeScript client', 'guide', 'client developer'),
  outside('../client-python/README.md', 'Python client', 'guide', 'client developer'),
  outside('../examples/client-typescript/README.md', 'An example client', 'guide', 'client developer'),
  outside('../CHANGELOG.md', 'Changelog', 'reference', 'client developer', 'operator'),
  outside('../SECURITY.md', 'Security', 'reference', 'operator'),
  outside('../examples/study/README.md', 'An example study', 'reference', 'psychometrician'),
  outside('../psychometrics/README.md', 'Studies', 'reference', 'psychometrician', 'contributor'),
  outside('../CONTRIBUTING.md', 'Contributing', 'maintenance', 'contributor'),
];

function outside(name: string, title: string, kind: Page['kind'], ...reader: Page['reader']): Page {
  return { name, title, kind, reader };
}

/**
 * Reads every page of a folder but the index: those with `start` in its order, then the others by name.
 * @param others pages that are listed as well, after these
 * @returns or what is wrong with the front matter of which page
 */
export function readPages(folder: string, others: readonly Page[] = []): Result<readonly Page[], string> {
  const defects: string[] = [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const pages = names.toSorted().flatMap((name): Page[] => {
    const text = readFileSync(join(folder, name), 'utf8');
    const lines = /^---\n(.*?)\n---\n/s.exec(text)?.[1]?.split('\n') ?? [];
    const { data, error } = frontMatter.safeParse(
      Object.fromEntries(lines.map((line) => line.split(/: (.*)/, 2))),
    );
    for (const { path, message } of error?.issues ?? []) defects.push([name, ...path, message].join(': '));
    return data === undefined ? [] : [{ ...data, name, title: titleOf(text) }];
  });
  for (const reader of readers) {
    const first = startOf(reader, pages).map(({ name }) => name);
    if (first.length > 6)
      defects.push(
        `${reader}: at most six pages to start with: remove start from one of ${first.join(', ')}`,
      );
  }
  return defects.length === 0
    ? ok([...pages, ...others].toSorted((a, b) => (a.start ?? 99) - (b.start ?? 99)))
    : err(
        `mend the front matter in ${basename(folder)}, as docs/change.md (“A page”) shows it:\n  ${defects.join('\n  ')}`,
      );
}

function startOf(reader: Page['reader'][number], pages: readonly Page[]): readonly Page[] {
  return pages.filter((page) => page.start !== undefined && page.reader.includes(reader));
}

/** Renders the lists of the index: the pages that each reader starts with, and all pages by reader and kind. */
export function renderIndex(pages: readonly Page[]): string {
  const link = ({ name, title }: Page): string => `[${title}](${name})`;
  const starts = readers.map((reader) => {
    const list = startOf(reader, pages).map(
      (page, index) => `${index + 1}. ${link(page)}: ${page.about ?? ''}`,
    );
    return `### ${capitalized(reader)}\n\n${list.join('\n')}\n`;
  });
  const rows = readers.map((reader) => {
    const own = pages.filter((page) => page.reader.includes(reader));
    const cells = kinds.map((kind) =>
      own
        .filter((page) => page.kind === kind)
        .map(link)
        .join(', '),
    );
    return `| ${[capitalized(reader), ...cells].join(' | ')} |`;
  });
  const head = `| Reader | ${kinds.map(capitalized).join(' | ')} |\n| - | - | - | - | - |`;
  return ['## Start here\n', ...starts, `## All pages\n\n${head}`, ...rows].join('\n');
}

/** The first heading of a Markdown text. */
export function titleOf(markdown: string): string {
  return (/^# (.+)$/m.exec(markdown)?.[1] ?? '').replaceAll('`', '');
}

/** As a heading has it: `Client developer`. */
export function capitalized(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
