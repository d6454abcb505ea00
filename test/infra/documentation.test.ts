import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { pathFunction, sandboxPathFunction } from '#lib/stacks/documentation.ts';
import { createPages } from '#local/stack/pages.ts';
import { pageHeaders } from '#tools/page/headers.ts';
import { deployed, ofType, stage } from './deployed.ts';

const { documentation } = deployed({ gates: [] });
const [, bucket] = ofType(documentation, 'AWS::S3::Bucket')[0]!;
const [, distribution] = ofType(documentation, 'AWS::CloudFront::Distribution')[0]!;
const configuration = distribution.Properties['DistributionConfig'];

describe('the documentation stack', () => {
  it('keeps its bucket private: only its own distribution reads it', () => {
    expect(bucket.Properties['PublicAccessBlockConfiguration']).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    const policy = JSON.stringify(ofType(documentation, 'AWS::S3::BucketPolicy'));
    expect(policy).toMatch(
      /"s3:GetObject","Condition":\{"StringEquals":\{"AWS:SourceArn":.*"Service":"cloudfront\.amazonaws\.com"/,
    );
    expect(policy).not.toMatch(/"Effect":"Allow","Principal":(?:"\*"|\{"AWS":"\*"\})/);
    expect(ofType(documentation, 'AWS::CloudFront::OriginAccessControl')).toHaveLength(1);
  });

  it('is read over HTTPS alone, under the policy that the local site has', () => {
    expect(configuration).toMatchObject({
      DefaultCacheBehavior: { ViewerProtocolPolicy: 'redirect-to-https' },
    });
    const [, headers] = ofType(documentation, 'AWS::CloudFront::ResponseHeadersPolicy')[0]!;
    expect(headers.Properties['ResponseHeadersPolicyConfig']).toMatchObject({
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
    const origins = JSON.stringify((configuration as { Origins: unknown }).Origins);
    expect(origins).toContain('"OriginProtocolPolicy":"https-only"');
    expect(origins.match(/Fn::GetStackOutput/g)).toHaveLength(2);
    const context = createContext({ event: { request: { uri: '/sandbox/v1/forms/a%2Fb/equivalence' } } });
    expect(runInContext(`${sandboxPathFunction}; handler(event).uri`, context)).toBe(
      '/v1/forms/a%2Fb/equivalence',
    );
  });

  it('answers an absent page with 404', () => {
    expect(configuration).toMatchObject({
      CustomErrorResponses: [{ ErrorCode: 403, ResponseCode: 404, ResponsePagePath: '/404.html' }],
    });
  });

  it('has the address of the stage with TLS 1.2, if the stage has one', () => {
    const { name, config } = stage('prod');
    const certificateArn = 'arn:aws:acm:us-east-1:111122223333:certificate/one';
    const own = deployed({
      gates: [],
      stage: { name, config: { ...config, documentation: { domain: 'docs.school.org', certificateArn } } },
    });
    expect(
      ofType(own.documentation, 'AWS::CloudFront::Distribution')[0]?.[1].Properties['DistributionConfig'],
    ).toMatchObject({
      Aliases: ['docs.school.org'],
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
    const edge = runInContext(
      `${pathFunction}\nhandler(event)`,
      createContext({ event: { request: { uri } } }),
    ) as {
      uri?: string;
      headers?: { location: { value: string } };
    };
    expect(edge.headers?.location.value ?? edge.uri).toBe(
      local?.status === 302 ? local.headers['Location'] : `/${String(local?.body)}`,
    );
  });
});
