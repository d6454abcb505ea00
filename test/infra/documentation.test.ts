import { describe, expect, it } from 'vitest';
import { pathFunction, sandboxPathFunction } from '#lib/stacks/documentation.ts';
import { createPages } from '#local/stack/pages.ts';
import { atEdge } from '#test/support/at-edge.ts';
import { pageHeaders } from '#tools/page/headers.ts';
import { deployed, everySetting, propertiesOf } from './deployed.ts';

const all = deployed({ gates: [] });
const only = (type: string, stacks = all) => {
  const [found, ...others] = propertiesOf(stacks, type, 'documentation');
  expect([type, others]).toStrictEqual([type, []]);
  return found ?? {};
};
const configuration = only('AWS::CloudFront::Distribution')['DistributionConfig'];
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

  it('is read over HTTPS alone, under the policy that the local site has', () => {
    expect(configuration).toMatchObject({
      DefaultCacheBehavior: { ViewerProtocolPolicy: 'redirect-to-https' },
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
          // One function alone, on the request: none would see a problem of the sandbox.
          FunctionAssociations: [{ EventType: 'viewer-request' }],
        },
      ],
    });
    const { Origins } = configuration as { Origins: readonly object[] };
    expect(Origins[1]).toMatchObject({
      DomainName: 'Api.execute-api.AWS-Region.AWS-URLSuffix',
      OriginPath: '/prod',
      CustomOriginConfig: { OriginProtocolPolicy: 'https-only' },
    });
    expect([...JSON.stringify(Origins[0]).matchAll(/HeaderName/g)]).toHaveLength(0);
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

  it('is in us-east-1 with its firewall, whatever the region of the stage', () => {
    const stacks = deployed({ settings: everySetting });
    const regions = stacks.map(({ name, region }) => [name.split('-').slice(3).join('-'), region]);
    expect(Object.fromEntries(regions)).toStrictEqual({
      ...Object.fromEntries(regions.map(([name]) => [name, 'eu-central-1'])),
      documentation: 'us-east-1',
    });
    // Fails for a reference into another region than that of the stack that it names.
    expect(propertiesOf(stacks, 'AWS::WAFv2::WebACL', 'documentation')).toMatchObject([
      { Scope: 'CLOUDFRONT', Name: 'mastery-reports-prod-site' },
    ]);
  });

  it('replaces no answer of the sandbox: an error page applies to a whole distribution', () => {
    expect(configuration).not.toHaveProperty('CustomErrorResponses');
  });

  it.each(['/docs/no-such-page', '/no-such.css', '/docs/engine', '/sandbox', '/source'])(
    'has a page with 404 and the headers of every page for %s, which is absent',
    (uri) => {
      const result = atEdge(pathFunction(['404.html', 'docs/index.html'], '<h1>"absent"</h1>'), uri);
      expect(result).toMatchObject({ statusCode: 404, body: { data: '<h1>"absent"</h1>' } });
      for (const [name, value] of Object.entries(pageHeaders))
        expect(result.headers?.[name.toLowerCase()]).toEqual({ value });
    },
  );

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
    const edge = atEdge(pathFunction(files, ''), uri);
    expect(edge.headers?.['location']?.value ?? edge.uri).toBe(
      local?.status === 302 ? local.headers['Location'] : `/${String(local?.body)}`,
    );
  });
});
