import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serviceNames } from '#shared/contract/route.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { renderOpenApi, serversAt, withServers } from '#shared/openapi/openapi.ts';
import { tolerant } from '#shared/openapi/tolerant.ts';
import type { domainsOf } from '#shared/stage/stages.ts';
import { allOpen, type ReleaseState } from '#shared/release/release-state.ts';
import { renderCatalogSchema } from './catalog-schema.ts';
import { renderCalls, renderScale } from './cost.ts';
import { renderClientSources } from './client-sources.ts';
import { renderInvariants } from './invariants.ts';
import { renderLogCodes } from './log-codes.ts';
import { renderLowered } from './lowered.ts';
import { withPart } from './page-part.ts';
import { renderContracts } from './platform-contracts.ts';
import { renderProofSchema } from './proof-schema.ts';
import { renderSnippets } from './snippets.ts';
import { renderStored } from './stored.ts';
import { renderSandboxOpenApi } from './sandbox.ts';
import { renderIndex } from '#tools/site/pages.ts';
import type { Page } from '#tools/site/pages.ts';
import { renderProblemTypes } from '#tools/site/problems.ts';

/** Folders that hold generated files and nothing else. */
const generatedFolders = ['docs/openapi', 'client/src/generated'] as const;

/** Generated parts of hand-written pages: page, name of the part, what renders it. */
const parts: readonly (readonly [
  page: string,
  part: string,
  render: (pages: readonly Page[]) => string | Promise<string>,
])[] = [
  ['docs/README.md', 'pages', renderIndex],
  ['docs/cost.md', 'calls', renderCalls],
  ['docs/data-protection.md', 'stored', renderStored],
  ['docs/invariants.md', 'invariants', renderInvariants],
  ['docs/log-codes.md', 'log codes', renderLogCodes],
  ['docs/platform-contracts.md', 'operations', renderContracts],
  ['docs/problems.md', 'problem types', renderProblemTypes],
  ['docs/scale.md', 'scale', renderScale],
  ['docs/snippets-mastery.md', 'snippets', () => renderSnippets('mastery')],
  ['docs/snippets-reports.md', 'snippets', () => renderSnippets('reports')],
  ['docs/uncertainty.md', 'lowered', renderLowered],
];

/**
 * The generated files by their path below the project's root. OpenAPI documents describe the services with every gate open; what a deployment
 * publishes is rendered for its own gates. The sandbox has no gates. A page with a generated part is read from `root`.
 * @param pages what the index lists
 * @throws {Error} when such a page is absent or has no marks for its part
 */
export async function generatedFiles(
  root: string,
  pages: readonly Page[],
): Promise<ReadonlyMap<string, string>> {
  const documents = openApiFiles(allOpen);
  return new Map([
    ...[...documents].map(([name, text]) => [`docs/openapi/${name}`, text] as const),
    ['docs/catalog.schema.json', jsonOf(renderCatalogSchema())],
    ['docs/proof.schema.json', jsonOf(renderProofSchema())],
    ...[...(await renderClientSources(documents))].map(
      ([name, source]) => [`client/src/generated/${name}`, source] as const,
    ),
    ...(await Promise.all(
      parts.map(
        async ([page, part, render]) =>
          [page, withPart(readFileSync(join(root, page), 'utf8'), part, await render(pages))] as const,
      ),
    )),
  ]);
}

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * The OpenAPI documents by file name, each with the tolerant one that generators of clients take, with the routes that are open and no other [RP-018]. A
 * service without any route has no document.
 * @param addresses host names of the stage's own
 */
export function openApiFiles(
  release: ReleaseState,
  addresses: ReturnType<typeof domainsOf> = {},
): ReadonlyMap<string, string> {
  const documents = [
    ...serviceNames
      .filter((service) => routesOf(service).length > 0)
      .map((service) => [service, renderOpenApi(service, release)] as const),
    ['sandbox', renderSandboxOpenApi()] as const,
  ];
  return new Map(
    documents.flatMap(([name, rendered]) => {
      const document = withServers(rendered, serversAt(addresses[name]));
      return [
        [`${name}.json`, jsonOf(document)],
        [`${name}.tolerant.json`, jsonOf(tolerant(document))],
      ];
    }),
  );
}

/** One file that differs from the registries. `orphan`: nothing makes it any more. */
export interface StaleFile {
  readonly path: string;
  readonly kind: 'missing' | 'changed' | 'orphan';
}

export async function staleFiles(
  root: string,
  files: ReadonlyMap<string, string>,
): Promise<readonly StaleFile[]> {
  const stale: StaleFile[] = [];
  for (const [path, content] of files) {
    const present = await readFile(join(root, path), 'utf8').catch(() => undefined);
    if (present === undefined) stale.push({ path, kind: 'missing' });
    else if (present !== content) stale.push({ path, kind: 'changed' });
  }
  for (const folder of generatedFolders) {
    for (const name of await readdir(join(root, folder)).catch(() => [])) {
      const path = join(folder, name);
      if (!files.has(path)) stale.push({ path, kind: 'orphan' });
    }
  }
  return stale;
}

/** Brings the project to what is generated: writes what is missing or changed, removes orphans. Returns what it did. */
export async function refreshFiles(
  root: string,
  files: ReadonlyMap<string, string>,
): Promise<readonly StaleFile[]> {
  const stale = await staleFiles(root, files);
  for (const { path } of stale) {
    const content = files.get(path);
    if (content === undefined) {
      await rm(join(root, path), { recursive: true });
    } else {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    }
  }
  return stale;
}
