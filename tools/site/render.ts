import { readdir, readFile } from 'node:fs/promises';
import { basename, join, posix, relative } from 'node:path';
import Eleventy from '@11ty/eleventy';
import type { EleventyConfig } from '@11ty/eleventy';
import { serviceNames, type ServiceName } from '#shared/contract/route.ts';
import { renderOpenApi, serversAt, withServers } from '#shared/openapi/openapi.ts';
import { tolerant } from '#shared/openapi/tolerant.ts';
import type { ReleaseState } from '#shared/release/release-state.ts';
import { theme } from '#tools/page/theme.ts';
import { sandboxExplorer } from './explorer.ts';
import { amendMarkdown } from './markdown.ts';
import { capitalized, pagesOutside, readers, readPages, titleOf, type Page } from './pages.ts';
import { problemPages, type ProblemPage } from './problems.ts';
import { escaped, readSources, sourcePath, UnreachableLinkError, type Source } from './sources.ts';

/** A service, or the sandbox: what has an OpenAPI document. */
export type Documented = ServiceName | 'sandbox';

export interface SiteOptions {
  /** What is open: the reference shows no other route. */
  readonly release: ReleaseState;
  /** Addresses of the APIs on the site's own origin, so that their reference can call them: `/sandbox`. */
  readonly apis: Readonly<Partial<Record<Documented, string>>>;
  /** Where callers of the stage find them. */
  readonly addresses?: SiteOptions['apis'];
  /** Where the files of the repository are, without a slash at its end. Absent: the site shows those that a page links. */
  readonly repository?: string | undefined;
  /** Only on the local stack. */
  readonly local?: LocalSite;
}

/** What the site of the local stack has more. */
export interface LocalSite {
  readonly apis: SiteOptions['apis'];
  /** Where its origin gives out tokens to try the APIs with. */
  readonly tokensPath: string;
  /** Other addresses of the stack. */
  readonly links: readonly Link[];
}

/** The files of the site by their path, `docs/index.html`. */
export type Site = ReadonlyMap<string, string | Uint8Array>;

export interface Link {
  readonly title: string;
  /** From the site's root; or absolute, or beginning with a slash, for what is not of the site. */
  readonly url: string;
  readonly kind?: string;
}

interface Group {
  readonly title: string;
  readonly links: readonly Link[];
}

const root = join(import.meta.dirname, '../..');
const docs = join(root, 'docs');
/** The page that lists the others. */
const INDEX = 'docs/README.md';
/** Lists the problem types, so it is the index of their pages. */
const PROBLEMS = 'docs/problems.md';

/** The settings of the operator's stages. */
const STAGES = 'shared/stage/stages.ts';

const documentTitles: Readonly<Record<Documented, string>> = {
  mastery: 'Mastery engine',
  reports: 'Reports service',
  sandbox: 'Sandbox',
};

/** Files of packages that the site serves as they are. */
const packageFiles: Readonly<Record<string, string>> = {
  'minisearch.js': 'minisearch/dist/es/index.js',
  'swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
  'swagger-ui-bundle.js': 'swagger-ui-dist/swagger-ui-bundle.js',
};

/**
 * Renders the documentation site: static files that ask no other host for anything and run no inline script.
 * @param more further pages by their path in the repository, outside of the navigation
 * @throws {UnreachableLinkError} if a page links what is neither on the site nor in a repository with an address
 */
export async function renderSite(
  options: SiteOptions,
  more: readonly (readonly [path: string, markdown: string])[] = [],
): Promise<Site> {
  const openApi = await openApiDocuments(options);
  const listed = listedPages();
  const guides = new Map([
    ...(await readGuides(listed)),
    ...more.map(([path, text]) => [path, { text, page: undefined }] as const),
  ]);
  const sources =
    options.repository === undefined ? await readSources(root, guides) : new Map<string, Source>();
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const pictures = await readFolder(join(docs, 'pictures'));
  const problems = problemPages();
  const addressOf = (file: string): string | undefined => {
    if (guides.has(file)) return guidePath(file);
    if (file === 'README.md') return guidePath(INDEX);
    if (/^docs\/(?:pictures\/[\w.-]+|openapi\/\w+\.tolerant\.json)$/.test(file)) return file;
    // A link to an OpenAPI document is most useful here as one to the reference, which links the document.
    const [reference] = [...openApi.keys()].filter((name) => file === `docs/openapi/${name}.json`);
    if (reference !== undefined) return referencePath(reference);
    if (options.repository !== undefined) return `${options.repository}/${file}`;
    // The file has account ids and addresses of the operator, so the site explains it and does not show it.
    if (file === STAGES) return `${guidePath('docs/deploy.md')}#2-fill-in-the-stage`;
    return sources.has(file) ? sourcePath(file) : undefined;
  };
  const groups = [
    ...navigation(listed),
    referenceGroup(openApi),
    ...(options.local === undefined ? [] : [{ title: 'This machine', links: options.local.links }]),
  ];

  const unreachable: string[] = [];
  const eleventy = new Eleventy(relative(process.cwd(), import.meta.dirname), 'build/site', {
    configPath: null,
    config(config) {
      config.setQuietMode(true);
      config.setTemplateFormats(['md', 'html']);
      config.addFilter('headings', (html) =>
        [...html.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)].map(([, id = '', text = '']) => ({
          id,
          text: plainText(text),
        })),
      );
      config.addFilter('href', (url, base) => (/^(?:\/|https?:)/.test(url) ? url : `${base}${url}`));
      config.addGlobalData('version', version);
      config.addGlobalData('groups', groups);
      config.addGlobalData('sections', [
        { title: 'Guides', url: guidePath(INDEX) },
        ...[...openApi.keys()].slice(0, 1).map((name) => ({ title: 'API', url: referencePath(name) })),
        { title: 'Problems', url: guidePath(PROBLEMS) },
      ]);
      config.amendLibrary('md', (library) => amendMarkdown(library, addressOf, problems, unreachable));
      addPages(config, guides, problems, openApi, options);
      addSources(config, sources, addressOf);
      return { htmlTemplateEngine: false, markdownTemplateEngine: false };
    },
  });
  const rendered = await eleventy.toJSON();
  if (unreachable.length > 0) throw new UnreachableLinkError(unreachable);
  const pages = rendered.map(({ url, content }): [string, string] => [
    url.slice(1).replace(/\/$/, '/index.html'),
    content,
  ]);
  const assets = await readFolder(join(import.meta.dirname, 'assets'));
  const packaged = await Promise.all(
    Object.entries(packageFiles).map(
      async ([name, file]) => [`assets/${name}`, await readFile(join(root, 'node_modules', file))] as const,
    ),
  );
  return new Map<string, string | Uint8Array>([
    ...pages,
    ...[...openApi].flatMap(([name, document]) => [
      [`docs/openapi/${name}.json`, jsonOf(document)] as const,
      [`docs/openapi/${name}.tolerant.json`, jsonOf(tolerant(document))] as const,
    ]),
    ...[...pictures].map(([name, bytes]) => [`docs/pictures/${name}`, bytes] as const),
    ...[...assets].map(([name, bytes]) => [`assets/${name}`, bytes] as const),
    ...packaged,
    ...(options.local === undefined && options.apis.sandbox !== undefined
      ? await sandboxExplorer(options.apis.sandbox)
      : []),
    ['assets/theme.css', theme],
    [
      'assets/search.json',
      JSON.stringify([
        ...sectionsOf(pages.filter(([path]) => !path.startsWith('source/'))),
        ...operationsOf(openApi),
      ]),
    ],
  ]);
}

function addPages(
  config: EleventyConfig,
  guides: ReadonlyMap<string, Guide>,
  problems: ReadonlyMap<string, ProblemPage>,
  openApi: ReadonlyMap<Documented, object>,
  { apis, local }: SiteOptions,
): void {
  const add = (url: string, extension: 'md' | 'html', content: string, data: object): void => {
    config.addTemplate(`pages/${url.replace(/html$/, extension)}`, content, {
      layout: 'page.njk',
      root: '../',
      permalink: `/${url}`,
      current: url,
      ...data,
    });
  };
  for (const [name, { text, page }] of guides) {
    const { kind, reader } = page ?? {};
    add(guidePath(name), 'md', text, {
      title: titleOf(text),
      source: name,
      ...(kind && { kind, reader: reader?.join(', ') }),
    });
  }
  for (const [name, { title, body }] of problems) {
    add(`problems/${name}.html`, 'html', `<h1>${title}</h1>\n${body}`, { title });
  }
  add(
    '404.html',
    'html',
    '<h1>Page not found</h1>\n<p>There is no page at this address. Try the search or the <a href="/docs/index.html">list of pages</a>.</p>',
    {
      title: 'Page not found',
      root: '/',
      // A function of CloudFront's contains it, which may have 10 KB.
      alone: true,
    },
  );
  for (const name of openApi.keys()) {
    const title = `${documentTitles[name]}: API reference`;
    const attributes = Object.entries({ document: name, calls: apis[name], tokens: local?.tokensPath })
      .filter(([, value]) => value !== undefined)
      .map(([attribute, value]) => `data-${attribute}="${value}"`);
    add(
      referencePath(name),
      'html',
      `<section aria-label="About"><h1>${title}</h1>
<p>As a file: <a href="../docs/openapi/${name}.json">OpenAPI 3.1 document</a>; for generators of clients the
<a href="../docs/openapi/${name}.tolerant.json">tolerant one</a>.</p></section>
<div id="reference" ${attributes.join(' ')}></div>
<noscript><p>The reference needs JavaScript; the OpenAPI document does not.</p></noscript>`,
      {
        title,
        // Swagger UI has a main landmark of its own.
        container: 'div',
        styles: ['swagger-ui.css', 'reference.css'],
        scripts: ['swagger-ui-bundle.js'],
        modules: ['reference.mjs'],
      },
    );
  }
}

/** The files and folders of the repository that a page links. */
function addSources(
  config: EleventyConfig,
  sources: ReadonlyMap<string, Source>,
  addressOf: (file: string) => string | undefined,
): void {
  for (const [file, content] of sources) {
    const url = sourcePath(file);
    const base = '../'.repeat(url.split('/').length - 1);
    const entry = (name: string): string => {
      const address = addressOf(posix.join(file, name));
      return `<li>${address === undefined ? escaped(name) : `<a href="${base}${address}">${escaped(name)}</a>`}</li>`;
    };
    const body =
      typeof content === 'string'
        ? `<pre tabindex="0"><code>${escaped(content)}</code></pre>`
        : `<ul>${content.map(entry).join('')}</ul>`;
    config.addTemplate(`pages/${url}`, `<h1>${escaped(file)}</h1>\n${body}`, {
      layout: 'page.njk',
      // A file may contain what a template language would take for its own.
      templateEngineOverride: false,
      root: base,
      permalink: `/${url}`,
      current: url,
      title: file,
    });
  }
}

/**
 * The OpenAPI documents: the open routes of each service, and the sandbox, which has no gates. They name the address on this
 * origin, where there is one.
 */
async function openApiDocuments({
  release,
  apis,
  addresses = {},
}: SiteOptions): Promise<ReadonlyMap<Documented, object>> {
  const sandbox = JSON.parse(await readFile(join(docs, 'openapi/sandbox.json'), 'utf8')) as object;
  const documents: readonly (readonly [Documented, object])[] = [
    ...serviceNames.map((name) => [name, renderOpenApi(name, release)] as const),
    ['sandbox', sandbox],
  ];
  return new Map(
    documents.map(([name, document]) => {
      const here = apis[name] === undefined ? [] : [{ url: apis[name], description: 'On this origin' }];
      return [name, withServers(document, [...here, ...serversAt(addresses[name])])];
    }),
  );
}

function jsonOf(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** A Markdown page with its text; the index is in no list. */
interface Guide {
  readonly text: string;
  readonly page: Page | undefined;
}

/** The Markdown pages by their path in the repository. */
async function readGuides(listed: readonly Page[]): Promise<ReadonlyMap<string, Guide>> {
  const files = [[INDEX, undefined] as const, ...listed.map((page) => [fileOf(page), page] as const)];
  return new Map(
    await Promise.all(
      files.map(
        async ([file, page]) => [file, { text: await readFile(join(root, file), 'utf8'), page }] as const,
      ),
    ),
  );
}

function fileOf({ name }: Page): string {
  return posix.join('docs', name);
}

/** The files of a folder by name; none when there is no such folder. */
async function readFolder(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return new Map(
    await Promise.all(files.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}

function guidePath(file: string): string {
  if (file === INDEX) return 'docs/index.html';
  if (file === PROBLEMS) return 'problems/index.html';
  const folder = posix.dirname(file);
  const name = basename(file, '.md') === 'README' ? folder.replaceAll('/', '-') : basename(file, '.md');
  return `docs/${name.toLowerCase()}.html`;
}

function referencePath(name: Documented): string {
  return `reference/${name}.html`;
}

/**
 * The pages of the site in their order.
 * @throws {TypeError} for a page without its front matter, as `npm run check:docs` reports it
 */
function listedPages(): readonly Page[] {
  const pages = readPages(docs, pagesOutside);
  if (!pages.ok) throw new TypeError(pages.error);
  return pages.value;
}

/** The pages by their main reader. */
function navigation(pages: readonly Page[]): readonly Group[] {
  return readers.map((reader) => ({
    title: capitalized(reader),
    links: pages
      .filter((page) => page.reader[0] === reader)
      .map((page) => ({ title: page.title, url: guidePath(fileOf(page)), kind: page.kind })),
  }));
}

function referenceGroup(openApi: ReadonlyMap<Documented, object>): Group {
  return {
    title: 'API',
    links: [...openApi.keys()].map((name) => ({ title: documentTitles[name], url: referencePath(name) })),
  };
}

/** What the search finds: a section of a page, or an operation. */
interface Entry {
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** The pages cut at their headings. */
function sectionsOf(pages: readonly (readonly [string, string])[]): readonly Entry[] {
  return pages.flatMap(([url, html]) => {
    const content = /<(main|div) id="main"[^>]*>(.*)<\/\1>\n<nav id="pages"/s.exec(html)?.[2] ?? '';
    const page = plainText(/<h1[^>]*>(.*?)<\/h1>/s.exec(content)?.[1] ?? '');
    return content.split(/(?=<h[23] id=)/).map((part) => {
      const [whole = '', id, heading = ''] = /^<h[23] id="([^"]+)">(.*?)<\/h[23]>/.exec(part) ?? [];
      return {
        id: id === undefined ? url : `${url}#${id}`,
        page,
        heading: plainText(heading),
        text: plainText(part.slice(whole.length).replace(/<svg.*?<\/svg>/gs, '')),
      };
    });
  });
}

function operationsOf(openApi: ReadonlyMap<Documented, object>): readonly Entry[] {
  return [...openApi].flatMap(([name, document]) => {
    const { paths = {} } = document as {
      paths?: Record<
        string,
        Record<string, { operationId: string; summary: string; description: string; tags: string[] }>
      >;
    };
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, summary, description, tags }]) => ({
        id: `${referencePath(name)}#/${tags[0] ?? ''}/${operationId}`,
        page: documentTitles[name],
        heading: summary,
        text: `${method.toUpperCase()} ${path} ${description}`,
      })),
    );
  });
}

function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
