import { Aws } from 'aws-cdk-lib';
import { preflightHeaders } from '#shared/contract/cors.ts';
import type { Route, ServiceName, Transfer } from '#shared/contract/route.ts';
import { gatewayResponses, type GatewayResponse } from '#shared/problems/gateway-responses.ts';
import type { StageConfig } from '#shared/stage/stage.ts';

/** An API's description of one of its methods. The path is a template below the API's stage; `{name}` is one segment. */
export type ServedOperation = Pick<Route, 'operationId' | 'method' | 'summary'> & {
  readonly path: `/${string}`;
  readonly success: Pick<Route['success'], 'status' | 'transfer'>;
};

/**
 * Returns the one body that defines a REST API: OpenAPI 3.0.1 with a proxy integration per operation and the gateway's own responses. It is one body,
 * not a resource per method, since CloudFormation would take the new deployment's snapshot before it removes a closed route. API Gateway deploys no
 * API without a method: without functions the body has one, which rejects every request. With allowed origins every path has `OPTIONS`.
 * @param service the service whose problems the gateway returns itself
 */
export function apiBody(
  title: string,
  service: ServiceName,
  { allowedOrigins = [], problemsUrl }: Pick<StageConfig, 'allowedOrigins' | 'problemsUrl'>,
  functions: readonly {
    readonly operation: ServedOperation;
    readonly function: { readonly functionArn: string };
  }[],
): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { operation, function: called } of functions) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = {
      operationId: operation.operationId,
      ...parameters(operation),
      responses: { [String(operation.success.status)]: { description: operation.summary } },
      'x-amazon-apigateway-integration': {
        type: 'aws_proxy',
        httpMethod: 'POST',
        ...invocation(operation.success.transfer, called.functionArn),
        passthroughBehavior: 'when_no_match',
        timeoutInMillis: 29_000,
      },
    };
  }
  if (allowedOrigins.length > 0) {
    for (const methods of Object.values(paths))
      methods['options'] = preflight(
        Object.keys(methods).map((method) => method.toUpperCase()),
        allowedOrigins,
      );
  }
  const responses = gatewayResponses(service, problemsUrl, allowedOrigins);
  const unknownPath = responses.RESOURCE_NOT_FOUND;
  const isEmpty = functions.length === 0;
  return {
    openapi: '3.0.1',
    info: { title, version: 'v1' },
    paths: isEmpty ? { '/{proxy+}': { 'x-amazon-apigateway-any-method': refusal(unknownPath) } } : paths,
    // A mock integration rejects a body of a type other than JSON before its own response.
    'x-amazon-apigateway-gateway-responses': isEmpty
      ? { ...responses, UNSUPPORTED_MEDIA_TYPE: unknownPath }
      : responses,
  };
}

/** Returns a method that calls no function and returns what the gateway returns for an unknown path. */
function refusal({ statusCode, responseParameters, responseTemplates }: GatewayResponse): object {
  const headers = Object.entries(responseParameters).map(
    ([name, value]) => [name.replace('gatewayresponse.header.', ''), value] as const,
  );
  return {
    ...parameters({ path: '/{proxy+}' }),
    ...mocked(statusCode, 'Nothing is released.', headers, { statusCode }, responseTemplates),
  };
}

/**
 * Returns the `OPTIONS` method of a path: the gateway itself responds to preflight requests. It names the first allowed origin unless the request
 * came from another allowed one, as the CDK's own preflight does; a browser rejects a response that names another origin than the page's.
 * @param methods those of the path, upper case
 * @param allowedOrigins at least one
 */
function preflight(
  methods: readonly string[],
  [first = '', ...others]: readonly string[],
): Readonly<Record<string, unknown>> {
  const headers = Object.entries(preflightHeaders(methods, first)).map(
    ([name, value]) => [name, `'${value}'`] as const,
  );
  return mocked(
    204,
    'The methods and headers that a web page may send',
    headers,
    { statusCode: 200 },
    others.length === 0 ? undefined : { 'application/json': originTemplate(others) },
  );
}

/**
 * Returns the gateway's own response to every request of a method. A request of another media type than JSON gets the gateway's problem about media
 * types.
 * @param request the input of the mock: the status by which it chooses its response
 */
function mocked(
  statusCode: number,
  description: string,
  headers: readonly (readonly [name: string, value: string])[],
  request: { readonly statusCode: number },
  responseTemplates: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, unknown>> {
  return {
    responses: {
      [statusCode]: {
        description,
        headers: Object.fromEntries(headers.map(([name]) => [name, { schema: { type: 'string' } }])),
      },
    },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      passthroughBehavior: 'never',
      requestTemplates: { 'application/json': JSON.stringify(request) },
      responses: {
        default: {
          statusCode: String(statusCode),
          responseParameters: Object.fromEntries(
            headers.map(([name, value]) => [`method.response.header.${name}`, value]),
          ),
          ...(responseTemplates !== undefined && { responseTemplates }),
        },
      },
    },
  };
}

/** Returns the template that names the request's own origin if it is one of these. */
function originTemplate(origins: readonly string[]): string {
  return [
    '#set($origin = $input.params().header.get("Origin"))',
    '#if($origin == "")',
    '  #set($origin = $input.params().header.get("origin"))',
    '#end',
    `#if(${origins.map((origin) => `$origin == "${origin}"`).join(' || ')})`,
    '  #set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)',
    '#end',
  ].join('\n');
}

/** Returns how the gateway calls the function: another operation of Lambda, under the same permission, streams a response. */
function invocation(
  transfer: Transfer,
  functionArn: string,
): { readonly uri: string; readonly responseTransferMode?: 'STREAM' } {
  const service = `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path`;
  return transfer === 'stream'
    ? {
        uri: `${service}/2021-11-15/functions/${functionArn}/response-streaming-invocations`,
        responseTransferMode: 'STREAM',
      }
    : { uri: `${service}/2015-03-31/functions/${functionArn}/invocations` };
}

function parameters({ path }: Pick<ServedOperation, 'path'>): { readonly parameters?: readonly unknown[] } {
  const names = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name);
  return names.length === 0
    ? {}
    : { parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })) };
}
