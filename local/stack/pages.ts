import type { HttpAnswer } from '#local/gateway/http-answer.ts';
import type { Issuer } from '#shared/stage/local-issuer.ts';

/** The published documents, as files of a site: what a deployment serves under its documentation address. */
export interface Documents {
  /** OpenAPI documents by service: `mastery`, `reports`, `sandbox`. */
  readonly openApi: ReadonlyMap<string, object>;
  /** Problem pages as HTML, by the last segment of the problem's `type`; `index` lists them. */
  readonly problemPages: ReadonlyMap<string, string>;
}

interface PageSources {
  readonly gatewayUrl: string;
  readonly platformUrl: string;
  readonly jwks: Issuer['jwks'];
  readonly documents: Documents;
  /** Plain text: commands that call the stack. */
  readonly exampleCalls: string;
}

/** The pages on the gateway's port: key set, example calls, problem pages, OpenAPI documents and an index of them. */
export function createPages(
  sources: PageSources,
): (method: string, rawPath: string) => HttpAnswer | undefined {
  const { openApi, problemPages } = sources.documents;
  const pages = new Map<string, HttpAnswer>([
    ['/.well-known/jwks.json', page('application/json', JSON.stringify(sources.jwks))],
    ['/', redirect('/docs')],
    ['/docs', page('text/html', index(sources))],
    ['/calls', page('text/plain', sources.exampleCalls)],
    ...[...openApi].map(([service, document]): [string, HttpAnswer] => [
      `/docs/openapi/${service}.json`,
      page(
        'application/json',
        JSON.stringify(servedAt(document, `${sources.gatewayUrl}/${service}`), null, 2),
      ),
    ]),
    // The index links to its neighbours by file name, so it must not be shown one level above them.
    ['/problems', redirect('/problems/index.html')],
    ...[...problemPages].flatMap(([name, html]): [string, HttpAnswer][] => [
      [`/problems/${name}`, page('text/html', html)],
      [`/problems/${name}.html`, page('text/html', html)],
    ]),
  ]);
  return (method, rawPath) => (method === 'GET' || method === 'HEAD' ? pages.get(rawPath) : undefined);
}

/** The document with the address at which the service answers here. */
function servedAt(document: object, url: string): object {
  return { ...document, servers: [{ url, description: 'The service on this machine.' }] };
}

function redirect(location: string): HttpAnswer {
  return { status: 302, headers: { Location: location }, body: '' };
}

function page(type: string, body: string): HttpAnswer {
  return {
    status: 200,
    headers: {
      'Content-Type': `${type}; charset=utf-8`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
    },
    body,
  };
}

function index({ gatewayUrl, platformUrl, documents }: PageSources): string {
  const openApi = [...documents.openApi.keys()].map((service) =>
    link(
      `/docs/openapi/${service}.json`,
      `OpenAPI of the ${service === 'sandbox' ? 'sandbox' : `${service} service`}`,
    ),
  );
  return html('mastery-reports on this machine', [
    `<p>The mastery engine: <code>${gatewayUrl}/mastery/v1/…</code>. The reports service: <code>${gatewayUrl}/reports/v1/…</code>.
    The sandbox, which needs no token: <code>${gatewayUrl}/sandbox/v1/…</code>. <code>npm run call -- readAttemptReport</code> makes a token and calls the service.</p>`,
    list([
      link('/calls', 'Example calls'),
      ...openApi,
      link('/problems', 'Problem types'),
      link('/.well-known/jwks.json', 'Key set of the local issuer'),
      `Platform emulator: ${link(`${platformUrl}/_control/state`, 'its data')} and ${link(`${platformUrl}/_control/calls`, 'the calls it has served')}`,
    ]),
    '<p><code>docs/local-runtime.md</code> lists which parts are real and which are emulators.</p>',
  ]);
}

function html(title: string, parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<style>body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }</style>
<h1>${title}</h1>
${parts.join('\n')}
</html>
`;
}

function list(entries: readonly string[]): string {
  return `<ul>\n${entries.map((entry) => `<li>${entry}</li>`).join('\n')}\n</ul>`;
}

/** Addresses and names are this project's own: nothing in them needs escaping. */
function link(address: string, text: string): string {
  return `<a href="${address}">${text}</a>`;
}
