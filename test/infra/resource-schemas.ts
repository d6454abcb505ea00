import { isDeepStrictEqual } from 'node:util';
import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';

/*
 * Which change of a property makes CloudFormation replace a resource, by the resource schemas that AWS publishes. The synth itself
 * validates templates against them (nag.test.ts).
 */

const database = loadAwsServiceSpecSync();
type Schema = Pick<
  ReturnType<typeof database.all<'resource'>>[number],
  'properties' | 'primaryIdentifier' | 'additionalReplacementProperties'
>;
type Properties = Schema['properties'];

const schemas = new Map<string, Schema>(
  database.all('resource').map((schema) => [schema.cloudFormationType, schema]),
);

type Fields = Readonly<Record<string, unknown>>;

/** A resource of a template, as far as its schema is concerned. */
export interface DeclaredResource {
  readonly Type: string;
  readonly Properties?: Fields;
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
