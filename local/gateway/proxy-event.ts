import type { APIGatewayProxyEvent } from 'aws-lambda';

export interface IncomingRequest {
  readonly method: string;
  /** Path and query as in the request line. */
  readonly target: string;
  /** Names and values in turn, in the order and spelling in which they arrived. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly sourceIp: string;
}

/** The members of the matched row that an event has. */
export interface MatchedTemplate {
  readonly route: { readonly path: string };
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** What the gateway adds to the request. */
interface EventContext {
  readonly requestId: string;
  readonly stage: string;
  /** Epoch milliseconds at which the request arrived. */
  readonly receivedAt: number;
}

/** The part of a request target before the query; an absolute-form target loses its origin. */
export function rawPathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
}

/**
 * The event that a REST API (payload version 1.0) hands to a proxy integration: path parameters percent-encoded, query decoded with `+`
 * as a space, every repeated name in full only in the `multiValue…` members (the last one wins in the plain ones), the base path in
 * `path`, and null where there is nothing.
 */
export function toProxyEvent(
  request: IncomingRequest,
  match: MatchedTemplate,
  context: EventContext,
): APIGatewayProxyEvent {
  const headers = readHeaders(request.rawHeaders);
  const query = readQuery(request.target);
  const path = rawPathOf(request.target);
  const host = lastOf(headers, 'host') ?? '';
  return {
    resource: match.route.path,
    path,
    httpMethod: request.method,
    headers: lastValues(headers) ?? {},
    multiValueHeaders: allValues(headers) ?? {},
    queryStringParameters: lastValues(query),
    multiValueQueryStringParameters: allValues(query),
    pathParameters: Object.keys(match.pathParameters).length === 0 ? null : { ...match.pathParameters },
    stageVariables: null,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      authorizer: undefined,
      domainName: host,
      domainPrefix: host.split('.')[0] ?? '',
      extendedRequestId: context.requestId,
      httpMethod: request.method,
      identity: {
        accessKey: null,
        accountId: null,
        apiKey: null,
        apiKeyId: null,
        caller: null,
        clientCert: null,
        cognitoAuthenticationProvider: null,
        cognitoAuthenticationType: null,
        cognitoIdentityId: null,
        cognitoIdentityPoolId: null,
        principalOrgId: null,
        sourceIp: request.sourceIp,
        user: null,
        userAgent: lastOf(headers, 'user-agent') ?? null,
        userArn: null,
      },
      path,
      protocol: 'HTTP/1.1',
      requestId: context.requestId,
      requestTime: commonLogTime(context.receivedAt),
      requestTimeEpoch: context.receivedAt,
      resourceId: 'local',
      resourcePath: match.route.path,
      stage: context.stage,
    },
    body: request.body.length === 0 ? null : request.body.toString('utf8'),
    isBase64Encoded: false,
  };
}

/** A name as first spelled, with all its values. */
type Fields = ReadonlyMap<string, { readonly name: string; readonly values: readonly string[] }>;

function collect(pairs: readonly (readonly [string, string])[], keyOf: (name: string) => string): Fields {
  const fields = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const [name, value] of pairs) {
    const field = fields.get(keyOf(name));
    if (field === undefined) fields.set(keyOf(name), { name, values: [value] });
    else field.values.push(value);
  }
  return fields;
}

/** Names that differ only in case are one header. */
function readHeaders(rawHeaders: readonly string[]): Fields {
  const pairs: [string, string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  }
  return collect(pairs, (name) => name.toLowerCase());
}

function readQuery(target: string): Fields {
  const at = target.indexOf('?');
  const text = at === -1 ? '' : target.slice(at + 1).replace(/#.*$/s, '');
  const pairs = text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair): [string, string] => {
      const equals = pair.indexOf('=');
      return equals === -1
        ? [decodeQuery(pair), '']
        : [decodeQuery(pair.slice(0, equals)), decodeQuery(pair.slice(equals + 1))];
    });
  return collect(pairs, (name) => name);
}

/** A malformed escape stays as it is: the function then sees, and refuses, what the caller sent. */
function decodeQuery(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

function lastValues(fields: Fields): Record<string, string> | null {
  if (fields.size === 0) return null;
  return Object.fromEntries([...fields.values()].map(({ name, values }) => [name, values.at(-1) ?? '']));
}

function allValues(fields: Fields): Record<string, string[]> | null {
  if (fields.size === 0) return null;
  return Object.fromEntries([...fields.values()].map(({ name, values }) => [name, [...values]]));
}

function lastOf(fields: Fields, name: string): string | undefined {
  return fields.get(name)?.values.at(-1);
}

/** `10/Oct/2000:13:55:36 +0000`, the form of the Common Log Format. */
function commonLogTime(milliseconds: number): string {
  const [, day = '', month = '', year = '', time = ''] =
    /^\w+, (\d+) (\w+) (\d+) ([\d:]+) GMT$/.exec(new Date(milliseconds).toUTCString()) ?? [];
  return `${day}/${month}/${year}:${time} +0000`;
}
