import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serviceNames } from '#shared/contract/route.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { renderOpenApi } from '#shared/openapi/openapi.ts';
import { allOpen } from '#shared/release/release-state.ts';
import type { ReleaseState } from '#shared/release/release-state.ts';
import { renderCatalogSchema } from './catalog-schema.ts';
import { renderLogCodes } from './log-codes.ts';
import { withPart } from './page-part.ts';
import { renderContracts } from './platform-contracts.ts';
import { renderProofSchema } from './proof-schema.ts';
import { renderSandboxOpenApi } from './sandbox.ts';
import { renderProblemTypes } from '#tools/site/problems.ts';

/** Folders below `docs` that hold generated files and nothing else. */
const generatedFolders = ['openapi'] as const;

/** Generated parts of hand-written pages: page, name of the part, what renders it. */
const parts: readonly (readonly [page: string, part: string, render: () => string])[] = [
  ['log-codes.md', 'log codes', renderLogCodes],
  ['platform-contracts.md', 'operations', renderContracts],
  ['problems.md', 'problem types', renderProblemTypes],
];

/**
 * The generated files by their path below `docs`. OpenAPI documents describe the services with every gate open; what a deployment publishes
 * is rendered for its own gates. The sandbox has no gates. A page with a generated part is read from `docs`.
 * @throws {Error} when such a page is absent or has no marks for its part
 */
export function generatedFiles(docs: string): ReadonlyMap<string, string> {
  const documents = [...openApiFiles(allOpen)].map(([name, text]): [string, string] => [
    join('openapi', name),
    text,
  ]);
  const catalog: [string, string] = [
    'catalog.schema.json',
    `${JSON.stringify(renderCatalogSchema(), null, 2)}\n`,
  ];
  const proof: [string, string] = ['proof.schema.json', `${JSON.stringify(renderProofSchema(), null, 2)}\n`];
  const written = parts.map(([page, part, render]): [string, string] => [
    page,
    withPart(readFileSync(join(docs, page), 'utf8'), part, render()),
  ]);
  return new Map([...documents, catalog, proof, ...written]);
}

/** The OpenAPI documents by file name, with the routes that are open and no other [RP-018]. A service without any route has no document. */
export function openApiFiles(release: ReleaseState): ReadonlyMap<string, string> {
  const documents = [
    ...serviceNames
      .filter((service) => routesOf(service).length > 0)
      .map((service) => [service, renderOpenApi(service, release)] as const),
    ['sandbox', renderSandboxOpenApi()] as const,
  ];
  return new Map(
    documents.map(([name, document]) => [`${name}.json`, `${JSON.stringify(document, null, 2)}\n`]),
  );
}

/** One file that is not as the registries say. `orphan`: nothing makes it any more. */
export interface StaleFile {
  readonly path: string;
  readonly kind: 'missing' | 'changed' | 'orphan';
}

/** Compares the folder with what would be generated. */
export async function staleFiles(
  docs: string,
  files: ReadonlyMap<string, string>,
): Promise<readonly StaleFile[]> {
  const stale: StaleFile[] = [];
  for (const [path, content] of files) {
    const present = await readFile(join(docs, path), 'utf8').catch(() => undefined);
    if (present === undefined) stale.push({ path, kind: 'missing' });
    else if (present !== content) stale.push({ path, kind: 'changed' });
  }
  for (const folder of generatedFolders) {
    for (const name of await readdir(join(docs, folder)).catch(() => [])) {
      const path = join(folder, name);
      if (!files.has(path)) stale.push({ path, kind: 'orphan' });
    }
  }
  return stale;
}

/** Brings the folder to what is generated: writes what is missing or changed, removes orphans. Returns what it did. */
export async function refreshFiles(
  docs: string,
  files: ReadonlyMap<string, string>,
): Promise<readonly StaleFile[]> {
  const stale = await staleFiles(docs, files);
  for (const { path } of stale) {
    const content = files.get(path);
    if (content === undefined) {
      await rm(join(docs, path), { recursive: true });
    } else {
      await mkdir(dirname(join(docs, path)), { recursive: true });
      await writeFile(join(docs, path), content);
    }
  }
  return stale;
}
