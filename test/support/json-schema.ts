import { isDeepStrictEqual } from 'node:util';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';

/** A schema of JSON Schema 2020-12, as far as the published documents use it. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** Gives the schema of a reference. */
export type Resolve = (reference: string) => JsonSchema;

/** What a value breaks: JSON Pointers below the one that is given, each with the keyword; nothing where the schema admits the value. */
export type Validate = (value: unknown, at?: string) => readonly string[];

/**
 * Compiles schemas, each once. Written from the standard, without Zod, which the documents are made by, and strict: lengths are counted in
 * characters, `format` is an annotation, and a keyword that is not implemented throws. `x-max-bytes` is the documents' own: the most bytes of
 * a text in UTF-8.
 */
export function createCompiler(resolve: Resolve): (schema: JsonSchema) => Validate {
  const compiled = new Map<unknown, Validate>();
  // SAFETY: where a schema stands, a document has one.
  const compile = (schema: unknown): Validate => {
    const found = compiled.get(schema) ?? validateBy(schema as JsonSchema, { resolve, compile });
    compiled.set(schema, found);
    return found;
  };
  return compile;
}

function validateBy(schema: JsonSchema, context: Omit<Context, 'schema'>): Validate {
  if (typeof schema === 'boolean') return (_, at = '') => (schema ? [] : [`${at} false`]);
  const tests = Object.entries(schema).flatMap(([name, of]): readonly (readonly [string, Test])[] => {
    if (ANNOTATION.test(name)) return [];
    const keyword = keywords[name];
    if (keyword === undefined) throw new Error(`the keyword ${name} is not implemented`);
    return [[name, keyword(of as never, { ...context, schema })]];
  });
  // Large reports have many values, nearly all of them sound.
  return (value, at = '') => {
    let defects = NONE;
    for (const [name, test] of tests) {
      const found = test(value, at);
      if (found === true) continue;
      if (found === false) defects = [...defects, `${at} ${name}`];
      else if (found.length > 0) defects = [...defects, ...found];
    }
    return defects;
  };
}

const NONE: readonly string[] = [];

const ANNOTATION = /^(?:title|description|examples?|default|format|then|else|x-(?!max-bytes).*)$/;

interface Context {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly resolve: Resolve;
  readonly compile: (schema: unknown) => Validate;
}
type Test = (value: unknown, at: string) => boolean | readonly string[];
type Keyword = (of: never, context: Context) => Test;

/** A keyword of texts, numbers, lists or objects says nothing of other values. */
const ofText =
  (holds: (text: string) => boolean): Test =>
  (value) =>
    typeof value !== 'string' || holds(value);
const ofNumber =
  (holds: (number: number) => boolean): Test =>
  (value) =>
    typeof value !== 'number' || holds(value);
const ofList =
  (holds: (list: readonly unknown[], at: string) => ReturnType<Test>): Test =>
  (value, at) =>
    !Array.isArray(value) || holds(value, at);
const ofObject =
  (holds: (members: Readonly<Record<string, unknown>>, at: string) => ReturnType<Test>): Test =>
  (value, at) =>
    // SAFETY: checked to be an object.
    typeOf(value) !== 'object' || holds(value as Readonly<Record<string, unknown>>, at);

const keywords: Readonly<Record<string, Keyword>> = {
  $ref: (of: string, { resolve, compile }) => {
    let validate: Validate | undefined;
    return (value, at) => (validate ??= compile(resolve(of)))(value, at);
  },
  type: (of: string | readonly string[]) => (value) =>
    [of].flat().some((type) => type === typeOf(value) || (type === 'integer' && Number.isInteger(value))),
  const: (of) => (value) => isDeepStrictEqual(of, value),
  enum: (of: readonly unknown[]) => (value) =>
    of.includes(value) || of.some((one) => isDeepStrictEqual(one, value)),
  minLength: (of) => ofText((text) => Array.from(text).length >= of),
  maxLength: (of) => ofText((text) => text.length <= of || Array.from(text).length <= of),
  pattern: (of) => {
    const pattern = new RegExp(of, 'u');
    return ofText((text) => pattern.test(text));
  },
  'x-max-bytes': (of) => ofText((text) => Buffer.byteLength(text) <= of),
  minimum: (of) => ofNumber((number) => number >= of),
  maximum: (of) => ofNumber((number) => number <= of),
  exclusiveMinimum: (of) => ofNumber((number) => number > of),
  minItems: (of) => ofList(({ length }) => length >= of),
  maxItems: (of) => ofList(({ length }) => length <= of),
  uniqueItems: (of) =>
    ofList((list) => of === false || new Set(list.map(canonicalJson)).size === list.length),
  items: (of, { compile }) => {
    const validate = compile(of);
    return ofList((list, at) => list.flatMap((one, index) => validate(one, `${at}/${index}`)));
  },
  minProperties: (of) => ofObject((members) => Object.keys(members).length >= of),
  maxProperties: (of) => ofObject((members) => Object.keys(members).length <= of),
  required: (of: readonly string[]) =>
    ofObject((members) => of.every((name) => Object.hasOwn(members, name))),
  properties: (of: Readonly<Record<string, unknown>>, { compile }) => {
    const parts = Object.entries(of).map(([name, part]) => [name, compile(part)] as const);
    return ofObject((members, at) =>
      parts.flatMap(([name, validate]) =>
        Object.hasOwn(members, name) ? validate(members[name], `${at}/${name}`) : NONE,
      ),
    );
  },
  propertyNames: (of, { compile }) => {
    const validate = compile(of);
    return ofObject((members, at) => Object.keys(members).flatMap((name) => validate(name, at)));
  },
  additionalProperties: (of, { compile, schema }) => {
    const validate = compile(of);
    const stated = schema['properties'] ?? {};
    return ofObject((members, at) =>
      Object.entries(members).flatMap(([name, member]) =>
        Object.hasOwn(stated, name) ? [] : validate(member, `${at}/${name}`),
      ),
    );
  },
  allOf: (of: readonly unknown[], { compile }) => {
    const all = of.map(compile);
    return (value, at) => all.flatMap((validate) => validate(value, at));
  },
  anyOf: (of: readonly unknown[], { compile }) => {
    const any = of.map(compile);
    return (value) => any.some((validate) => validate(value).length === 0);
  },
  oneOf: (of: readonly unknown[], { compile }) => {
    const all = of.map(compile);
    return (value) => all.filter((validate) => validate(value).length === 0).length === 1;
  },
  not: (of, { compile }) => {
    const validate = compile(of);
    return (value) => validate(value).length > 0;
  },
  if: (of, { compile, schema }) => {
    const [condition, then, otherwise] = [of, schema['then'] ?? true, schema['else'] ?? true].map(compile);
    return (value, at) => (condition!(value).length === 0 ? then! : otherwise!)(value, at);
  },
};

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
