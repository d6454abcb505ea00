import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { InvalidParam } from '#shared/problems/problem.ts';
import { invalid } from './issues.ts';

/** Parameters by name, and the faults in how they were sent. */
export interface ReadParameters {
  readonly values: Readonly<Record<string, string>>;
  readonly invalid: readonly InvalidParam[];
}

/** Decodes each path parameter exactly once: the gateway passes them percent-encoded, so an encoded slash stays inside its id. */
export function readPath(parameters: APIGatewayProxyEvent['pathParameters']): ReadParameters {
  const values: Record<string, string> = {};
  const wrong: InvalidParam[] = [];
  for (const [name, encoded] of Object.entries(parameters ?? {})) {
    try {
      values[name] = decodeURIComponent(encoded ?? '');
    } catch {
      wrong.push(invalid('path', [name], 'malformed-encoding', 'is not valid percent-encoding'));
    }
  }
  return { values, invalid: wrong };
}

export interface ReadQuery extends ReadParameters {
  /** Names that the route does not declare. */
  readonly unknown: readonly InvalidParam[];
}

/** Reads the query by name. Rejects a repeated name, even if its values agree, and a name that the route does not declare. */
export function readQuery(
  { multiValueQueryStringParameters: all }: Pick<APIGatewayProxyEvent, 'multiValueQueryStringParameters'>,
  known: readonly string[],
): ReadQuery {
  const values: Record<string, string> = {};
  const repeated: InvalidParam[] = [];
  const unknown: InvalidParam[] = [];
  for (const [name, given = []] of Object.entries(all ?? {})) {
    if (!known.includes(name))
      unknown.push(invalid('query', [name], 'unsupported-parameter', 'is not a parameter of this operation'));
    else if (given.length > 1) repeated.push(invalid('query', [name], 'repeated', 'must be sent once'));
    else values[name] = given[0] ?? '';
  }
  return { values, invalid: repeated, unknown };
}
