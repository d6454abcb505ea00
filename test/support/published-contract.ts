import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { DeploymentName } from '#shared/contract/functions.ts';
import type { Route } from '#shared/contract/route.ts';
import type { GatewayReply } from './gateway-call.ts';
import { createCompiler, type JsonSchema, type Resolve } from './json-schema.ts';

type Json = Readonly<Record<string, unknown>>;

/** An OpenAPI document as clients read it. */
export interface PublishedDocument {
  /** A member by its path, through references. */
  readonly at: (place: unknown, ...steps: readonly string[]) => Json;
  readonly operation: (route: Pick<Route, 'path' | 'method'>) => Json;
  readonly resolve: Resolve;
  /** What a value refers to, with what stands beside the reference; any other value as it is. */
  readonly resolved: (value: Json | undefined) => Json | undefined;
}

/** Reads a document of `docs/openapi`, and not the code that it was made from. */
export function readPublishedDocument(name: DeploymentName): PublishedDocument {
  const file = new URL(`../../docs/openapi/${name}.json`, import.meta.url);
  const document = JSON.parse(readFileSync(file, 'utf8')) as Json;
  const at = (place: unknown, ...steps: readonly string[]): Json => {
    let current = place;
    for (const step of steps) current = resolved(current as Json | undefined)?.[step];
    return resolved(current as Json | undefined)!;
  };
  const resolve = (reference: string): Json =>
    at(
      document,
      ...reference
        .replace('#/', '')
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
    );
  const resolved = (value: Json | undefined): Json | undefined => {
    const reference = value?.['$ref'];
    if (typeof reference !== 'string') return value;
    // What stands beside a reference restricts it further.
    const { $ref: _, ...beside } = value!;
    return Object.keys(beside).length === 0 ? resolve(reference) : { ...resolve(reference), ...beside };
  };
  return {
    at,
    operation: ({ path, method }) => at(document, 'paths', path, method.toLowerCase()),
    resolve,
    resolved,
  };
}

/** Holds answers against the OpenAPI document that clients read, with its conditions. */
export function openPublishedContract(name: DeploymentName): (route: Route, reply: GatewayReply) => void {
  const { at, operation: operationOf, resolve } = readPublishedDocument(name);
  const compile = createCompiler(resolve);
  return (route, { status, headers, text }) => {
    const operation = operationOf(route);
    expect(operation['operationId']).toBe(route.operationId);
    const answers = at(operation, 'responses');
    expect(Object.keys(answers)).toContain(String(status));
    const answer = at(answers, String(status));
    const content = at(answer, 'content');
    expect(Object.keys(content)).toEqual([headers.get('content-type')]);
    const schema = at(content, headers.get('content-type')!)['schema'] as JsonSchema;
    expect(compile(schema)(JSON.parse(text))).toEqual([]);
    for (const [name, header] of Object.entries((at(answer, 'headers') as Json | undefined) ?? {})) {
      const declared = at({ header }, 'header');
      const value = headers.get(name);
      if (value === null) expect([name, declared['required'] === true]).toEqual([name, false]);
      else {
        const schema = at(declared, 'schema');
        const read = schema['type'] === 'integer' ? Number(value) : value;
        expect([name, ...compile(schema)(read)]).toEqual([name]);
      }
    }
  };
}
