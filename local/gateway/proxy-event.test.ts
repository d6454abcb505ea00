import { describe, expect, it } from 'vitest';
import { rawPathOf, toProxyEvent, type IncomingRequest, type MatchedTemplate } from './proxy-event.ts';

const match: MatchedTemplate = {
  route: { path: '/v1/policies/{policyId}' },
  pathParameters: { policyId: 'a%2Fb' },
};
const context = {
  requestId: '6f6f9e2e-0000-4000-8000-000000000000',
  stage: 'local',
  receivedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
};

function event(
  request: Partial<IncomingRequest>,
  found: MatchedTemplate = match,
): ReturnType<typeof toProxyEvent> {
  return toProxyEvent(
    {
      method: 'GET',
      target: '/mastery/v1/policies/a%2Fb',
      rawHeaders: [],
      body: Buffer.alloc(0),
      sourceIp: '127.0.0.1',
      ...request,
    },
    found,
    context,
  );
}

describe('toProxyEvent', () => {
  it('keeps path parameters percent-encoded and the base path in the path', () => {
    expect(event({})).toMatchObject({
      resource: '/v1/policies/{policyId}',
      path: '/mastery/v1/policies/a%2Fb',
      pathParameters: { policyId: 'a%2Fb' },
      requestContext: {
        path: '/mastery/v1/policies/a%2Fb',
        resourcePath: '/v1/policies/{policyId}',
        stage: 'local',
        requestId: context.requestId,
        requestTime: '02/Jan/2026:03:04:05 +0000',
        requestTimeEpoch: context.receivedAt,
      },
      isBase64Encoded: false,
    });
  });

  it('has null where there is nothing, and passes a body on as text', () => {
    expect(event({}, { ...match, pathParameters: {} })).toMatchObject({
      pathParameters: null,
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      stageVariables: null,
      body: null,
    });
    expect(event({ body: Buffer.from('{"a":"é"}') }).body).toBe('{"a":"é"}');
  });

  it('decodes the query once, a plus sign as a space, and shows repetition only in the multi-value member', () => {
    const found = event({ target: '/x?a=1+2&a=3%2B4&b&%C3%A9=%2525&=x&&c=%zz' });
    expect(found.multiValueQueryStringParameters).toStrictEqual({
      a: ['1 2', '3+4'],
      b: [''],
      é: ['%25'],
      '': ['x'],
      c: ['%zz'],
    });
    expect(found.queryStringParameters).toStrictEqual({ a: '3+4', b: '', é: '%25', '': 'x', c: '%zz' });
    expect(found.path).toBe('/x');
  });

  it('keeps the spelling of headers, and all values of a repeated one whatever its case', () => {
    const found = event({
      rawHeaders: ['Host', 'h:1', 'If-Match', '"a"', 'if-match', '"b"', 'User-Agent', 'u'],
    });
    expect(found.headers).toStrictEqual({ Host: 'h:1', 'If-Match': '"b"', 'User-Agent': 'u' });
    expect(found.multiValueHeaders).toStrictEqual({
      Host: ['h:1'],
      'If-Match': ['"a"', '"b"'],
      'User-Agent': ['u'],
    });
    expect(found.requestContext).toMatchObject({ domainName: 'h:1', identity: { userAgent: 'u' } });
  });
});

describe('rawPathOf', () => {
  it.each([
    ['/a/b?c=/d', '/a/b'],
    ['http://host:1/a?b', '/a'],
    ['*', '*'],
  ])('of %s is %s', (target, path) => {
    expect(rawPathOf(target)).toBe(path);
  });
});
