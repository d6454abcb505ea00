import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { serviceNames } from '#shared/contract/route.ts';
import { renderOpenApi } from '#shared/openapi/openapi.ts';
import type { ReleaseState } from '#shared/release/release-state.ts';
import type { Documents } from './pages.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');

/** The published documents of a stack: OpenAPI of the routes that are open in it; the rest as it is in `docs/`. */
export async function loadDocuments(release: ReleaseState): Promise<Documents> {
  const [sandbox, problemPages] = await Promise.all([
    readFile(join(docs, 'openapi', 'sandbox.json'), 'utf8'),
    readFolder(join(docs, 'problems'), '.html'),
  ]);
  const released = serviceNames.map((service): [string, object] => [
    service,
    renderOpenApi(service, release),
  ]);
  // SAFETY: the file is a document that the project has generated.
  return { openApi: new Map([...released, ['sandbox', JSON.parse(sandbox) as object]]), problemPages };
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
