import { extensible } from './describe.ts';

type Json = Readonly<Record<string, unknown>>;
/** The components of a document. */
type Named = Readonly<Record<string, Json>>;

/**
 * Returns a document for generators of clients. It admits what the strict one admits, and what a later version may return:
 * - an enumeration that may gain values becomes `anyOf` itself and any string, since generators make a closed type of an `enum`;
 * - conditions (`if`) are left out, since generators lose a model that has one. The service still checks those of requests;
 * - a problem is the service's whole envelope, without what narrows it to a status;
 * - constants as the alternatives of a type are left out, since openapi-python-client admits only the first;
 * - objects as alternatives become one with the members of all, since openapi-generator for Java takes the first and drops the members of the others;
 * - a number is a `double`, since oapi-codegen takes 32 bits without a format;
 * - a schema that repeats what it refers to has no reference, since openapi-generator makes no type of it with one;
 * - links are left out: clients have none, and swagger-parser refuses a body that contains expressions.
 */
export function tolerant(document: object): object {
  // SAFETY: what a rendered document has.
  const { components } = document as OpenApi;
  const relaxed = relax(document, components?.schemas ?? {}) as OpenApi;
  return withoutUnused(relaxed, JSON.stringify(document));
}

interface OpenApi {
  readonly components?: { readonly schemas?: Named };
}

/**
 * Returns a document without the schemas to which nothing refers any more, such as alternatives that have become one object.
 * @param strict the text of the document before
 */
function withoutUnused(document: OpenApi, strict: string): OpenApi {
  const { components } = document;
  const text = JSON.stringify(document);
  const schemas = Object.entries(components?.schemas ?? {});
  const used = schemas.filter(([name]) => {
    const reference = `"#/components/schemas/${name}"`;
    return text.includes(reference) || !strict.includes(reference);
  });
  if (used.length === schemas.length) return document;
  return withoutUnused(
    { ...document, components: { ...components, schemas: Object.fromEntries(used) } },
    strict,
  );
}

/** Members whose values are no schemas, however they look. */
const data: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'const', 'enum', extensible]);

function relax(value: unknown, schemas: Named): unknown {
  const inner = (member: unknown): unknown => relax(member, schemas);
  if (Array.isArray(value)) return value.map(inner);
  if (!isObject(value)) return value;
  const { links: _, $ref, ...others } = withOneObject(value, schemas);
  if ($ref !== undefined && others['type'] === undefined) return value;
  const relaxed = mapValues(others, (member, name) => {
    if (name === 'properties' && isObject(member)) return mapValues(member, inner);
    return data.has(name) ? member : inner(member);
  });
  const schema = withAnyValue(withoutConditions(relaxed), schemas);
  return [schema['type']].flat().includes('number') ? { ...schema, format: 'double' } : schema;
}

function withAnyValue(schema: Json, schemas: Named): Json {
  const { anyOf, ...withoutAlternatives } = schema;
  const { description, ...enumeration } = withoutAlternatives;
  if (extensible in schema)
    return {
      ...(description === undefined ? {} : { description }),
      anyOf: [enumeration, { type: 'string' }],
    };
  if (!Array.isArray(anyOf)) return schema;
  if (schema['type'] !== undefined && anyOf.every((one: Json) => 'const' in one)) return withoutAlternatives;
  return { ...schema, anyOf: anyOf.flatMap((one: Json) => alternativesOf(one, schemas)) };
}

/** Requests have no such alternatives: theirs would be closed, and stay apart. */
function withOneObject(schema: Json, schemas: Named): Json {
  const { anyOf, ...others } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const objects = anyOf.map((one: Json) => resolved(one, schemas));
  if (!objects.every((one) => isObject(one['properties']) && one['additionalProperties'] !== false))
    return schema;
  const properties: Record<string, Json> = {};
  for (const [name, member] of objects.flatMap(({ properties: own }) => Object.entries(own as Named)))
    properties[name] = eitherOf(properties[name] ?? member, member);
  const required = Object.keys(properties).filter((name) =>
    objects.every((one) => (one['required'] as readonly string[] | undefined)?.includes(name)),
  );
  return { type: 'object', ...others, properties, required };
}

/** Returns what a member is in one object or in another. Enumerations that may gain values become one, without the text that explains the values of one. */
function eitherOf(one: Json, other: Json): Json {
  if (JSON.stringify(one) === JSON.stringify(other)) return one;
  if (!(extensible in one && extensible in other)) return { anyOf: [one, other] };
  const values = [...(one[extensible] as readonly string[]), ...(other[extensible] as readonly string[])];
  // SAFETY: a description is text.
  const [description] = (one['description'] as string | undefined)?.split('\n') ?? [];
  return { ...one, description, enum: values, [extensible]: values };
}

/** An enumeration that may be null has one list of alternatives, not one in another, for which clients of openapi-generator refuse null. */
function alternativesOf(one: Json, schemas: Named): readonly Json[] {
  const { $ref, anyOf } = one;
  const { description: _, ...named } = resolved(one, schemas);
  if ($ref !== undefined && extensible in named) return [named, { type: 'string' }];
  return Array.isArray(anyOf) && Object.keys(one).length === 1 ? (anyOf as readonly Json[]) : [one];
}

/** Returns the schema that a schema refers to, or itself. */
function resolved(schema: Json, schemas: Named): Json {
  const { $ref } = schema;
  return typeof $ref === 'string' ? (schemas[$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
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
