import type { Page, PageRequest } from '#local/gateway/gateway.ts';
import { pageHeaders } from '#tools/page/headers.ts';
import { contentTypeOf } from '#tools/site/files.ts';
import { createExplorerBackend, explorerConfig, json, type ExplorerOptions } from './backend.ts';
import type { ExplorerFiles } from '#tools/bundling/explorer.ts';

const BASE = '/explorer/';

/**
 * Serves the explorer below `/explorer/`: its files, `config.json`, and its backend, which takes no request of a page of another origin.
 * Without files there is no explorer.
 */
export function serveExplorer(
  options: ExplorerOptions & { readonly files: ExplorerFiles },
): (request: PageRequest) => Page | Promise<Page> | undefined {
  const backend = createExplorerBackend(options);
  return ({ method, rawPath, body, isForeign }) => {
    if (options.files.size === 0) return undefined;
    if (rawPath === BASE.slice(0, -1)) return { status: 302, headers: { Location: BASE }, body: '' };
    if (!rawPath.startsWith(BASE)) return undefined;
    const name = rawPath.slice(BASE.length);
    if (name.startsWith('api/')) {
      if (isForeign) return json(403, { message: 'the explorer takes no request of another origin' });
      return backend({ method, path: name.slice('api/'.length), body: body.toString('utf8') });
    }
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    if (name === 'config.json') return json(200, explorerConfig(options));
    const path = name === '' || name.endsWith('/') ? `${name}index.html` : name;
    const file = options.files.get(path);
    if (file === undefined) return undefined;
    return {
      status: 200,
      headers: { ...pageHeaders, 'Content-Type': contentTypeOf(path), 'Cache-Control': 'no-store' },
      body: file,
    };
  };
}
