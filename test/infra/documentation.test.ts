import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { pathFunction, sandboxPathFunction } from '#lib/stacks/documentation.ts';
import { createPages } from '#local/stack/pages.ts';
import { pageHeaders } from '#tools/page/headers.ts';
import { deployed, everySetting, propertiesOf } from './deployed.ts';

const all = deployed({ gates: [] });
const only = (type: string, stacks = all) => {
  const [found, ...others] = propertiesOf(stacks, type, 'documentation');
  expect([type, others]).toStrictEqual([type, []]);
  return found ?? {};
};
const configuration = only('AWS::CloudFront::Distribution')['DistributionConfig'];
/** What a function of CloudFront makes of a request. */
const atEdge = (code: string, uri: string) =>
  runInContext(`${code}\nhandler(event)`, createContext({ event: { request: { uri } } })) as {
    uri?: string;
    headers?: { location: { value: string } };
  };

describe('the documentation stack', () => {
  it('keeps its bucket private: only its own distribution reads it', () => {
    const { Statement } = only('AWS::S3::BucketPolicy')['PolicyDocument'] as {
      Statement: readonly { readonly Effect: string }[];
    };
    expect(Statement.filter(({ Effect }) => Effect === 'Allow')).toStrictEqual([
      {
        Action: 's3:GetObject',
        Condition: {
          StringEquals: {
            'AWS:SourceArn': 'arn:AWS-Partition:cloudfront::AWS-AccountId:distribution/Distribution',
          },
        },
        Effect: 'Allow',
        Principal: { Service: 'cloudfront.amazonaws.com' },
        Resource: 'Site.Arn/*',
      },
    ]);
    only('AWS::CloudFront::OriginAccessControl');
  });

  it('is read over HTTPS alone, under the policy that the local site has, and has a page for what is absent', () => {
    expect(configuration).toMatchObject({
      DefaultCacheBehavior: { ViewerProtocolPolicy: 'redirect-to-https' },
      CustomErrorResponses: [{ ErrorCode: 403, ResponseCode: 404, ResponsePagePath: '/404.html' }],
    });
    expect(only('AWS::CloudFront::ResponseHeadersPolicy')['ResponseHeadersPolicyConfig']).toMatchObject({
      SecurityHeadersConfig: {
        ContentSecurityPolicy: {
          ContentSecurityPolicy: pageHeaders['Content-Security-Policy'],
          Override: true,
        },
        StrictTransportSecurity: { IncludeSubdomains: true },
      },
    });
    expect(pageHeaders['Content-Security-Policy']).not.toContain('unsafe');
  });

  it('forwards the sandbox, whose answers it never keeps, without its own path and host', () => {
    expect(configuration).toMatchObject({
      CacheBehaviors: [
        {
          PathPattern: '/sandbox/*',
          ViewerProtocolPolicy: 'https-only',
          // The policies that AWS manages: no caching; everything of the viewer but its Host.
          CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
          OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
        },
      ],
    });
    const { Origins } = configuration as { Origins: readonly object[] };
    expect(Origins[1]).toMatchObject({
      DomainName: 'Api.execute-api.AWS-Region.AWS-URLSuffix',
      OriginPath: '/prod',
      CustomOriginConfig: { OriginProtocolPolicy: 'https-only' },
    });
    expect(atEdge(sandboxPathFunction, '/sandbox/v1/forms/a%2Fb/equivalence').uri).toBe(
      '/v1/forms/a%2Fb/equivalence',
    );
  });

  it('has the address of the stage with TLS 1.2, if the stage has one', () => {
    const { domain = '', certificateArn = '' } = everySetting.documentation ?? {};
    const own = deployed({ settings: everySetting });
    expect(only('AWS::CloudFront::Distribution', own)['DistributionConfig']).toMatchObject({
      Aliases: [domain],
      ViewerCertificate: { AcmCertificateArn: certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
  });

  it.each([
    '/',
    '/docs',
    '/docs/',
    '/problems',
    '/problems/',
    '/problems/not-found',
    '/docs/engine.html',
    '/assets/search.mjs',
  ])('leads %s where the local site does', async (uri) => {
    const files = [
      'docs/index.html',
      'docs/engine.html',
      'problems/index.html',
      'problems/not-found.html',
      'assets/search.mjs',
    ];
    const page = createPages({
      gatewayUrl: '',
      platformUrl: '',
      jwks: { keys: [] },
      exampleCalls: '',
      tokens: () => Promise.resolve([]),
      site: () => Promise.resolve(new Map(files.map((path) => [path, path]))),
    });
    const local = await page('GET', uri);
    const edge = atEdge(pathFunction, uri);
    expect(edge.headers?.location.value ?? edge.uri).toBe(
      local?.status === 302 ? local.headers['Location'] : `/${String(local?.body)}`,
    );
  });
});
