import { preflightHeaders } from '#shared/contract/cors.ts';

/**
 * The `OPTIONS` method of a path: the gateway itself responds to preflight requests. It names the first allowed origin unless the request
 * came from another allowed one, as the CDK's own preflight does; a browser refuses a response that names another origin than the page's.
 * @param methods those of the path, upper case
 * @param allowedOrigins at least one
 */
export function preflight(
  methods: readonly string[],
  [first, ...others]: readonly [string, ...string[]],
): Readonly<Record<string, unknown>> {
  const headers = Object.entries(preflightHeaders(methods, first));
  return {
    responses: {
      '204': {
        description: 'The methods and headers that a web page may send',
        headers: Object.fromEntries(headers.map(([name]) => [name, { schema: { type: 'string' } }])),
      },
    },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      requestTemplates: { 'application/json': '{"statusCode": 200}' },
      // A preflight request has no media type; any other is the gateway's problem about media types, and no failure.
      passthroughBehavior: 'never',
      responses: {
        default: {
          statusCode: '204',
          responseParameters: Object.fromEntries(
            headers.map(([name, value]) => [`method.response.header.${name}`, `'${value}'`]),
          ),
          ...(others.length === 0 ? {} : { responseTemplates: { 'application/json': template(others) } }),
        },
      },
    },
  };
}

/** Names the request's own origin if it is one of these. */
function template(origins: readonly string[]): string {
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
