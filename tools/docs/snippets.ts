import { curlOf, tokenCommand } from '#local/call/curl.ts';
import { exampleRequest, type CallRequest } from '#local/call/example-request.ts';
import { instantiateSeed } from '#local/seeds/instantiate.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { claimsOf } from '#local/stack/example-calls.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { renderOpenApi } from '#shared/openapi/openapi.ts';
import { allOpen } from '#shared/release/release-state.ts';

/** Where `npm start` serves the services. */
export const SNIPPET_ORIGIN = 'http://127.0.0.1:4010';
/** What an earlier answer gives: variables of the snippets. Each is a text that occurs in no other value. */
const variables = ['continuationToken', 'etag', 'improvementRunId'] as const;
const mark = (name: string): string => `<${name}>`;

/** Renders the snippets of a service: every operation in curl, TypeScript and Python, with example values of the local stack. */
export async function renderSnippets(service: ServiceName): Promise<string> {
  const seed = await loadSeed(DEFAULT_SEED_DIRECTORY);
  if (!seed.ok) throw new Error('the built-in seed is not usable');
  const { fixtures } = instantiateSeed(seed.value, localTenantIds[0]);
  const saved = {
    adaptive: { continuationToken: mark('continuationToken'), etag: mark('etag'), deliverySessionId: null },
    improvement: { improvementRunId: mark('improvementRunId') },
  };
  const requests = routesOf(service).map((route) => exampleRequest(route, fixtures, saved));
  const setup = [
    `TOKEN=$(${tokenCommand(localTenantIds[0], undefined, claimsOf(requests))} | tail -n 1)`,
    "key() { node -p 'crypto.randomUUID()'; } # a new Idempotency-Key for each new write",
  ];
  const sections = requests.map((request) =>
    [
      `## ${request.route.summary}`,
      `\`${request.route.method} ${request.route.path}\`, operation \`${request.route.operationId}\``,
      block('sh', curl(request)),
      block('ts', typeScript(request)),
      block('python', python(request)),
    ].join('\n\n'),
  );
  return [block('sh', setup.join('\n')), ...sections].join('\n\n');
}

function block(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

function curl(request: CallRequest): string {
  const urls = { masteryUrl: `${SNIPPET_ORIGIN}/mastery`, reportsUrl: `${SNIPPET_ORIGIN}/reports` };
  const command = curlOf(request, urls, mark('key'), '$TOKEN').replace(mark('key'), `'"$(key)"'`);
  const filled = variables.reduce(
    (text, name) =>
      text.replaceAll(mark(name), `'"$${name}"'`).replaceAll(encodeURIComponent(mark(name)), `"$${name}"`),
    command,
  );
  return filled.replaceAll(/ (?=-[Hd] )/g, ' \\\n  ');
}

/** The values of a request by name, without the key, which the clients make. */
function inputOf({ path, query }: CallRequest): Readonly<Record<string, unknown>> {
  return { ...path, ...query };
}

function typeScript(request: CallRequest): string {
  const { route, body, ifMatch } = request;
  const input = {
    ...inputOf(request),
    ...(body === undefined ? {} : (JSON.parse(body) as object)),
    ...(ifMatch !== undefined && { ifMatch }),
  };
  const text = JSON.stringify(input, null, 2)
    .replaceAll(/^( +)"(\w+)":/gm, '$1$2:')
    .replaceAll(/"<(\w+)>"/g, '$1');
  return `const { data, etag: newEtag } = await ${route.service}.${route.operationId}(${text});`;
}

function python(request: CallRequest): string {
  const { route, body, ifMatch } = request;
  const package_ = `mastery_reports_client.${route.service}`;
  const tag = snake(/^\/v1\/([^/:]+)/.exec(route.path)?.[1] ?? '');
  const model = modelOf(route.service, route.path, route.method);
  const values = { ...inputOf(request), ...(ifMatch !== undefined && { ifMatch }) };
  const named = Object.entries(values).map(([name, value]) => `${snake(name)}=${literal(value)}`);
  const given = body === undefined ? [] : [`body=${model}.from_dict(${literal(JSON.parse(body))})`];
  return [
    `from ${package_}.api.${tag} import ${snake(route.operationId)}`,
    ...(body === undefined ? [] : [`from ${package_}.models import ${model}`]),
    '',
    `answer = call(${[snake(route.operationId), `client=${route.service}`, ...named, ...given].join(', ')}).parsed`,
  ].join('\n');
}

/** JSON is Python but for three words, which no example has. */
function literal(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll(/"<(\w+)>"/g, (_, name: string) => snake(name))
    .replaceAll(',"', ', "')
    .replaceAll('":', '": ');
}

function snake(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])|-/g, '_').toLowerCase();
}

/** The name of the schema of a route's body, which is that of its class in Python. */
function modelOf(service: ServiceName, path: string, method: string): string {
  const { paths } = renderOpenApi(service, allOpen) as { readonly paths: Record<string, object> };
  const body = JSON.stringify(
    (paths[path] as Record<string, { requestBody?: object }>)[method.toLowerCase()]?.requestBody,
  );
  return /schemas\/(\w+)"/.exec(body)?.[1] ?? '';
}
