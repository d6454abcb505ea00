import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Route } from '#shared/contract/route.ts';
import { routes, routesOf } from '#shared/contract/routes.ts';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import { masteryProblem } from '#shared/problems/document.ts';
import { problemRow } from '#shared/problems/registry.ts';
import type { GateName } from '#shared/contract/gates.ts';
import { gatewayResponseTypes, rateLimitedDocument } from '#shared/problems/gateway-responses.ts';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { ResponseType, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Match, Template } from 'aws-cdk-lib/assertions';
import type { ApiName } from '#lib/constructs/api-body.ts';
import {
  deployed,
  deploymentStack,
  ofType,
  serviceOf,
  stage as stageNamed,
  type Deployed,
  type Resource,
  type Synthesized,
} from './deployed.ts';

const template = z.record(z.string(), z.string());
const body = z.object({
  openapi: z.literal('3.0.1'),
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ operationId: z.string().optional() }))),
  'x-amazon-apigateway-gateway-responses': z.record(
    z.string(),
    z.object({ statusCode: z.number(), responseParameters: template, responseTemplates: template }),
  ),
});

const mockIntegration = z.strictObject({
  type: z.string(),
  passthroughBehavior: z.string(),
  requestTemplates: template,
  responses: z.strictObject({ default: z.unknown() }),
});

/** The stack that an API is in. */
function stackOf(of: Deployed, api: ApiName): Synthesized {
  return deploymentStack(of, api === 'receipts' ? 'reports' : api);
}

function apiOf(of: Deployed, name: ApiName): readonly [string, Resource] {
  const found = ofType(stackOf(of, name), 'AWS::ApiGateway::RestApi').find(
    ([, { Properties }]) => Properties['Name'] === `mastery-reports-prod-${name}`,
  );
  if (found === undefined) throw new Error(`no API ${name}`);
  return found;
}

function bodyOf(of: Deployed, name: ApiName): z.infer<typeof body> {
  return body.parse(apiOf(of, name)[1].Properties['Body']);
}

/** The stage of an API. */
function stageOf(of: Deployed, name: ApiName): Resource {
  const [id] = apiOf(of, name);
  const found = ofType(stackOf(of, name), 'AWS::ApiGateway::Stage').find(
    ([, { Properties }]) => JSON.stringify(Properties['RestApiId']) === JSON.stringify({ Ref: id }),
  );
  if (found === undefined) throw new Error(`no stage of the API ${name}`);
  return found[1];
}

/** A route of the reports service that stands behind gates, as the real ones will. */
function probe(operationId: string, gates: Route['gates']): Route {
  const [row] = routes;
  if (row === undefined) throw new Error('the registry is empty');
  return { ...row, service: 'reports', operationId, path: `/v1/${operationId}`, gates };
}

const withProbes = deployed({
  routes: [...routes, probe('probeA', ['A']), probe('probeB', ['A', 'B'])],
  gates: ['A', 'B'],
});

describe.each(['mastery', 'reports'] as const)('the body of %s', (service) => {
  const everything = deployed();
  const { paths } = bodyOf(everything, service);

  it('has every route of the service under its own method and path, and nothing else', () => {
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId = '' }]) => `${operationId} ${method.toUpperCase()} ${path}`,
      ),
    );
    expect(served.toSorted()).toStrictEqual(
      routesOf(service)
        .map(({ operationId, method, path }) => `${operationId} ${method} ${path}`)
        .toSorted(),
    );
  });

  it('replaces the API as a whole at each change, so that a closed route goes', () => {
    serviceOf(everything, service).template.hasResourceProperties('AWS::ApiGateway::RestApi', {
      Mode: 'overwrite',
    });
  });

  it('sends each route to its own function within the 29 s of the gateway', () => {
    for (const { operationId, path, method } of routesOf(service)) {
      const integration = paths[path]?.[method.toLowerCase()]?.['x-amazon-apigateway-integration'];
      expect(integration).toMatchObject({ type: 'aws_proxy', httpMethod: 'POST', timeoutInMillis: 29_000 });
      expect(JSON.stringify(integration)).toContain(`"${operationId}Function`);
    }
  });
});

describe('a streamed route', () => {
  const streamed = probe('streamed', ['A']);
  const of = deployed({
    routes: [
      probe('buffered', ['A']),
      { ...streamed, success: { ...streamed.success, transfer: 'stream' as const } },
    ],
    gates: ['A'],
  });
  const integrationOf = (operationId: string): unknown =>
    bodyOf(of, 'reports').paths[`/v1/${operationId}`]?.['post']?.['x-amazon-apigateway-integration'];
  /** What a deployed value looks like with the function's logical id for its ARN. */
  const uriOf = (operationId: string): string =>
    z
      .object({ uri: z.object({ 'Fn::Join': z.tuple([z.literal(''), z.array(z.unknown())]) }) })
      .parse(integrationOf(operationId))
      .uri['Fn::Join'][1].map((part) => (typeof part === 'string' ? part : '*'))
      .join('');

  it('is asked for in the way in which its function answers, and no other route is', () => {
    expect(integrationOf('streamed')).toMatchObject({ type: 'aws_proxy', responseTransferMode: 'STREAM' });
    expect(uriOf('streamed')).toBe(
      'arn:*:apigateway:*:lambda:path/2021-11-15/functions/*/response-streaming-invocations',
    );
    expect(integrationOf('buffered')).not.toHaveProperty('responseTransferMode');
    expect(uriOf('buffered')).toBe('arn:*:apigateway:*:lambda:path/2015-03-31/functions/*/invocations');
  });

  it('may invoke its function: both operations of Lambda are under one permission', () => {
    serviceOf(of, 'reports').template.hasResourceProperties('AWS::Lambda::Permission', {
      Action: 'lambda:InvokeFunction',
      FunctionName: { Ref: Match.stringLikeRegexp('^streamedFunctionLive') },
    });
  });
});

describe('the deployment', () => {
  const idOf = (of: Deployed): string | undefined =>
    ofType(serviceOf(of, 'mastery'), 'AWS::ApiGateway::Deployment')[0]?.[0];

  it('is a new one when the body changes, and the same when it does not', () => {
    const of = (routes: readonly Route[]): Deployed => deployed({ routes, background: [] });
    const own = routesOf('mastery');
    const all = idOf(of(own));
    expect(idOf(of(own))).toBe(all);
    expect(idOf(of(own.slice(1)))).not.toBe(all);
  });

  it('is the one that the stage serves', () => {
    serviceOf(withProbes, 'mastery').template.hasResourceProperties('AWS::ApiGateway::Stage', {
      DeploymentId: { Ref: idOf(withProbes) },
    });
  });
});

describe.each(['mastery', 'reports'] as const)('the gateway’s own answers of the %s service', (service) => {
  const responses = bodyOf(withProbes, service)['x-amazon-apigateway-gateway-responses'];
  const schema = service === 'mastery' ? masteryProblem : reportsProblem;

  it('cover every type that API Gateway knows', () => {
    const known = Object.values(ResponseType)
      .filter((type) => type instanceof ResponseType)
      .map(({ responseType }) => responseType);
    expect(Object.keys(responses).toSorted()).toStrictEqual(known.toSorted());
    expect(known).toHaveLength(gatewayResponseTypes.length);
  });

  it.each(gatewayResponseTypes)('%s is a registered problem of the service [MA-224]', (type) => {
    const response = responses[type];
    const filled = response?.responseTemplates['application/json']?.replaceAll(
      '$context.requestId',
      '6b7c9d0e-3f0a-4b6e-9d2f-1a2b3c4d5e6f',
    );
    const document = schema.parse(JSON.parse(filled ?? ''));
    expect(document.status).toBe(response?.statusCode);
    expect(document.requestId).toBe('6b7c9d0e-3f0a-4b6e-9d2f-1a2b3c4d5e6f');
    const code = document.type.slice(document.type.lastIndexOf('/') + 1);
    expect(problemRow(service, code, document.status)?.title).toBe(document.title);
    expect(filled).not.toContain('$');
    expect(response?.responseParameters).toMatchObject({
      'gatewayresponse.header.Content-Type': "'application/problem+json'",
      'gatewayresponse.header.Cache-Control': "'no-store'",
      'gatewayresponse.header.X-Request-Id': 'context.requestId',
    });
    expect('gatewayresponse.header.Retry-After' in (response?.responseParameters ?? {})).toBe(
      document.retryable,
    );
  });

  it('say the same for an unknown path as for an unknown method, with or without a token', () => {
    const unknown = [
      'MISSING_AUTHENTICATION_TOKEN',
      'RESOURCE_NOT_FOUND',
      'INVALID_SIGNATURE',
      'ACCESS_DENIED',
      'DEFAULT_4XX',
    ];
    expect(new Set(unknown.map((type) => JSON.stringify(responses[type]))).size).toBe(1);
    expect(responses['RESOURCE_NOT_FOUND']?.statusCode).toBe(404);
  });

  it('include a rate limit of the firewall that is a problem as well', () => {
    expect(
      schema.parse(JSON.parse(rateLimitedDocument(service, 'https://docs.example/problems'))).status,
    ).toBe(429);
  });
});

describe('the body of receipts', () => {
  const of = deployed();

  it('has one path, whose function streams', () => {
    const { paths } = bodyOf(of, 'receipts');
    expect(Object.keys(paths)).toStrictEqual(['/{sha256}']);
    expect(Object.keys(paths['/{sha256}'] ?? {})).toStrictEqual(['get']);
    const integration = paths['/{sha256}']?.['get']?.['x-amazon-apigateway-integration'];
    expect(integration).toMatchObject({ type: 'aws_proxy', responseTransferMode: 'STREAM' });
    expect(JSON.stringify(integration)).toMatch(/"readReceiptFunctionLive\w+"\},"\/response-streaming-/);
  });

  it('answers by itself as the reports service does', () => {
    expect(bodyOf(of, 'receipts')['x-amazon-apigateway-gateway-responses']).toStrictEqual(
      bodyOf(of, 'reports')['x-amazon-apigateway-gateway-responses'],
    );
  });

  it('may invoke its function by that path only', () => {
    stackOf(of, 'receipts').template.hasResourceProperties('AWS::Lambda::Permission', {
      Action: 'lambda:InvokeFunction',
      FunctionName: { Ref: Match.stringLikeRegexp('^readReceiptFunctionLive') },
      SourceArn: {
        'Fn::Join': ['', Match.arrayWith([{ Ref: apiOf(of, 'receipts')[0] }, '/prod/GET/*'])],
      },
    });
  });

  it('is where the links of the functions that make them begin', () => {
    const variables = ofType(stackOf(of, 'receipts'), 'AWS::Lambda::Function').map(([, { Properties }]) =>
      z
        .object({
          Environment: z.object({ Variables: z.looseObject({ RECEIPTS_URL: z.unknown().optional() }) }),
        })
        .parse(Properties),
    );
    const urls = variables.flatMap(({ Environment }) => Environment.Variables.RECEIPTS_URL ?? []);
    expect(urls).toHaveLength(routes.filter(({ lambda }) => lambda.grants.includes('receipts:link')).length);
    expect(urls).not.toHaveLength(0);
    for (const url of urls) {
      expect(url).toStrictEqual({
        'Fn::Join': [
          '',
          [
            'https://',
            { Ref: apiOf(of, 'receipts')[0] },
            '.execute-api.',
            { Ref: 'AWS::Region' },
            '.',
            { Ref: 'AWS::URLSuffix' },
            '/prod',
          ],
        ],
      });
    }
  });
});

describe.each(['mastery', 'reports', 'receipts', 'sandbox'] as const)('the stage of %s', (name) => {
  const of = deployed();

  it('limits the rate', () => {
    const stage = stageOf(of, name);
    expect(stage.Properties).toMatchObject({
      MethodSettings: [
        {
          DataTraceEnabled: false,
          LoggingLevel: 'OFF',
          ThrottlingRateLimit: 500,
          ThrottlingBurstLimit: 1000,
        },
      ],
    });
  });

  it('stands behind a firewall that refuses X-HTTP-Method-Override and keeps no samples', () => {
    const [aclId, acl] =
      ofType(stackOf(of, name), 'AWS::WAFv2::WebACL').find(
        ([, { Properties }]) => Properties['Name'] === `mastery-reports-prod-${name}`,
      ) ?? [];
    const associations = ofType(stackOf(of, name), 'AWS::WAFv2::WebACLAssociation').filter(
      ([, { Properties }]) => JSON.stringify(Properties['ResourceArn']).includes(`"${apiOf(of, name)[0]}"`),
    );
    expect(associations.map(([, { Properties }]) => Properties['WebACLArn'])).toStrictEqual([
      { 'Fn::GetAtt': [aclId, 'Arn'] },
    ]);
    const { Rules } = z
      .object({ Rules: z.array(z.looseObject({ Name: z.string(), Priority: z.number() })) })
      .parse(acl?.Properties);
    expect(Rules[0]).toMatchObject({
      Priority: 0,
      Action: { Block: {} },
      Statement: {
        SizeConstraintStatement: {
          FieldToMatch: { SingleHeader: { Name: 'x-http-method-override' } },
          ComparisonOperator: 'GE',
          Size: 0,
        },
      },
    });
    expect(Rules.map(({ Name }) => Name)).toContain('rate-per-address');
    expect(JSON.stringify(acl)).not.toContain('"SampledRequestsEnabled":true');
  });
});

describe('gates', () => {
  describe('when all are closed', () => {
    const open = deployed();
    const closed = deployed({ gates: [] });

    it('the addresses stay: the same APIs, stages, firewalls and outputs', () => {
      const kept = (of: Deployed): readonly string[] =>
        ['RestApi', 'Stage', 'WebACL', 'WebACLAssociation']
          .flatMap((type) => [
            ...ofType(serviceOf(of, 'reports'), `AWS::ApiGateway::${type}`),
            ...ofType(serviceOf(of, 'reports'), `AWS::WAFv2::${type}`),
          ])
          .map(([id]) => id);
      expect(kept(open)).toHaveLength(8);
      expect(kept(closed)).toStrictEqual(kept(open));
      const { outputs } = serviceOf(closed, 'reports');
      expect(outputs).toEqual(expect.arrayContaining(['BaseUrl', 'ReceiptsUrl']));
      expect(outputs.toSorted()).toStrictEqual(serviceOf(open, 'reports').outputs.toSorted());
    });

    it('there is no function of a route, no permission of a gateway and no alarm: only the rotation of keys goes on', () => {
      const left = (type: string, property: string): readonly unknown[] =>
        ofType(serviceOf(closed, 'reports'), type).map(([, { Properties }]) => Properties[property]);
      expect(left('AWS::Lambda::Function', 'FunctionName').toSorted()).toStrictEqual([
        'mastery-reports-prod-reports-checkVersion',
        'mastery-reports-prod-rotateKeys',
      ]);
      expect(left('AWS::Lambda::Permission', 'Principal')).toStrictEqual(['events.amazonaws.com']);
      expect(JSON.stringify(closed.operations.template.toJSON())).not.toMatch(/-prod-re(ports|ceipts)-/);
    });

    it.each(['reports', 'receipts'] as const)(
      'the API %s has one method, which returns the 404 of an unknown path for every call [RP-018]',
      (name) => {
        const { paths, 'x-amazon-apigateway-gateway-responses': own } = bodyOf(closed, name);
        expect(Object.keys(paths)).toStrictEqual(['/{proxy+}']);
        expect(Object.keys(paths['/{proxy+}'] ?? {})).toStrictEqual(['x-amazon-apigateway-any-method']);
        const { responses, ...mock } = mockIntegration.parse(
          paths['/{proxy+}']?.['x-amazon-apigateway-any-method']?.['x-amazon-apigateway-integration'],
        );
        expect(mock).toStrictEqual({
          type: 'mock',
          passthroughBehavior: 'never',
          requestTemplates: { 'application/json': '{"statusCode":404}' },
        });
        const unknown = own['RESOURCE_NOT_FOUND'];
        expect(responses.default).toStrictEqual({
          statusCode: '404',
          responseTemplates: unknown?.responseTemplates,
          responseParameters: Object.fromEntries(
            Object.entries(unknown?.responseParameters ?? {}).map(([header, value]) => [
              header.replace('gatewayresponse', 'method.response'),
              value,
            ]),
          ),
        });
        // Before its own response, a mock refuses a body of another type.
        expect(own['UNSUPPORTED_MEDIA_TYPE']).toStrictEqual(unknown);
        const status = (of: Deployed) =>
          bodyOf(of, name)['x-amazon-apigateway-gateway-responses']['UNSUPPORTED_MEDIA_TYPE']?.statusCode;
        expect([status(closed), status(open)]).toStrictEqual([404, 400]);
      },
    );

    it('runs under way wait in the queue, which is the same', () => {
      expect(closed.stores.template.toJSON()).toStrictEqual(open.stores.template.toJSON());
    });
  });

  it('a route needs all of its gates', () => {
    const half = deployed({ routes: [probe('probeA', ['A']), probe('probeB', ['A', 'B'])], gates: ['A'] });
    expect(Object.keys(bodyOf(half, 'reports').paths)).toStrictEqual(['/v1/probeA']);
    expect(Object.keys(bodyOf(withProbes, 'reports').paths)).toStrictEqual(['/v1/probeA', '/v1/probeB']);
  });

  it.each<[string, readonly GateName[], readonly string[]]>([
    ['no gate', [], []],
    ['every gate but D', ['A', 'B', 'C', 'E', 'F'], []],
    ['D alone', ['D'], []],
    ['A and D', ['A', 'D'], ['readClassCohort', 'readEquivalence', 'readSchoolGradeCohort']],
    ['C and D', ['C', 'D'], ['listCandidateReports', 'readAttemptReport', 'readReadiness']],
  ])('with %s only these reads exist [RP-016, RP-019, RP-021, RP-024]', (_, gates, operationIds) => {
    const reads = bodyOf(deployed({ gates }), 'reports').paths;
    expect(
      Object.values(reads)
        .flatMap((methods) => Object.values(methods))
        .flatMap(({ operationId }) => operationId ?? [])
        .toSorted(),
    ).toStrictEqual(operationIds);
  });

  it('without any route there are still the stores and the operations', () => {
    const empty = deployed({ routes: [], background: [] });
    expect(empty.services.size).toBe(0);
    expect(ofType(empty.stores, 'AWS::DynamoDB::Table').length).toBeGreaterThan(0);
  });
});

describe('web pages of other origins', () => {
  const FIRST = 'https://app.school.example';
  const SECOND = 'https://admin.school.example:8443';
  const apis = ['mastery', 'reports', 'receipts', 'sandbox'] as const;
  const stacksOf = (of: Deployed): readonly Synthesized[] => [...of.services.values(), of.sandbox];
  const deployedFor = (...allowedOrigins: readonly `https://${string}`[]): Deployed => {
    const { name, config } = stageNamed('prod');
    return deployed({ stage: { name, config: { ...config, allowedOrigins } } });
  };
  const integrationResponse = z.object({
    statusCode: z.literal('204'),
    responseParameters: template,
    responseTemplates: template.optional(),
  });
  const preflights = z.object({
    paths: z.record(
      z.string(),
      z.looseObject({
        options: z.object({
          responses: z.object({ '204': z.object({ headers: z.record(z.string(), z.unknown()) }) }),
          'x-amazon-apigateway-integration': z.object({
            type: z.literal('mock'),
            requestTemplates: z.object({ 'application/json': z.string() }),
            responses: z.object({ default: integrationResponse }),
          }),
        }),
      }),
    ),
    'x-amazon-apigateway-gateway-responses': z.record(z.string(), z.object({ responseParameters: template })),
  });
  const bodyFor = (of: Deployed, name: ApiName): z.infer<typeof preflights> =>
    preflights.parse(apiOf(of, name)[1].Properties['Body']);

  /** What the CDK deploys for the same preflight; it takes the lists of methods and headers apart by commas alone. */
  function ofCdk(allowOrigins: string[], allowMethods: string[]): z.infer<typeof integrationResponse> {
    const stack = new Stack(new App(), 'S');
    const allowHeaders = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match'];
    new RestApi(stack, 'Api').root.addCorsPreflight({
      ...{ allowOrigins, allowMethods, allowHeaders: [...allowHeaders, 'traceparent', 'tracestate'] },
      maxAge: Duration.minutes(10),
    });
    const [method] = Object.values(Template.fromStack(stack).findResources('AWS::ApiGateway::Method'));
    return z
      .object({
        Properties: z.object({
          Integration: z.object({
            IntegrationResponses: z.tuple([
              z
                .object({
                  StatusCode: z.literal('204'),
                  ResponseParameters: template,
                  ResponseTemplates: template.optional(),
                })
                .transform((response) => ({
                  statusCode: response.StatusCode,
                  responseParameters: response.ResponseParameters,
                  ...(response.ResponseTemplates && { responseTemplates: response.ResponseTemplates }),
                })),
            ]),
          }),
        }),
      })
      .parse(method).Properties.Integration.IntegrationResponses[0];
  }

  it('are not mentioned by a stage that allows none', () => {
    for (const { template } of stacksOf(deployed()))
      expect(JSON.stringify(template.toJSON())).not.toMatch(/Access-Control|ALLOWED_ORIGINS|"options"/);
  });

  it.each([
    ['one origin', [FIRST]],
    ['several', [FIRST, SECOND, 'https://third.example']],
  ] as const)(
    'send their preflight requests to every path, which responds as the CDK’s own: %s',
    (_, origins) => {
      const of = deployedFor(...origins);
      for (const api of apis) {
        for (const { options, ...methods } of Object.values(bodyFor(of, api).paths)) {
          const { responses } = options['x-amazon-apigateway-integration'];
          const parameters = Object.entries(responses.default.responseParameters).map(([name, value]) => [
            name,
            value.replaceAll(', ', ','),
          ]);
          expect({
            ...responses.default,
            responseParameters: Object.fromEntries(parameters) as object,
          }).toEqual(
            ofCdk(
              [...origins],
              Object.keys(methods).map((method) => method.toUpperCase()),
            ),
          );
          expect(
            Object.keys(options.responses['204'].headers).map((name) => `method.response.header.${name}`),
          ).toEqual(Object.keys(responses.default.responseParameters));
        }
      }
    },
  );

  it('read the problems of gateway and firewall if theirs is the only origin, since these cannot choose', () => {
    const name = 'gatewayresponse.header.Access-Control-Allow-Origin';
    const firewall = (of: Deployed): string =>
      stacksOf(of)
        .flatMap((stack) => ofType(stack, 'AWS::WAFv2::WebACL'))
        .map(([, acl]) => JSON.stringify(acl).match(/"Name":"Access-Control-Allow-Origin","Value":"[^"]+"/g))
        .join();
    const header = `"Name":"Access-Control-Allow-Origin","Value":"${FIRST}"`;
    const one = deployedFor(FIRST);
    const several = deployedFor(FIRST, SECOND);
    for (const api of apis) {
      const responsesOf = (of: Deployed): readonly (string | undefined)[] =>
        Object.values(bodyFor(of, api)['x-amazon-apigateway-gateway-responses']).map(
          ({ responseParameters }) => responseParameters[name],
        );
      expect(new Set(responsesOf(one))).toEqual(new Set([`'${FIRST}'`]));
      expect(new Set(responsesOf(several))).toEqual(new Set([undefined]));
    }
    expect(firewall(one)).toBe(apis.map(() => header).join());
    expect(firewall(several)).toBe(',,,');
  });

  it('are known to the functions that return something to a caller, and to no other', () => {
    const told = stacksOf(deployedFor(FIRST, SECOND))
      .flatMap((stack) => ofType(stack, 'AWS::Lambda::Function'))
      .map(([, { Properties }]) => (Properties['Environment'] as { Variables: object }).Variables)
      .map((variables) => [
        'PROBLEMS_URL' in variables,
        'ALLOWED_ORIGINS' in variables && variables.ALLOWED_ORIGINS,
      ]);
    expect(new Set(told.map((pair) => JSON.stringify(pair)))).toEqual(
      new Set([JSON.stringify([true, `${FIRST},${SECOND}`]), JSON.stringify([false, false])]),
    );
  });
});
