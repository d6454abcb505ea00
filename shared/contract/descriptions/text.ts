/**
 * The form of the texts in this folder. They are for client developers: what a field means, its unit and range, when it is null or absent, and
 * where its value comes from. Only `shared/openapi` reads them, so no function's bundle contains them.
 */

/** A text, and the meaning of each value that the field can have. */
export interface ValueText<V extends string = string> {
  readonly text: string;
  readonly values: Readonly<Record<V, string>>;
}

/** The text of one field or parameter. An enumeration needs the meaning of each value, unless it is a component of its own. */
export type Text<T = string> = string | ([T] extends [string] ? ValueText<T> : never);

/** The texts of an object: its own, and one for each of its fields. */
export interface ObjectText<T = Readonly<Record<string, string>>> {
  readonly about: string;
  readonly fields: { readonly [Field in keyof T]-?: Text<Value<T[Field]>> };
}

/** The texts of one document: of components by their ids, of path and query parameters by name or by `operationId.name`. */
export interface Descriptions {
  readonly schemas: Readonly<Record<string, Text | ObjectText>>;
  readonly parameters: Readonly<Record<string, Text>>;
}

/** The texts of components by their ids: `Components` maps each id to the type of its values. */
export type SchemaTexts<Components> = {
  readonly [Id in keyof Components]: [Components[Id]] extends [object]
    ? ObjectText<Components[Id]>
    : Text<Components[Id]>;
};

/** What a field holds besides null: itself, or what its list contains. */
type Value<T> = NonNullable<T> extends readonly (infer Element)[] ? Element : NonNullable<T>;
