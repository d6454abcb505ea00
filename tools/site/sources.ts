import { readdir, readFile, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';

/** The text of a file, or the names in a folder. */
export type Source = string | readonly string[];

/** What the site never shows: pictures and the README, which it has, the operator's settings, and what is outside of the repository or made on this machine. */
const NEVER =
  /\.(?:png|svg)$|^README\.md$|^shared\/stage\/stages\.ts$|^(?:\.\.|\.git|\.local|build|cdk\.out|node_modules)(?:\/|$)/;
const LINK = /\]\(<?([^()<>\s#]+)(?:#[^()<>\s]*)?>?\)/g;

/** Links of pages that lead to nothing that the site shows. */
export class UnreachableLinkError extends Error {
  override readonly name = 'UnreachableLinkError';

  constructor(links: readonly string[]) {
    super(
      `these links lead out of the site: link a page instead, or name the repository with --repository URL:\n  ${links.join('\n  ')}`,
    );
  }
}

/**
 * Reads the files and folders that the pages link, for the site to show them.
 * @param pages by their path in the repository
 * @returns without what does not exist and what the site never shows
 */
export async function readSources(
  root: string,
  pages: ReadonlyMap<string, { readonly text: string }>,
): Promise<ReadonlyMap<string, Source>> {
  const linked = [...pages].flatMap(([page, { text }]) =>
    [...text.matchAll(LINK)].flatMap(([, target = '']) =>
      /^[a-z][a-z\d+.-]*:/i.test(target) ? [] : [posix.join(posix.dirname(page), decodeURI(target))],
    ),
  );
  const sources = new Map<string, Source>();
  for (const file of new Set(linked)) {
    const path = file.replace(/\/$/, '');
    if (pages.has(path) || NEVER.test(path)) continue;
    const found = await stat(join(root, path)).catch(() => undefined);
    if (found?.isFile() === true) sources.set(path, await readFile(join(root, path), 'utf8'));
    if (found?.isDirectory() === true) sources.set(path, (await readdir(join(root, path))).toSorted());
  }
  return sources;
}

/** Where the site shows a file or folder of the repository. */
export function sourcePath(file: string): string {
  return `source/${file}.html`;
}

/** A text as HTML. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
