import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { requireCheckers } from './openapi-checkers.ts';
import type { Answer, Leak, Passing } from './leaky-proxy.ts';

interface Operation {
  readonly iid?: string;
  readonly method: string;
  readonly path: string;
}
interface Finding {
  readonly message: string;
  readonly path?: readonly string[];
}
/** An `Either` of fp-ts. */
interface Validated {
  readonly left?: readonly Finding[];
}

/** The validator of Prism, which shares no code with the product. */
interface Prism {
  readonly getHttpOperationsFromSpec: (file: string) => Promise<readonly Operation[]>;
  readonly validateInput: (given: { readonly resource: Operation; readonly element: unknown }) => Validated;
  readonly validateOutput: (given: { readonly resource: Operation; readonly element: unknown }) => Validated;
}

/** What went through the validator. */
export interface Traffic {
  /** Operations that have succeeded, as `GET /v1/…`. */
  readonly succeeded: Set<string>;
  /** Where a request or response differs from the document; an invalid request that the service rejects does not. */
  readonly differences: string[];
  /** For a proxy before the service. Changes no request and no response. */
  readonly watch: Leak;
}

/** Validates everything that passes against one of the documents in `docs/openapi`. */
export async function openTraffic(name: 'mastery' | 'reports' | 'sandbox'): Promise<Traffic> {
  const load = requireCheckers();
  // SAFETY: the package's own functions; two of them are not among those that its index exports.
  const prism = {
    ...(load('@stoplight/prism-http') as object),
    ...(load('@stoplight/prism-http/dist/validator') as object),
  } as Prism;
  const document = resolve(import.meta.dirname, '../../docs/openapi', `${name}.json`);
  const operations = await prism.getHttpOperationsFromSpec(document);
  const succeeded = new Set<string>();
  const differences: string[] = [];

  const watch: Leak = async (request, pass) => {
    const answer = await pass(request);
    const { pathname, searchParams } = new URL(request.target, 'http://service.test');
    const resource = operations.find(
      (one) => one.method.toUpperCase() === request.method && matches(one.path, pathname),
    );
    // Anything else has no document: the gateway returns 404.
    if (resource === undefined) {
      if (answer.status !== 404) differences.push(`${request.method} ${pathname}: ${answer.status}`);
      return answer;
    }
    const operation = `${request.method} ${resource.path}`;
    const note = (side: string, { left = [] }: Validated): void => {
      for (const { path = [], message } of left)
        differences.push(`${operation} ${side} ${answer.status} ${path.join('.')}: ${message}`);
    };
    if (answer.status < 400) {
      succeeded.add(operation);
      const url = { path: pathname, query: queryOf(searchParams) };
      note('request', prism.validateInput({ resource, element: { ...elementOf(request), url } }));
    }
    const element = { ...elementOf(answer), statusCode: answer.status };
    note('response', prism.validateOutput({ resource, element }));
    return answer;
  };
  return { succeeded, differences, watch };
}

/** Method and path of every operation of a document. */
export function operationsOf(name: string): readonly string[] {
  const file = join(import.meta.dirname, '../../docs/openapi', `${name}.json`);
  // SAFETY: a document that the project has generated.
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as { readonly paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

function matches(template: string, path: string): boolean {
  const pattern = template.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(path);
}

function elementOf({ method, headers, body }: Partial<Passing> & Pick<Answer, 'headers' | 'body'>): object {
  return {
    ...(method === undefined ? {} : { method: method.toLowerCase() }),
    headers: Object.fromEntries(headers),
    body: body === '' ? undefined : (JSON.parse(body) as unknown),
  };
}

function queryOf(parameters: URLSearchParams): Readonly<Record<string, string | string[]>> {
  const names = new Set(parameters.keys());
  return Object.fromEntries(
    [...names].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
}
