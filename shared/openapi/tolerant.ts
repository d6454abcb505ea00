import { extensible } from './describe.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns a document for generators of clients. It admits what the strict one admits, and what a later version may return:
 * - an enumeration that may gain values becomes `anyOf` itself and any string, since generators make a closed type of an `enum`;
 * - conditions (`if`) are left out, since generators lose a model that has one. The service still checks those of requests;
 * - a problem is the service's whole envelope, without what narrows it to a status;
 * - a number is a `double`, since oapi-codegen takes 32 bits without a format;
 * - a schema that repeats what it refers to has no reference, since openapi-generator makes no type of it with one;
 * - links are left out: clients have none, and swagger-parser refuses a body that contains expressions.
 */
export function tolerant(document: object): object {
  return relax(document) as object;
}

/** Members whose values are no schemas, however they look. */
const data: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'const', 'enum', extensible]);

function relax(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relax);
  if (!isObject(value)) return value;
  const { links: _, $ref, ...others } = value;
  if ($ref !== undefined && others['type'] === undefined) return value;
  const relaxed = mapValues(others, (member, name) => {
    if (name === 'properties' && isObject(member)) return mapValues(member, relax);
    return data.has(name) ? member : relax(member);
  });
  const schema = withAnyValue(withoutConditions(relaxed));
  return [schema['type']].flat().includes('number') ? { ...schema, format: 'double' } : schema;
}

function withAnyValue(schema: Json): Json {
  const { description, anyOf, ...enumeration } = schema;
  if (extensible in schema)
    return {
      ...(description === undefined ? {} : { description }),
      anyOf: [enumeration, { type: 'string' }],
    };
  if (!Array.isArray(anyOf)) return schema;
  // An enumeration that may be null has one list of alternatives, not one in another.
  return { ...schema, anyOf: anyOf.flatMap((one: Json) => (isUnion(one) ? one.anyOf : [one])) };
}

function isUnion(schema: Json): schema is { readonly anyOf: readonly Json[] } {
  return Object.keys(schema).join() === 'anyOf';
}

/** Returns a schema without its conditions. In a problem response the reference to the envelope remains. */
function withoutConditions({ allOf, ...schema }: Json): Json {
  if (!Array.isArray(allOf)) return schema;
  return { ...schema, ...(allOf as readonly Json[]).find((one) => '$ref' in one) };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(object: Json, map: (value: unknown, name: string) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)]));
}
