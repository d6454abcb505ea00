import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import * as z from 'zod';
import type { DeploymentName } from '#shared/contract/functions.ts';
import type { Route } from '#shared/contract/route.ts';
import type { GatewayReply } from './gateway-call.ts';

type Json = Readonly<Record<string, unknown>>;

/** Holds answers against the OpenAPI document that clients read, and not against the code that it was made from. */
export function openPublishedContract(name: DeploymentName): (route: Route, reply: GatewayReply) => void {
  const file = new URL(`../../docs/openapi/${name}.json`, import.meta.url);
  const document = JSON.parse(readFileSync(file, 'utf8')) as Json;

  const at = (place: unknown, ...steps: readonly string[]): Json => {
    let current = place;
    for (const step of steps) current = (current as Json | undefined)?.[step];
    const reference = (current as Json | undefined)?.['$ref'];
    return typeof reference === 'string'
      ? at(document, ...reference.replace('#/', '').split('/'))
      : (current as Json);
  };
  const definitions = inJsonSchemaPlaces(at(document, 'components', 'schemas')) as Json;
  const known = new WeakMap<Json, z.ZodType>();
  const schemaOf = (schema: Json): z.ZodType => {
    const found =
      known.get(schema) ??
      // SAFETY: the document is OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
      z.fromJSONSchema({
        ...(inJsonSchemaPlaces(schema) as Json),
        $defs: definitions,
      } as Parameters<typeof z.fromJSONSchema>[0]);
    known.set(schema, found);
    return found;
  };

  return ({ operationId, path, method }, { status, headers, text }) => {
    const operation = at(document, 'paths', path, method.toLowerCase());
    expect(operation['operationId']).toBe(operationId);
    const answers = at(operation, 'responses');
    expect(Object.keys(answers)).toContain(String(status));
    const answer = at(answers, String(status));
    const content = at(answer, 'content');
    expect(Object.keys(content)).toEqual([headers.get('content-type')]);
    const schema = (content[headers.get('content-type')!] as Json)['schema'] as Json;
    const parsed = schemaOf(schema).safeParse(JSON.parse(text));
    expect(parsed.error?.issues ?? []).toEqual([]);
    for (const [name, header] of Object.entries((at(answer, 'headers') as Json | undefined) ?? {})) {
      const declared = at({ header }, 'header');
      const value = headers.get(name);
      if (value === null) expect([name, declared['required'] === true]).toEqual([name, false]);
      else {
        const schema = declared['schema'] as Json;
        const read = schemaOf(schema).safeParse(schema['type'] === 'integer' ? Number(value) : value);
        expect([name, read.error?.issues]).toEqual([name, undefined]);
      }
    }
  };
}

/**
 * References to where JSON Schema keeps definitions. Conditions are left out, which Zod does not read: shared/openapi/lint.slow.test.ts holds
 * examples to them.
 */
function inJsonSchemaPlaces(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inJsonSchemaPlaces);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (name === 'if' || name === 'then' || name === 'else') return [];
    if (name === '$ref') return [[name, String(member).replace('#/components/schemas/', '#/$defs/')]];
    return [[name, inJsonSchemaPlaces(member)]];
  });
  return Object.fromEntries(entries) as unknown;
}
