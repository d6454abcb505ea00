/**
 * The form of the texts in this folder. They are for client developers: a field's meaning, unit and range, when it is null or absent, and where its
 * value comes from. Only `shared/openapi` reads them, so no function's bundle contains them.
 */
import type * as z from 'zod';
import type { Route } from '#shared/contract/route.ts';

/** A text, and the meaning of each value that the field can have. */
export interface ValueText<V extends string = string> {
  readonly text: string;
  readonly values: Readonly<Record<V, string>>;
}

/** The text of one field or parameter. An enumeration needs the meaning of each value, unless it is a component of its own. */
export type Text<T = string> = string | ([T] extends [string] ? ValueText<T> : never);

/** The texts of an object: its own, and one per field. */
export interface ObjectText<T = Readonly<Record<string, string>>> {
  readonly about: string;
  readonly fields: { readonly [Field in keyof T]-?: Text<Value<T[Field]>> };
}

/** A schema that the documents show under a name of its own, and its texts. */
export interface Component {
  readonly schema: z.ZodType;
  readonly text: Text | ObjectText;
}

/**
 * Makes a component: its name in the documents and in generated clients is the key of its entry.
 * @param text complete: a field without a text does not compile. A choice of components has no fields of its own.
 */
export function component<S extends z.ZodType>(schema: S, text: TextOf<S>): Component {
  // SAFETY: the texts of the schema's own fields are texts.
  return { schema, text: text as Text | ObjectText };
}

type TextOf<S extends z.ZodType> = S extends z.ZodUnion
  ? string
  : [z.output<S>] extends [object]
    ? ObjectText<z.output<S>>
    : Text<z.output<S>>;

/** Routes by their operation ids. */
type Rows = Readonly<Record<string, Route>>;

type Parameters<R extends Route> = R['request']['path']['shape'] & R['request']['query']['shape'];

/** The texts of the path and query parameters of each route that has any. */
export type ParameterTexts<R extends Rows> = {
  readonly [Id in keyof R as keyof Parameters<R[Id]> extends never ? never : Id]: {
    readonly [Name in keyof Parameters<R[Id]>]-?: Text<Value<z.output<Parameters<R[Id]>[Name]>>>;
  };
};

/** The resource of a path: `/v1/adaptive-runs:inspect` belongs with `/v1/adaptive-runs`. */
export type TagOf<Path extends string> = Path extends `/v1/${infer Rest}`
  ? Rest extends `${infer Segment}/${string}`
    ? TagOf<`/v1/${Segment}`>
    : Rest extends `${infer Name}:${string}`
      ? Name
      : Rest
  : never;

/** The texts about the operations of each resource, by the first segment of their paths. */
export type TagTexts<R extends Rows> = Readonly<Record<TagOf<R[keyof R]['path']>, string>>;

/** The texts of one document. */
export interface Descriptions {
  readonly components: Readonly<Record<string, Component>>;
  /** By operation id and name. */
  readonly parameters: Readonly<Record<string, Readonly<Record<string, Text>>>>;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a field contains if it is not null: itself, or the elements of its list. */
type Value<T> = NonNullable<T> extends readonly (infer Element)[] ? Element : NonNullable<T>;
