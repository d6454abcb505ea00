type Json = Readonly<Record<string, unknown>>;

/** The part of an OpenAPI document that is read here. */
export interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, Readonly<{ operationId: string; responses: Readonly<Record<string, Json>> }>>>
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

export const LATER_VALUE = 'a_later_value';
const LATER_MEMBER = 'aLaterMember';

/** What a later version may return: every object that has members of known names has one more, and every open enumeration a value of its own. */
export function planted(document: OpenApi, schema: Json, value: unknown): unknown {
  const { $ref, anyOf = [], items, properties, 'x-extensible-enum': values } = schema;
  if (typeof $ref === 'string')
    return planted(document, document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, value);
  if (Array.isArray(value)) {
    const rows = value.map((item) => planted(document, (items ?? {}) as Json, item));
    return schema['uniqueItems'] === true ? [...new Set(rows)] : rows;
  }
  const alternatives = (anyOf as readonly Json[]).map((each) => planted(document, each, value));
  if (!isObject(value))
    return typeof value === 'string' && (values !== undefined || alternatives.includes(LATER_VALUE))
      ? LATER_VALUE
      : value;
  // The one of several forms that has the most enumerations of this object.
  const [known] = alternatives.toSorted((one, other) => countLater(other) - countLater(one));
  if (properties === undefined && known !== undefined) return known;
  const { additionalProperties } = schema;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    planted(
      document,
      ((properties as Json | undefined)?.[name] ?? additionalProperties ?? {}) as Json,
      member,
    ),
  ]);
  return {
    ...Object.fromEntries(members),
    ...(properties !== undefined && { [LATER_MEMBER]: { [LATER_MEMBER]: 1 } }),
  };
}

function countLater(value: unknown): number {
  return JSON.stringify(value).split(LATER_VALUE).length;
}

/** Lists where a decoded answer lacks or changes what the answer had. Members that a later version has added may be lost. */
export function lost(answer: unknown, decoded: unknown, place = ''): readonly string[] {
  if (Array.isArray(answer) && Array.isArray(decoded) && answer.length === decoded.length)
    return answer.flatMap((item, at) => lost(item, decoded[at], `${place}/${at}`));
  if (isObject(answer) && isObject(decoded))
    return Object.entries(answer)
      .filter(([name]) => name !== LATER_MEMBER)
      .flatMap(([name, member]) => lost(member, decoded[name], `${place}/${name}`));
  return isSame(answer, decoded)
    ? []
    : [`${place}: ${JSON.stringify(answer)} became ${JSON.stringify(decoded)}`];
}

/** Compares instants as such, since clients write them in forms of their own. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  const [first, second] = [one, other].map((value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : NaN,
  );
  return first === second;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
