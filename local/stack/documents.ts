import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { Documents } from './pages.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');

/** The published documents as they stand in `docs/`; `npm run docs -- --check` holds them to the code. */
export async function loadDocuments(): Promise<Documents> {
  const [openApi, problemPages] = await Promise.all([
    readFolder(join(docs, 'openapi'), '.json'),
    readFolder(join(docs, 'problems'), '.html'),
  ]);
  return { openApi, problemPages };
}

/** The files of one kind below a folder, by name without extension. */
async function readFolder(folder: string, extension: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder);
  return new Map(
    await Promise.all(
      names
        .filter((name) => extname(name) === extension)
        .map(async (name): Promise<[string, string]> => [
          basename(name, extension),
          await readFile(join(folder, name), 'utf8'),
        ]),
    ),
  );
}
