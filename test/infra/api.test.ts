import { App, Duration, Stack } from 'aws-cdk-lib';
import { ResponseType, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import { routes } from '#shared/contract/routes.ts';
import { sandboxRoutes, serveSandbox } from '#shared/contract/sandbox.ts';
import { masteryProblem } from '#shared/contract/mastery/problem.ts';
import { gatewayDocument, gatewayResponseTypes } from '#shared/problems/gateway-responses.ts';
import { problemRow } from '#shared/problems/registry.ts';
import type { ApiName } from '#shared/stage/stage.ts';
import type { StackTemplate } from './template.ts';
import { deployed, everySetting, propertiesOf } from './deployed.ts';

type Stacks = readonly StackTemplate[];
type Texts = Readonly<Record<string, string>>;

interface GatewayResponse {
  readonly statusCode: number;
  readonly responseParameters: Texts;
  readonly responseTemplates: Texts;
}
interface Integration {
  readonly type: string;
  readonly requestTemplates?: Texts;
  readonly responses: {
    readonly default: {
      readonly statusCode: string;
      readonly responseParameters: Texts;
      readonly responseTemplates?: Texts;
    };
  };
}
interface Method {
  readonly operationId?: string;
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
  readonly 'x-amazon-apigateway-integration': Integration;
}
interface Body {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Method>>>>;
  readonly 'x-amazon-apigateway-gateway-responses': Readonly<Record<string, GatewayResponse>>;
}

const apis = ['mastery', 'reports', 'receipts', 'sandbox'] as const;
const all = deployed();
const closed = deployed({ gates: [] });

/** The body of an API, as a new account has it. */
function bodyOf(stacks: Stacks, api: ApiName): Body {
  const found = propertiesOf(stacks, 'AWS::ApiGateway::RestApi').find(
    ({ Name }) => Name === `mastery-reports-prod-${api}`,
  );
  return found?.['Body'] as Body;
}
const responsesOf = (stacks: Stacks, api: ApiName) =>
  bodyOf(stacks, api)['x-amazon-apigateway-gateway-responses'];
const integrationOf = (method: Method | undefined) => method?.['x-amazon-apigateway-integration'];

it.each(apis)('%s calls the live version of each route’s function within the 29 s of the gateway', (api) => {
  const streamed = new Set([
    ...routes.filter(({ success }) => success.transfer === 'stream').map(({ operationId }) => operationId),
    'readReceipt',
  ]);
  const methods = Object.values(bodyOf(all, api).paths).flatMap((path) => Object.values(path));
  expect(methods).not.toHaveLength(0);
  for (const method of methods) {
    const { operationId = '' } = method;
    const target = api === 'sandbox' ? serveSandbox.operationId : operationId;
    const [version, call] = streamed.has(target)
      ? ['2021-11-15', 'response-streaming-invocations']
      : ['2015-03-31', 'invocations'];
    expect(integrationOf(method), operationId).toStrictEqual({
      type: 'aws_proxy',
      httpMethod: 'POST',
      uri: `arn:AWS-Partition:apigateway:AWS-Region:lambda:path/${version}/functions/arn:aws:lambda:region:account:function:mastery-reports-prod-${target}:live/${call}`,
      ...(streamed.has(target) && { responseTransferMode: 'STREAM' }),
      passthroughBehavior: 'when_no_match',
      timeoutInMillis: 29_000,
    });
  }
});

it('the sandbox serves its routes under the paths of production [RP-033, RP-042]', () => {
  expect(Object.keys(bodyOf(all, 'sandbox').paths).toSorted()).toStrictEqual(
    Object.values(sandboxRoutes)
      .map(({ path }) => path)
      .toSorted(),
  );
  for (const path of Object.keys(bodyOf(all, 'sandbox').paths))
    expect(bodyOf(all, 'reports').paths).toHaveProperty([path]);
});

describe.each(['mastery', 'reports'] as const)('the gateway’s own answers of the %s service', (service) => {
  const responses = responsesOf(all, service);
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
    const requestId = '6b7c9d0e-3f0a-4b6e-9d2f-1a2b3c4d5e6f';
    const filled = response?.responseTemplates['application/json']?.replaceAll(
      '$context.requestId',
      requestId,
    );
    expect(filled).not.toContain('$');
    const document = schema.parse(JSON.parse(filled ?? ''));
    expect(document).toMatchObject({ status: response?.statusCode, requestId });
    const code = document.type.slice(document.type.lastIndexOf('/') + 1);
    expect(problemRow(service, `${document.status} ${code}`).title).toBe(document.title);
    expect(response?.responseParameters).toMatchObject({
      'gatewayresponse.header.Content-Type': "'application/problem+json'",
      'gatewayresponse.header.Cache-Control': "'no-store, no-transform'",
      'gatewayresponse.header.X-Request-Id': 'context.requestId',
    });
    expect('gatewayresponse.header.Retry-After' in (response?.responseParameters ?? {})).toBe(
      document.retryable,
    );
  });

  it('are the same for an unknown path as for an unknown method, with or without a token', () => {
    const unknown = [
      ...['MISSING_AUTHENTICATION_TOKEN', 'RESOURCE_NOT_FOUND', 'INVALID_SIGNATURE'],
      ...['ACCESS_DENIED', 'DEFAULT_4XX'],
    ].map((type) => responses[type]);
    expect(new Set(unknown.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(unknown[0]?.statusCode).toBe(404);
  });

  it.each([
    ['THROTTLED', 429],
    ['WAF_FILTERED', 400],
  ] as const)('include %s as the firewall returns it', (type, status) => {
    const document = gatewayDocument(service, type, 'https://docs.example/problems');
    expect(schema.parse(JSON.parse(document)).status).toBe(status);
  });
});

it('the API of receipts answers by itself as the reports service does', () => {
  expect(responsesOf(all, 'receipts')).toStrictEqual(responsesOf(all, 'reports'));
});

it.each(['reports', 'receipts'] as const)(
  'the API %s without a released function returns the 404 of an unknown path for every call [RP-018]',
  (api) => {
    const unknown = responsesOf(closed, api)['RESOURCE_NOT_FOUND'];
    const method = bodyOf(closed, api).paths['/{proxy+}']?.['x-amazon-apigateway-any-method'];
    expect(integrationOf(method)).toStrictEqual({
      type: 'mock',
      passthroughBehavior: 'never',
      requestTemplates: { 'application/json': '{"statusCode":404}' },
      responses: {
        default: {
          statusCode: '404',
          responseTemplates: unknown?.responseTemplates,
          responseParameters: Object.fromEntries(
            Object.entries(unknown?.responseParameters ?? {}).map(([header, value]) => [
              header.replace('gatewayresponse', 'method.response'),
              value,
            ]),
          ),
        },
      },
    });
    // Before its own response, a mock refuses a body of another type.
    const refused = [closed, all].map(
      (stacks) => responsesOf(stacks, api)['UNSUPPORTED_MEDIA_TYPE']?.statusCode,
    );
    expect(refused).toStrictEqual([404, 400]);
  },
);

describe('web pages of other origins', () => {
  const FIRST = 'https://app.school.example';
  const SECOND = 'https://admin.school.example:8443';
  const origins = [FIRST, SECOND, 'https://third.example'] as const;
  const [one, several] = [everySetting, { allowedOrigins: origins }].map((settings) =>
    deployed({ settings }),
  ) as [Stacks, Stacks];

  /** What the CDK deploys for the same preflight; it takes the lists of methods and headers apart by commas alone. */
  function ofCdk(allowOrigins: string[], allowMethods: string[]): object {
    const stack = new Stack(new App(), 'S');
    const allowHeaders = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match'];
    new RestApi(stack, 'Api').root.addCorsPreflight({
      ...{ allowOrigins, allowMethods, allowHeaders: [...allowHeaders, 'traceparent', 'tracestate'] },
      maxAge: Duration.minutes(10),
    });
    const [method] = Object.values(Template.fromStack(stack).findResources('AWS::ApiGateway::Method')) as {
      Properties: { Integration: { IntegrationResponses: readonly Texts[] } };
    }[];
    const [response] = method?.Properties.Integration.IntegrationResponses ?? [];
    return {
      statusCode: response?.['StatusCode'],
      responseParameters: response?.['ResponseParameters'],
      responseTemplates: response?.['ResponseTemplates'],
    };
  }

  it('are not mentioned by a stage that allows none', () => {
    const services = all.filter(({ name }) => !name.endsWith('documentation'));
    expect(JSON.stringify(services)).not.toMatch(/Access-Control|ALLOWED_ORIGINS|"options"/);
  });

  it.each([
    ['one origin', [FIRST], one],
    ['several', origins, several],
  ] as const)(
    'send their preflight requests to every path, which responds as the CDK’s own: %s',
    (_, allowed, stacks) => {
      for (const api of apis) {
        for (const { options, ...methods } of Object.values(bodyOf(stacks, api).paths)) {
          const { statusCode, responseParameters, responseTemplates } =
            integrationOf(options)?.responses.default ?? {};
          const parameters = Object.entries(responseParameters ?? {});
          expect({
            statusCode,
            responseTemplates,
            responseParameters: Object.fromEntries(
              parameters.map(([name, value]) => [name, value.replaceAll(', ', ',')]),
            ),
          }).toEqual(
            ofCdk(
              [...allowed],
              Object.keys(methods).map((method) => method.toUpperCase()),
            ),
          );
          const declared = Object.keys(options?.responses['204']?.headers ?? {});
          expect(declared.map((name) => `method.response.header.${name}`)).toStrictEqual(
            parameters.map(([name]) => name),
          );
        }
      }
    },
  );

  it('read the problems of gateway and firewall if theirs is the only origin, since these cannot choose', () => {
    const allowedBy = (stacks: Stacks, api: ApiName) =>
      new Set(
        Object.values(responsesOf(stacks, api)).map(
          ({ responseParameters }) =>
            responseParameters['gatewayresponse.header.Access-Control-Allow-Origin'],
        ),
      );
    for (const api of apis) {
      expect(allowedBy(one, api)).toStrictEqual(new Set([`'${FIRST}'`]));
      expect(allowedBy(several, api)).toStrictEqual(new Set([undefined]));
    }
    const ofFirewalls = (stacks: Stacks) =>
      propertiesOf(stacks, 'AWS::WAFv2::WebACL').map((properties) =>
        JSON.stringify(properties).includes(`"Name":"Access-Control-Allow-Origin","Value":"${FIRST}"`),
      );
    // That of the sandbox returns nothing itself: the one before its distribution does.
    expect(ofFirewalls(one).filter(Boolean)).toHaveLength(apis.length);
    expect(ofFirewalls(several).filter(Boolean)).toHaveLength(0);
  });

  it('are known to the functions that return something to a caller, and to no other', () => {
    const known = propertiesOf(several, 'AWS::Lambda::Function')
      .map(({ Environment }) => (Environment ?? {}) as { Variables?: Texts })
      .map(({ Variables = {} }) => `${String('PROBLEMS_URL' in Variables)} ${Variables['ALLOWED_ORIGINS']}`);
    expect(new Set(known)).toStrictEqual(
      new Set([`true ${FIRST},${SECOND},https://third.example`, 'false undefined']),
    );
  });
});
