import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CfnOutput, Duration, Fn, RemovalPolicy, Stack, type App } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { SANDBOX_HOST_OUTPUT, SANDBOX_URL_OUTPUT, stackName } from '#shared/stage/stack-names.ts';
import { SANDBOX_PATH } from '#shared/stage/stage.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { contentSecurityPolicy, pageHeaders } from '#tools/page/headers.ts';
import { alarmTopic } from '../constructs/alarm-topic.ts';
import { alarmProps } from '../constructs/alarms.ts';
import { siteAlarms } from '../constructs/edge-alarms.ts';
import { acknowledge, acknowledgeWildcards } from '../constructs/acknowledge.ts';
import { logGroup } from '../constructs/own-function.ts';
import { siteWebAcl } from '../constructs/web-acl.ts';
import { DISTRIBUTION_HEADER, distributionSecret, stackProps } from '../names.ts';

/** The page for an address that the site does not have. */
const ABSENT = '404.html';

/**
 * Returns the code of the function that does what a file server does and S3 does not: `/` and the folders lead to their index, a path without an
 * extension is a page (the `type` of a problem is such a path), and an absent one gets the site's page with 404. An error page of the distribution
 * would also replace the problems of the sandbox, and CloudFront calls no function for an origin's error. So the function knows the paths of the
 * site, each by a part of its digest: CloudFront takes 10 KB.
 * @param paths those of the site, without a slash at the beginning
 * @param absent the text of the page
 */
export function pathFunction(paths: readonly string[], absent: string): string {
  const known = paths.map((path) => digest(`/${path}`)).join(' ');
  const headers = {
    ...pageHeaders,
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'max-age=60',
  };
  const answer = {
    statusCode: 404,
    statusDescription: 'Not Found',
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), { value }]),
    ),
    body: { encoding: 'text', data: absent },
  };
  return `var crypto = require('crypto');
function handler(event) {
  var request = event.request;
  var folder = /^\\/(docs|problems|explorer)?\\/?$/.exec(request.uri);
  if (folder) {
    var location = '/' + (folder[1] || 'docs') + '/index.html';
    return { statusCode: 302, statusDescription: 'Found', headers: { location: { value: location } } };
  }
  if (!/\\.[a-z]+$/.test(request.uri)) request.uri += '.html';
  var digest = crypto.createHash('sha256').update(request.uri).digest('base64').slice(0, ${DIGEST_LENGTH});
  if (' ${known} '.includes(' ' + digest + ' ')) return request;
  return ${JSON.stringify(answer)};
}`;
}

/** In characters of six bits. An absent path that happens to look known gets the refusal of S3. */
const DIGEST_LENGTH = 6;

function digest(path: string): string {
  return createHash('sha256').update(path).digest('base64').slice(0, DIGEST_LENGTH);
}

/** Removes the site's path of the sandbox: the sandbox's own paths begin with `/v1`. */
export const sandboxPathFunction = `function handler(event) {
  var request = event.request;
  request.uri = request.uri.slice(${SANDBOX_PATH.length});
  return request;
}`;

/**
 * Creates the documentation site: a private bucket that only CloudFront reads, and the way to the sandbox. The stack is in us-east-1 in every
 * stage: the firewall of a distribution can only be there. No stack refers to this one, so that it can be deployed, changed and
 * deleted separately.
 * @param site the folder of the rendered site
 */
export function documentation(app: App, stage: Stage, site: string): Stack {
  const stack = new Stack(app, 'Documentation', {
    ...stackProps(stage, 'documentation'),
    description: 'Mastery reports: the documentation site with the problem pages, and the way to the sandbox',
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
    webAclId: siteWebAcl(stack, stage).attrArn,
    defaultBehavior: {
      origin: S3BucketOrigin.withOriginAccessControl(files),
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      responseHeadersPolicy: securityHeaders(stack),
      functionAssociations: [
        onRequest(stack, 'Paths', pathsOf(site), 'Index pages, paths without an extension, absent pages'),
      ],
    },
    additionalBehaviors: { [`${SANDBOX_PATH}/*`]: forwardingToSandbox(stack, stage) },
  });
  acknowledge(distribution, {
    'AwsSolutions-CFR1': 'The documentation is for every country.',
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
  const url = `https://${address?.domain ?? distribution.distributionDomainName}`;
  // The metrics of CloudFront are only here, so their alarms and a topic have to be here, too.
  const action = new SnsAction(alarmTopic(stack, stage, 'ticket'));
  for (const definition of siteAlarms(stage, distribution.distributionId)) {
    const alarm = new Alarm(stack, definition.id, {
      ...alarmProps(stage, definition),
      metric: definition.metric,
    });
    alarm.addAlarmAction(action);
  }
  new CfnOutput(stack, 'SiteUrl', {
    value: url,
    description: 'The documentation; the problem pages are below /problems',
  });
  new CfnOutput(stack, SANDBOX_URL_OUTPUT, {
    value: `${url}${SANDBOX_PATH}`,
    description: 'The {sandbox_url} of the API document: routes follow as /v1/…',
  });
  return stack;
}

/** Returns the function of the paths of a rendered site. */
function pathsOf(site: string): string {
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' });
  return pathFunction(files.toSorted(), readFileSync(join(site, ABSENT), 'utf8'));
}

/**
 * Forwards calls to the sandbox with the secret by which its firewall knows the distribution; responses are never cached here. The host is a weak
 * reference, so that neither stack blocks the other.
 */
function forwardingToSandbox(stack: Stack, stage: Stage): cloudfront.BehaviorOptions {
  const { environment } = stage.config;
  const host = Fn.getStackOutput(
    stackName(stage.name, 'sandbox'),
    SANDBOX_HOST_OUTPUT,
    ...(environment === 'agnostic' ? [] : [environment.region]),
  );
  return {
    origin: new HttpOrigin(host, {
      originPath: `/${stage.name}`,
      customHeaders: { [DISTRIBUTION_HEADER]: distributionSecret(stage).reference },
    }),
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
