import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { Site } from './render.ts';

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The media type of a file of the site.
 * @throws {TypeError} for a kind of file that the site has none of
 */
export function contentTypeOf(path: string): string {
  const type = contentTypes[extname(path)];
  if (type === undefined) throw new TypeError(`${path} has no media type: add one to tools/site/files.ts`);
  return type;
}

/** Writes the site; other files of the folder stay. */
export async function writeSite(folder: string, site: Site): Promise<void> {
  for (const [path, content] of site) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
