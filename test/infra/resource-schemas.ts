import { isDeepStrictEqual } from 'node:util';
import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';

/*
 * The resource schemas that AWS publishes, as far as templates need them: what a resource may contain, and which change of a property
 * makes CloudFormation replace it.
 */

const database = loadAwsServiceSpecSync();
type Schema = Pick<
  ReturnType<typeof database.all<'resource'>>[number],
  'properties' | 'primaryIdentifier' | 'additionalReplacementProperties'
>;
type Properties = Schema['properties'];
type PropertyType = Properties[string]['type'];

const schemas = new Map<string, Schema>(
  database.all('resource').map((schema) => [schema.cloudFormationType, schema]),
);

/** The CDK's own custom resources: their properties are the business of the function behind them. */
function isCustom(type: string): boolean {
  return type.startsWith('Custom::') || type === 'AWS::CloudFormation::CustomResource';
}

type Fields = Readonly<Record<string, unknown>>;

/** A resource of a template, as far as its schema is concerned. */
export interface DeclaredResource {
  readonly Type: string;
  readonly Properties?: Fields;
}

/** What the published schemas find wrong in the resources of a template: one line per defect, with its place. */
export function schemaDefects(resources: Readonly<Record<string, DeclaredResource>>): readonly string[] {
  return Object.entries(resources).flatMap(([id, { Type, Properties: fields = {} }]) => {
    if (isCustom(Type)) return [];
    const schema = schemas.get(Type);
    return schema === undefined
      ? [`${id}: unknown resource type ${Type}`]
      : fieldDefects(schema.properties, fields, id);
  });
}

function fieldDefects(properties: Properties, fields: Fields, place: string): readonly string[] {
  const missing = Object.keys(properties).filter(
    (name) => properties[name]?.required === true && fields[name] === undefined,
  );
  return [
    ...missing.map((name) => `${place}: ${name} is required`),
    ...Object.entries(fields).flatMap(([name, value]) => {
      const property = properties[name];
      return property === undefined
        ? [`${place}: unknown property ${name}`]
        : valueDefects(property.type, value, `${place}.${name}`);
    }),
  ];
}

function valueDefects(type: PropertyType, value: unknown, place: string): readonly string[] {
  if (isIntrinsic(value)) return [];
  const expected = (holds: boolean): readonly string[] =>
    holds ? [] : [`${place}: expected ${type.type}, found ${JSON.stringify(value).slice(0, 60)}`];
  switch (type.type) {
    case 'string':
    case 'date-time':
      return expected(typeof value === 'string');
    case 'number':
      return expected(typeof value === 'number');
    case 'integer':
      return expected(Number.isInteger(value));
    case 'boolean':
      return expected(typeof value === 'boolean');
    case 'null':
      return expected(value === null);
    case 'json':
      return expected(typeof value === 'object' || typeof value === 'string');
    case 'tag':
      return expected(isFields(value) && typeof value['Key'] === 'string');
    case 'array':
      return Array.isArray(value)
        ? value.flatMap((entry, index) => valueDefects(type.element, entry, `${place}[${String(index)}]`))
        : expected(false);
    case 'map':
      return isFields(value)
        ? Object.entries(value).flatMap(([name, entry]) =>
            valueDefects(type.element, entry, `${place}.${name}`),
          )
        : expected(false);
    case 'ref':
      return isFields(value)
        ? fieldDefects(database.get('typeDefinition', type.reference).properties, value, place)
        : expected(false);
    case 'union': {
      const found = type.types.map((option) => valueDefects(option, value, place));
      return found.some((defects) => defects.length === 0) ? [] : (found[0] ?? []);
    }
  }
}

/** Whether CloudFormation puts a value of its own in this place. */
function isIntrinsic(value: unknown): boolean {
  if (!isFields(value)) return false;
  const [name, ...others] = Object.keys(value);
  return name !== undefined && others.length === 0 && (name === 'Ref' || name.startsWith('Fn::'));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether a change makes CloudFormation replace the resource. A change that only may replace it counts as one that does.
 * @param before the resolved properties, like `after`
 */
export function isReplaced(type: string, before: Fields, after: Fields): boolean {
  // A custom resource is replaced only if its function returns another id.
  const schema = schemas.get(type);
  if (schema === undefined) return false;
  return (
    replaces(schema.properties, before, after) ||
    (schema.additionalReplacementProperties ?? []).some(
      (path) => !isDeepStrictEqual(valueAt(before, path), valueAt(after, path)),
    )
  );
}

function replaces(properties: Properties, before: Fields, after: Fields): boolean {
  return Object.entries(properties).some(([name, { type, causesReplacement = 'no' }]) => {
    const [old, now] = [before[name], after[name]];
    if (isDeepStrictEqual(old, now)) return false;
    if (causesReplacement !== 'no') return true;
    // A member may be immutable in a property that is not.
    return (
      type.type === 'ref' &&
      isFields(old) &&
      isFields(now) &&
      replaces(database.get('typeDefinition', type.reference).properties, old, now)
    );
  });
}

function valueAt(fields: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isFields(value) ? value[name] : undefined), fields);
}

/** The name that a template gives to a resource, if that is its identity: no second one of its type can have it. */
export function givenName(type: string, properties: Fields): string | undefined {
  const parts = (schemas.get(type)?.primaryIdentifier ?? []).map((name) => properties[name]);
  return parts.length > 0 && parts.every((part) => typeof part === 'string') ? parts.join('|') : undefined;
}
