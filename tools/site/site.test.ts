import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, it } from 'vitest';
import { pathFunction } from '#lib/stacks/documentation.ts';
import { allOpen } from '#shared/release/release-state.ts';
import { offlineRelease } from '#shared/release/read-release.ts';
import { atEdge } from '#test/support/at-edge.ts';
import { buildIndex } from './assets/search-index.mjs';
import { contentTypeOf } from './files.ts';
import { renderSite, type Site } from './render.ts';

const addresses = { mastery: 'https://mastery.school.org' };
const repository = 'https://code.example/main';
/** Links what is not there, what is, and what is outside of the repository. */
const linking = '# More\n\n[absent](../lib/absent.ts) [code](../lib/names.ts#L1) [own](/etc/hosts)\n';
const more = [['docs/more.md', linking]] as const;

let site: Site;
/** With every gate closed, the address of the repository, and one more page. */
let closed: Site;
let pages: readonly (readonly [path: string, html: string])[];
beforeAll(async () => {
  site = await renderSite({ release: allOpen, apis: { sandbox: '/sandbox' } });
  closed = await renderSite({ release: offlineRelease(new Set()), apis: {}, addresses, repository }, more);
  pages = [...site].filter(([path]) => path.endsWith('.html')).map(([path, html]) => [path, String(html)]);
});

/** Every reference of a page, from the site's root: `docs/engine.html#numbers`. */
function referencesOf([path, html]: readonly [string, string]): readonly string[] {
  return [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, reference = '']) =>
    new URL(reference, `site:///${path}`).href.replace('site:///', ''),
  );
}

describe('the documentation site', () => {
  it('has a page per guide with its kind, and its navigation leads to each', () => {
    const guides = readdirSync(join(import.meta.dirname, '../../docs'))
      .filter((name) => name.endsWith('.md') && !['README.md', 'problems.md'].includes(name))
      .map((name) => name.replace('.md', ''));
    const [, index = ''] = pages.find(([path]) => path === 'docs/index.html') ?? [];
    const navigation = /<nav id="pages".*?<\/nav>/s.exec(index)?.[0] ?? '';
    expect(guides.length).toBeGreaterThan(20);
    const missing = guides.filter((name) => !navigation.includes(`href="../docs/${name}.html"`));
    expect(missing).toEqual([]);
    const [, guide = ''] = pages.find(([path]) => path === 'docs/uncertainty.html') ?? [];
    expect(guide).toContain('<p class="kind">Explanation · client developer, psychometrician</p>\n<h1');
  });

  it('is known to the function of its distribution path by path, in less than the 10 KB of one', () => {
    const code = pathFunction([...site.keys()], String(site.get('404.html')));
    expect(Buffer.byteLength(code)).toBeLessThan(8 * 1024);
    for (const path of site.keys()) expect(atEdge(code, `/${path}`)).toEqual({ uri: `/${path}` });
    expect(atEdge(code, '/docs/engine.htm')).toMatchObject({
      statusCode: 404,
      body: { data: site.get('404.html') },
    });
  });

  it('links only to what is there: pages, anchors, files', () => {
    const anchors = new Set(
      pages.flatMap(([path, html]) =>
        [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => `${path}#${id}`),
      ),
    );
    const broken = pages.flatMap((page) =>
      referencesOf(page)
        .filter((reference) => !/^(?:https?|data):/.test(reference))
        .filter((reference) => !(reference.includes('#') ? anchors : site).has(reference))
        .map((reference) => `${page[0]}: ${reference}`),
    );
    expect(broken).toEqual([]);
  });

  it('opens with the sentence of the product and its picture', () => {
    const [, landing = ''] = pages.find(([path]) => path === 'docs/index.html') ?? [];
    const sentence = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8').split('\n')[2] ?? '';
    expect(landing).toContain(
      `<h1 id="mastery-reports">mastery-reports</h1>\n<p>${sentence}</p>\n<p><img src="`,
    );
  });

  it('shows the client, the examples and the files that its pages link, but no settings of an operator’s stages', () => {
    const [, deploy = ''] = pages.find(([path]) => path === 'docs/deploy.html') ?? [];
    for (const name of [
      'client',
      'client-python',
      'examples-client-typescript',
      'examples-study',
      'security',
    ])
      expect(site.has(`docs/${name}.html`), name).toBe(true);
    expect(deploy).toContain('<a href="../source/examples/deploy/deploy.yml.html">');
    expect(deploy).toContain(
      '<a href="../docs/deploy.html#2-fill-in-the-stage"><code>shared/stage/stages.ts</code>',
    );
    expect(String(site.get('source/examples/deploy/deploy.yml.html'))).toContain('npm ci');
    expect(String(site.get('source/examples/deploy.html'))).toContain(
      '<a href="../../source/examples/deploy/trust-policy.json.html">trust-policy.json</a>',
    );
    expect([...site.keys()].filter((path) => path.includes('stages.ts'))).toEqual([]);
  });

  it('is not built with a link that leads out of it, unless it has the address of the repository', async () => {
    await expect(renderSite({ release: allOpen, apis: {} }, more)).rejects.toThrow(
      'name the repository with --repository URL:\n  docs/more.md: ../lib/absent.ts\n  docs/more.md: /etc/hosts',
    );
    expect(String(closed.get('docs/more.html'))).toContain(
      `<a href="${repository}/lib/absent.ts">absent</a> <a href="${repository}/lib/names.ts#L1">code</a>`,
    );
    expect([...closed.keys()].filter((path) => path.startsWith('source/'))).toEqual([]);
  });

  it('leads from the name of a problem to its page', () => {
    const [, index = ''] = pages.find(([path]) => path === 'problems/index.html') ?? [];
    expect(index).toContain('<a href="../problems/stream-conflict.html"><code>stream-conflict</code></a>');
  });

  it('runs nothing inline and loads nothing from another host', () => {
    const inline = /<style|\sstyle=|<script>|\son\w+=|javascript:|@import/;
    const foreign = / src="(?:https?:)?\/\/|<link [^>]*href="(?:https?:)?\/\//;
    const offending = pages.flatMap(([path, html]) => {
      const markup = html.replaceAll(/<(?:code|pre)[ >].*?<\/(?:code|pre)>/gs, '');
      return [inline, foreign]
        .flatMap((pattern) => pattern.exec(markup)?.[0] ?? [])
        .map((found) => `${path}: ${found}`);
    });
    expect(offending).toEqual([]);
  });

  it('finds guides, operations and problems in its search index', () => {
    const entries = JSON.parse(String(site.get('assets/search.json'))) as { id: string; text: string }[];
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    const ids = entries.map(({ id }) => id);
    expect(ids).toContain('problems/stream-conflict.html');
    expect(ids).toContain('reference/mastery.html#/adaptive-runs/startAdaptiveRun');
    for (const id of ids.filter((each) => !each.includes('#/')))
      expect(site.has(id.split('#')[0] ?? '')).toBe(true);
  });

  it.each([
    ['what does gap mean', 'docs/uncertainty.html'],
    ['python', 'docs/client-python.html'],
    ['GDPR', 'docs/data-protection.html'],
    ['cost', 'docs/cost.html'],
    ['webhook', 'docs/client-guide.html#polling'],
  ])('finds first for “%s” the page that answers it', (query, page) => {
    const entries = JSON.parse(String(site.get('assets/search.json'))) as unknown[];
    expect(buildIndex(MiniSearch, entries).search(query)[0]?.id).toMatch(new RegExp(`^${page}`));
  });

  it('serves every file under a media type of its kind', () => {
    for (const path of site.keys()) expect(contentTypeOf(path)).toBeTruthy();
  });

  it('shows the routes of the open gates alone, and every problem page whatever is open [RP-018]', () => {
    expect(JSON.parse(String(closed.get('docs/openapi/mastery.json')))).toMatchObject({
      servers: [{ url: addresses.mastery }],
    });
    for (const name of ['reports', 'reports.tolerant'])
      expect(JSON.parse(String(closed.get(`docs/openapi/${name}.json`)))).toMatchObject({ paths: {} });
    expect(String(closed.get('assets/search.json')).includes('reference/reports.html#/')).toBe(false);
    const problems = (of: Site): readonly string[] =>
      [...of.keys()].filter((path) => path.startsWith('problems/')).toSorted();
    expect(problems(closed)).toEqual(problems(site));
  });
});
