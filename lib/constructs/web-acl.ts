import { CfnIPSet, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { CACHE_CONTROL } from '#shared/contract/cache-control.ts';
import { fixedCrossOriginHeaders } from '#shared/contract/cors.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { apiName } from '../names.ts';
import { countedFirewallRules } from '#shared/stage/firewall.ts';
import type { Stage } from '#shared/stage/stages.ts';
import type { ApiName } from '#shared/stage/stage.ts';
import { rateLimitedDocument } from '#shared/problems/gateway-responses.ts';

/**
 * Creates the firewall of an API. Sampled requests stay off: a sample contains the Authorization header and the whole URL.
 * @param service the service whose problems it returns
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
  const { requestsPerAddress, unlimitedAddresses } = stage.config;
  // Behind the other APIs nothing else bounds an address: they know no tenant.
  const exempt =
    unlimitedAddresses !== undefined && (api === 'mastery' || api === 'reports')
      ? new CfnIPSet(scope, 'UnlimitedAddresses', {
          name: apiName(stage, api),
          description: `The addresses that may send any number of requests to the ${api} API of ${stage.name}`,
          scope: 'REGIONAL',
          ipAddressVersion: 'IPV4',
          addresses: [...unlimitedAddresses],
        })
      : undefined;
  const acl = new CfnWebACL(scope, 'WebAcl', {
    name: apiName(stage, api),
    description: `Protects the ${api} API of ${stage.name}`,
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    // The dimension `WebACL` of every metric of the firewall. It is a name of its own: AWS WAF reserves `All`, and APIs share the namespace.
    visibilityConfig: unsampled(apiName(stage, api)),
    customResponseBodies: {
      rateLimited: {
        contentType: 'APPLICATION_JSON',
        content: rateLimitedDocument(service, stage.config.problemsUrl),
      },
    },
    rules: [
      {
        // A REST API lets this header change the method of a request, which would reach a route under another route's checks.
        name: 'method-override',
        statement: {
          sizeConstraintStatement: {
            fieldToMatch: { singleHeader: { Name: 'x-http-method-override' } },
            comparisonOperator: 'GE',
            size: 0,
            textTransformations: [{ priority: 0, type: 'NONE' }],
          },
        },
        action: { block: {} },
      },
      {
        name: 'rate-per-address',
        statement: {
          rateBasedStatement: {
            limit: requestsPerAddress,
            aggregateKeyType: 'IP',
            evaluationWindowSec: 300,
            ...(exempt && {
              scopeDownStatement: {
                notStatement: { statement: { ipSetReferenceStatement: { arn: exempt.attrArn } } },
              },
            }),
          },
        },
        action: {
          block: {
            customResponse: {
              responseCode: 429,
              customResponseBodyKey: 'rateLimited',
              responseHeaders: Object.entries({
                'Retry-After': '60',
                'Cache-Control': CACHE_CONTROL,
                ...fixedCrossOriginHeaders(stage.config.allowedOrigins ?? []),
              }).map(([name, value]) => ({ name, value })),
            },
          },
        },
      },
      managed('AWSManagedRulesAmazonIpReputationList'),
      managed('AWSManagedRulesKnownBadInputsRuleSet'),
      managed('AWSManagedRulesCommonRuleSet', {
        ruleActionOverrides: Object.keys(countedFirewallRules).map((name) => ({
          name,
          actionToUse: { count: {} },
        })),
      }),
    ].map((rule, priority) => ({ ...rule, priority, visibilityConfig: unsampled(rule.name) })),
  });
  new CfnWebACLAssociation(scope, 'WebAclAssociation', { resourceArn: stageArn, webAclArn: acl.attrArn });
}

/** Returns a group of rules that AWS maintains. */
function managed(
  name: string,
  changes: Pick<CfnWebACL.ManagedRuleGroupStatementProperty, 'ruleActionOverrides'> = {},
) {
  return {
    name,
    statement: { managedRuleGroupStatement: { vendorName: 'AWS', name, ...changes } },
    overrideAction: { none: {} },
  };
}
