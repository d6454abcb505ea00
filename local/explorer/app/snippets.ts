import { masteryOperations } from '#client/generated/mastery.ts';
import { reportsOperations } from '#client/generated/reports.ts';
import { sandboxOperations } from '#client/generated/sandbox.ts';
import type { OperationTable } from '#client/operations.ts';
import type { Exchange } from './exchanges.ts';

const operations: Readonly<Record<string, OperationTable>> = {
  mastery: masteryOperations,
  reports: reportsOperations,
  sandbox: sandboxOperations,
};

/** Headers that a client sets by itself. */
const ownHeaders = new Set(['authorization', 'content-type', 'idempotency-key', 'if-match']);

/** Returns the exchange as a command; the token is a variable, for it is a secret. */
export function curlCommand({ method, url, requestHeaders, requestBody }: Exchange): string {
  const parts = [
    `curl -sS ${shellWord(url)}`,
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...requestHeaders
      .filter(([name]) => ownHeaders.has(name))
      .map(([name, value]) =>
        name === 'authorization'
          ? '-H "Authorization: Bearer $TOKEN"'
          : `-H ${shellWord(`${name}: ${value}`)}`,
      ),
    ...(requestBody === undefined ? [] : [`-d ${shellWord(requestBody)}`]),
  ];
  return parts.join(' \\\n  ');
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function clientCode({ method, url, requestHeaders, requestBody }: Exchange): string {
  const { origin, pathname, searchParams } = new URL(url);
  const base = pathname.slice(0, pathname.indexOf('/v1'));
  const path = pathname.slice(base.length);
  const service = base.split('/').at(-1) ?? '';
  const table = operations[service] ?? {};
  for (const [name, operation] of Object.entries(table)) {
    const match = operation.method === method ? matchTemplate(operation.path, path) : undefined;
    if (match === undefined) continue;
    const ifMatch = requestHeaders.find(([header]) => header === 'if-match')?.[1];
    const input = {
      ...match,
      ...Object.fromEntries(searchParams),
      ...(requestBody === undefined ? {} : (JSON.parse(requestBody) as object)),
      ...(ifMatch === undefined ? {} : { ifMatch }),
    };
    const create = `create${service.charAt(0).toUpperCase()}${service.slice(1)}Client`;
    return [
      `import { ${create} } from 'mastery-reports-client';`,
      '',
      `const client = ${create}({ baseUrl: ${JSON.stringify(origin + base)}${service === 'sandbox' ? '' : ', token: process.env.TOKEN'} });`,
      `const { data } = await client.${name}(${JSON.stringify(input, null, 2)});`,
    ].join('\n');
  }
  return `// no operation of the client has the path ${path}`;
}

/** Returns the path parameters, decoded; undefined when the path is of another template. */
function matchTemplate(template: string, path: string): Record<string, string> | undefined {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const pattern = template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '([^/]+)');
  const match = new RegExp(`^${pattern}$`).exec(path);
  return match === null
    ? undefined
    : Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(match[at + 1] ?? '')]));
}
