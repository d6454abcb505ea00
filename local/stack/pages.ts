import type { Page } from '#local/gateway/gateway.ts';
import type { Issuer } from '#shared/stage/local-issuer.ts';
import { pageHeaders } from '#tools/page/headers.ts';
import { contentTypeOf } from '#tools/site/files.ts';
import type { LocalSite, Site } from '#tools/site/render.ts';

export type RenderLocalSite = (local: LocalSite) => Promise<Site>;

/** A token with which the reference of the site calls the APIs. */
export interface TokenToTry {
  readonly tenantId: string;
  readonly token: string;
  /** Path parameters of operations, with seeded values for which the token is enough. */
  readonly examples: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface PageSources {
  readonly gatewayUrl: string;
  readonly platformUrl: string;
  readonly jwks: Issuer['jwks'];
  readonly site: RenderLocalSite | undefined;
  readonly tokens: () => Promise<readonly TokenToTry[]>;
  readonly exampleCalls: string;
}

const jwksPath = '/.well-known/jwks.json';
const tokensPath = '/docs/tokens.json';
const callsPath = '/calls';

/**
 * The files on the gateway's port in addition to the services: key set, tokens to try the APIs with, documentation site. The paths of the site are
 * those of a deployed one: a problem's `type` is the address of its page without `.html`.
 */
export function createPages(
  sources: PageSources,
): (method: string, rawPath: string) => Promise<Page | undefined> {
  let rendered: Promise<Site> | undefined;
  const site = async (): Promise<Site> => {
    const { gatewayUrl, platformUrl } = sources;
    rendered ??= sources.site?.({
      apis: {
        mastery: `${gatewayUrl}/mastery`,
        reports: `${gatewayUrl}/reports`,
        sandbox: `${gatewayUrl}/sandbox`,
      },
      tokensPath,
      links: [
        { title: 'Explorer', url: '/explorer/' },
        { title: 'Example calls', url: callsPath },
        { title: 'Key set of the local issuer', url: jwksPath },
        { title: 'Platform emulator: its data', url: `${platformUrl}/_control/state` },
        { title: 'Platform emulator: calls served', url: `${platformUrl}/_control/calls` },
      ],
    });
    return (await rendered) ?? new Map();
  };
  return async (method, rawPath) => {
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    if (rawPath === jwksPath) return page(jwksPath, JSON.stringify(sources.jwks));
    if (rawPath === callsPath) return page(`${callsPath}.txt`, sources.exampleCalls);
    if (rawPath === tokensPath) return page(tokensPath, JSON.stringify(await sources.tokens()));
    const folder = folders.get(rawPath);
    if (folder !== undefined) return { status: 302, headers: { Location: folder }, body: '' };
    // Nothing else is worth the rendering of the site.
    if (!/^\/(?:404\.html$|(?:assets|docs|problems|reference|source)\/)/.test(rawPath)) return undefined;
    const files = await site();
    const path = [rawPath.slice(1), `${rawPath.slice(1)}.html`].find((candidate) => files.has(candidate));
    const file = path === undefined ? undefined : files.get(path);
    return path === undefined || file === undefined ? undefined : page(path, file);
  };
}

/** Pages link to their neighbours by file name, so none may be shown one level above them. */
const folders: ReadonlyMap<string, string> = new Map([
  ['/', '/docs/index.html'],
  ...['docs', 'problems'].flatMap((name): [string, string][] => [
    [`/${name}`, `/${name}/index.html`],
    [`/${name}/`, `/${name}/index.html`],
  ]),
]);

function page(path: string, body: string | Uint8Array): Page {
  return {
    status: 200,
    headers: { ...pageHeaders, 'Content-Type': contentTypeOf(path), 'Cache-Control': 'no-store' },
    body,
  };
}
