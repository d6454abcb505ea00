import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Route } from '#shared/contract/route.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import type { InvalidParam, Problem } from '#shared/problems/problem.ts';
import { bodySize, parseBody } from './body.ts';
import { readHeaders, readIfMatch, readOne, type Headers } from './headers.ts';
import { invalid, invalidParamsOf, type RequestPart } from './issues.ts';
import { readPath, readQuery } from './parameters.ts';

/** A request that matches its route's row. */
export interface CheckedRequest {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** The path parameters as decoded, before any schema changed them: for the canonical path. */
  readonly pathTexts: Readonly<Record<string, string>>;
  /** The JSON value as sent: for idempotency records of earlier versions. Undefined if the route takes none. */
  readonly sentBody: unknown;
  readonly idempotencyKey: string | undefined;
  readonly ifMatch: string | undefined;
}

const MAX_FINDINGS = 100;

/**
 * Checks path, query, headers and body of an event against the route's row and lists all faults together. A 413 precedes parsing, or all other faults
 * of the parsed body; for reports an unknown query name takes precedence over invalid values [RP-307, MA-187].
 */
export function readRequest(route: Route, event: APIGatewayProxyEvent): Result<CheckedRequest, Problem> {
  const { service, request } = route;
  if (request.body !== undefined && bodySize(event) > request.maxBodyBytes)
    return err(problem(service, 'payload-too-large', 413));

  const headers = readHeaders(event);
  const path = readPath(event.pathParameters);
  const query = readQuery(event, Object.keys(request.query.shape));
  const key = request.idempotencyKey ? readOne(headers, 'idempotency-key') : undefined;
  const body = readBody(route, event, headers);
  if (body.overLimit) return err(problem('mastery', 'simulation-limit-exceeded', 413));

  const checkedPath = check('path', request.path, path.values, path.invalid);
  const checkedQuery = check('query', request.query, query.values, query.invalid);
  const unsupported = [...query.unknown, ...unsupportedSort(route, checkedQuery.invalid)];
  if (service === 'reports' && unsupported.length > 0)
    return err(problem('reports', 'unsupported-parameter', 400, { invalidParams: capped(unsupported) }));

  const findings = [
    ...checkedPath.invalid,
    ...query.unknown,
    ...checkedQuery.invalid,
    ...(key?.ok === false ? [key.error] : []),
    ...body.invalid,
  ];
  if (findings.length > 0) return err(invalidRequest(route, findings));
  return ok({
    path: checkedPath.value,
    query: checkedQuery.value,
    body: body.value,
    pathTexts: path.values,
    sentBody: body.sent,
    idempotencyKey: key?.ok === true ? key.value : undefined,
    ifMatch: request.ifMatch ? readIfMatch(headers) : undefined,
  });
}

function invalidRequest({ service }: Route, findings: readonly InvalidParam[]): Problem {
  const invalidParams = capped(findings);
  return service === 'mastery'
    ? problem('mastery', 'invalid-request', 400, { invalidParams })
    : problem('reports', 'validation', 400, { invalidParams });
}

/** Returns at most 100 entries, each location and reason once [RP-329]. */
function capped(findings: readonly InvalidParam[]): readonly InvalidParam[] {
  const byPlace = new Map(findings.map((finding) => [`${finding.name} ${finding.reason}`, finding]));
  return [...byPlace.values()].slice(0, MAX_FINDINGS);
}

/** Reports an unsupported sort order of the reports service as an unsupported parameter, not as an invalid value [RP-308]. */
function unsupportedSort({ service }: Route, findings: readonly InvalidParam[]): readonly InvalidParam[] {
  return service === 'reports'
    ? findings
        .filter(({ name, reason }) => name === '/query/sort' && reason !== 'repeated')
        .map((finding) => ({ ...finding, reason: 'unsupported-parameter' }))
    : [];
}

interface Checked<T> {
  readonly value: T;
  readonly invalid: readonly InvalidParam[];
}

/** Checks parameters. It does not report an unreadable parameter as missing too. */
function check(
  part: RequestPart,
  schema: Route['request']['query'],
  values: Readonly<Record<string, string>>,
  unreadable: readonly InvalidParam[],
): Checked<Readonly<Record<string, unknown>>> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return { value: parsed.data, invalid: unreadable };
  const named = new Set(unreadable.map(({ name }) => name));
  const refused = invalidParamsOf(part, parsed.error.issues, values).filter(({ name }) => !named.has(name));
  return { value: {}, invalid: [...unreadable, ...refused] };
}

interface ReadBody extends Checked<unknown> {
  readonly sent: unknown;
  /** Whether it exceeds the route's own limit. */
  readonly overLimit: boolean;
}

function readBody({ request }: Route, event: APIGatewayProxyEvent, headers: Headers): ReadBody {
  const none = { value: undefined, sent: undefined, invalid: [], overLimit: false };
  // A list, not arguments: a large body can have more findings than a call takes.
  const refused = (findings: readonly InvalidParam[]): ReadBody => ({ ...none, invalid: findings });
  if (request.body === undefined)
    return bodySize(event) > 0
      ? refused([invalid('body', [], 'not-allowed', 'this operation takes no body')])
      : none;
  const mediaType = readOne(headers, 'content-type');
  if (!mediaType.ok) return refused([mediaType.error]);
  const sent = parseBody(event);
  if (!sent.ok) return refused([sent.error]);
  if (request.limit?.exceededBy(sent.value) === true) return { ...none, overLimit: true };
  const parsed = request.body.safeParse(sent.value);
  return parsed.success
    ? { ...none, value: parsed.data, sent: sent.value }
    : refused(invalidParamsOf('body', parsed.error.issues, sent.value));
}
