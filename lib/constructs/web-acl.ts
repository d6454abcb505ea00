import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { fixedCrossOriginHeaders } from '#shared/contract/cors.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { apiName } from '../names.ts';
import type { Stage } from '#shared/stage/stages.ts';
import type { ApiName } from './api-body.ts';
import { rateLimitedDocument } from '#shared/problems/gateway-responses.ts';

/**
 * The firewall before an API. Sampled requests stay off: a sample holds the Authorization header and the whole URL.
 * @param service whose problems it answers with
 * @param stageArn the API's stage, which it protects
 */
export function webAcl(
  scope: Construct,
  stage: Stage,
  api: ApiName,
  service: ServiceName,
  stageArn: string,
): void {
  const unsampled = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
    cloudWatchMetricsEnabled: true,
    sampledRequestsEnabled: false,
    metricName,
  });
  const acl = new CfnWebACL(scope, 'WebAcl', {
    name: apiName(stage, api),
    description: `Protects the ${api} API of ${stage.name}`,
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    // The dimension `WebACL` of every metric of the firewall. A name of its own: AWS WAF reserves `All`, and APIs share the namespace.
    visibilityConfig: unsampled(apiName(stage, api)),
    customResponseBodies: {
      rateLimited: {
        contentType: 'APPLICATION_JSON',
        content: rateLimitedDocument(service, stage.config.problemsUrl),
      },
    },
    rules: [
      {
        // A REST API lets this header change the method of a request: a route would be reached under another one's checks.
        name: 'method-override',
        priority: 0,
        statement: {
          sizeConstraintStatement: {
            fieldToMatch: { singleHeader: { Name: 'x-http-method-override' } },
            comparisonOperator: 'GE',
            size: 0,
            textTransformations: [{ priority: 0, type: 'NONE' }],
          },
        },
        action: { block: {} },
        visibilityConfig: unsampled('method-override'),
      },
      {
        name: 'rate-per-address',
        priority: 1,
        statement: {
          rateBasedStatement: {
            limit: stage.config.requestsPerAddress,
            aggregateKeyType: 'IP',
            evaluationWindowSec: 300,
          },
        },
        action: {
          block: {
            customResponse: {
              responseCode: 429,
              customResponseBodyKey: 'rateLimited',
              responseHeaders: [
                { name: 'Retry-After', value: '60' },
                { name: 'Cache-Control', value: 'no-store' },
                ...Object.entries(fixedCrossOriginHeaders(stage.config.allowedOrigins ?? [])).map(
                  ([name, value]) => ({ name, value }),
                ),
              ],
            },
          },
        },
        visibilityConfig: unsampled('rate-per-address'),
      },
      managed(2, 'AWSManagedRulesAmazonIpReputationList'),
      managed(3, 'AWSManagedRulesKnownBadInputsRuleSet'),
      managed(4, 'AWSManagedRulesCommonRuleSet', [
        // Bodies of megabytes and cursors up to 2,048 characters are part of the contract; the functions hold the limits.
        'SizeRestrictions_BODY',
        'SizeRestrictions_QUERYSTRING',
        // Service clients need not send one.
        'NoUserAgent_HEADER',
      ]),
    ],
  });
  new CfnWebACLAssociation(scope, 'WebAclAssociation', { resourceArn: stageArn, webAclArn: acl.attrArn });

  function managed(priority: number, name: string, counted: readonly string[] = []): CfnWebACL.RuleProperty {
    return {
      name,
      priority,
      statement: {
        managedRuleGroupStatement: {
          vendorName: 'AWS',
          name,
          ...(counted.length !== 0 && {
            ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
          }),
        },
      },
      overrideAction: { none: {} },
      visibilityConfig: unsampled(name),
    };
  }
}
