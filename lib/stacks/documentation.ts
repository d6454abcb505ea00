import { CfnOutput, Duration, Fn, RemovalPolicy, Stack, type App } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment';
import type { Stage } from '#shared/stage/stages.ts';
import { contentSecurityPolicy } from '#tools/page/headers.ts';
import { acknowledge, acknowledgeWildcards } from '../constructs/acknowledge.ts';
import { logGroup } from '../constructs/own-function.ts';
import { stackProps } from '../names.ts';
import { sandboxOutputs } from './sandbox.ts';

/**
 * Does what a file server does and S3 does not: `/` and the folders lead to their index, and a path without an extension is a page. The `type` of a
 * problem is such a path.
 */
export const pathFunction = `function handler(event) {
  var request = event.request;
  var folder = /^\\/(docs|problems|explorer)?\\/?$/.exec(request.uri);
  if (folder) {
    var location = '/' + (folder[1] || 'docs') + '/index.html';
    return { statusCode: 302, statusDescription: 'Found', headers: { location: { value: location } } };
  }
  if (!/\\.[a-z]+$/.test(request.uri)) request.uri += '.html';
  return request;
}`;

/** The path at which the site's origin forwards to the sandbox, for the explorer and for calls to try. */
export const SANDBOX_PATH = '/sandbox';

/** Removes the site's path of the sandbox: the sandbox's own paths begin with `/v1`. */
export const sandboxPathFunction = `function handler(event) {
  var request = event.request;
  request.uri = request.uri.slice(${SANDBOX_PATH.length});
  return request;
}`;

/**
 * Creates the documentation site: a private bucket that only CloudFront reads. No stack refers to this one, so that it can be deployed, changed and
 * deleted separately.
 * @param site the folder of the rendered site
 * @param sandbox the stack of the sandbox, which the site's origin forwards to
 */
export function documentation(app: App, stage: Stage, site: string, sandbox: Stack): Stack {
  const stack = new Stack(app, 'Documentation', {
    ...stackProps(stage, 'documentation'),
    description: 'Mastery reports: the documentation site with the problem pages',
  });
  const bucket = new s3.Bucket(stack, 'Site', {
    encryption: s3.BucketEncryption.S3_MANAGED,
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });
  acknowledge(bucket, {
    'AwsSolutions-S1': 'Only CloudFront reads the bucket, and what it holds is published.',
  });

  // The CDK's own types disagree under exactOptionalPropertyTypes.
  const files = bucket as s3.IBucket;

  const { documentation: address } = stage.config;
  const distribution = new cloudfront.Distribution(stack, 'Distribution', {
    comment: `Mastery reports ${stage.name}: documentation`,
    ...(address !== undefined && {
      domainNames: [address.domain],
      certificate: Certificate.fromCertificateArn(stack, 'Certificate', address.certificateArn),
      minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
    }),
    httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
    defaultBehavior: {
      origin: S3BucketOrigin.withOriginAccessControl(files),
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      responseHeadersPolicy: securityHeaders(stack),
      functionAssociations: [
        onRequest(stack, 'Paths', pathFunction, 'Index pages and paths without an extension'),
      ],
    },
    additionalBehaviors: { [`${SANDBOX_PATH}/*`]: forwardingTo(stack, sandbox, stage) },
    // To a reader who may not list the bucket, S3 reports an absent object as forbidden.
    errorResponses: [
      { httpStatus: 403, responseHttpStatus: 404, responsePagePath: '/404.html', ttl: Duration.minutes(1) },
    ],
  });
  acknowledge(distribution, {
    'AwsSolutions-CFR1': 'The documentation is for every country.',
    'AwsSolutions-CFR2': 'Static files; the sandbox, which it forwards to, has a firewall of its own.',
    'AwsSolutions-CFR3': 'Who reads which page is not recorded.',
    ...(address === undefined && {
      'AwsSolutions-CFR4':
        'CloudFront’s own certificate fixes the oldest protocol; a stage with an address of its own takes TLS 1.2.',
    }),
  });

  new BucketDeployment(stack, 'Files', {
    sources: [Source.asset(site)],
    destinationBucket: files,
    cacheControl: [CacheControl.setPublic(), CacheControl.maxAge(Duration.minutes(5))],
    distribution,
    memoryLimit: 256,
    logGroup: logGroup(stack, 'UploaderLogs', stage),
  });
  acknowledgeUploader(stack, bucket);
  new CfnOutput(stack, 'SiteUrl', {
    value: `https://${address?.domain ?? distribution.distributionDomainName}`,
    description: 'The documentation; the problem pages are below /problems',
  });
  return stack;
}

/** Forwards calls to the sandbox, whose responses are never cached here. Its address is a weak reference, so that neither stack blocks the other. */
function forwardingTo(stack: Stack, sandbox: Stack, { config }: Stage): cloudfront.BehaviorOptions {
  const output = (name: string): string => Fn.getStackOutput(sandbox.stackName, name);
  const isNamed = config.domains?.sandbox !== undefined;
  return {
    origin: new HttpOrigin(
      output(sandboxOutputs.host),
      // CloudFront takes no path `/`.
      isNamed ? {} : { originPath: output(sandboxOutputs.path) },
    ),
    viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
    allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
    cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
    originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
    functionAssociations: [onRequest(stack, 'SandboxPaths', sandboxPathFunction, 'Paths of the sandbox')],
  };
}

/** Creates a function of CloudFront that changes the paths of requests. */
function onRequest(stack: Stack, id: string, code: string, comment: string): cloudfront.FunctionAssociation {
  return {
    eventType: cloudfront.FunctionEventType.VIEWER_REQUEST,
    function: new cloudfront.Function(stack, id, {
      code: cloudfront.FunctionCode.fromInline(code),
      runtime: cloudfront.FunctionRuntime.JS_2_0,
      comment,
    }),
  };
}

function securityHeaders(stack: Stack): cloudfront.ResponseHeadersPolicy {
  return new cloudfront.ResponseHeadersPolicy(stack, 'Headers', {
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy, override: true },
      contentTypeOptions: { override: true },
      frameOptions: { frameOption: cloudfront.HeadersFrameOption.DENY, override: true },
      referrerPolicy: { referrerPolicy: cloudfront.HeadersReferrerPolicy.NO_REFERRER, override: true },
      strictTransportSecurity: {
        accessControlMaxAge: Duration.days(365),
        includeSubdomains: true,
        override: true,
      },
    },
  });
}

/** Accepts what cdk-nag finds on the CDK's own function, which uploads the files during a deployment. */
function acknowledgeUploader(stack: Stack, bucket: s3.Bucket): void {
  const uploader = stack.node.children.find(({ node }) => node.id.startsWith('Custom::CDKBucketDeployment'));
  if (uploader === undefined) throw new Error('the CDK has renamed the function that uploads files');
  const reason =
    'The CDK chooses role and runtime of this function. It reads the assets of the stage, writes to the bucket of the site and empties the cache.';
  const { account, partition, region } = stack;
  const assets = `arn:${partition}:s3:::cdk-hnb659fds-assets-${account}-${region}/*`;
  acknowledgeWildcards(uploader, [assets, bucket.arnForObjects('*'), '*'], reason);
  const findings = [
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
    ...['GetBucket*', 'GetObject*', 'List*', 'Abort*', 'DeleteObject*'].map(
      (action) => `AwsSolutions-IAM5[Action::s3:${action}]`,
    ),
    'AwsSolutions-L1',
    'Serverless-LambdaLatestVersion',
  ];
  acknowledge(uploader, {
    ...Object.fromEntries(findings.map((finding) => [finding, reason])),
    'Serverless-LambdaDLQ': 'CloudFormation waits for its answer: a failure fails the deployment.',
    'Serverless-LambdaTracing': 'It runs during a deployment only.',
  });
}
