import { CfnIPSet, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { CACHE_CONTROL } from '#shared/contract/cache-control.ts';
import { fixedCrossOriginHeaders } from '#shared/contract/cors.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { gatewayDocument } from '#shared/problems/gateway-responses.ts';
import { ADDRESS_LIST, addressListRules, managedGroups, rulesThat } from '#shared/stage/firewall.ts';
import type { ManagedGroupName } from '#shared/stage/firewall.ts';
import type { ApiName } from '#shared/stage/stage.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { apiName, DISTRIBUTION_HEADER, distributionSecret, siteName } from '../names.ts';

/** A rule without what every rule has: its priority, and the visibility of its metrics. */
type Rule = Omit<CfnWebACL.RuleProperty, 'priority' | 'visibilityConfig'>;

/** What a firewall returns itself: the problem of the gateway for the same case. */
const problemTypes = { rateLimited: 'THROTTLED', refused: 'WAF_FILTERED' } as const;
type ResponseName = keyof typeof problemTypes;

/** The rule that blocks an address; alarms and the runbook name it. */
export const RATE_RULE = 'rate-per-address';

/**
 * Creates the firewall of an API. That of the sandbox refuses every call that does not come through the site's distribution, whose firewall limits
 * addresses: behind the distribution, the address of every call is one of CloudFront's.
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
  const acl = firewall(scope, stage, {
    name: apiName(stage, api),
    description: `Protects the ${api} API of ${stage.name}`,
    scope: 'REGIONAL',
    service,
    responses: api === 'sandbox' ? [] : ['rateLimited'],
    rules: [
      methodOverride,
      ...(api === 'sandbox'
        ? [throughDistribution(stage)]
        : [ratePerAddress(stage, exemption(scope, stage, api)), addressList({})]),
      managed('AWSManagedRulesKnownBadInputsRuleSet'),
      managed('AWSManagedRulesCommonRuleSet'),
    ],
  });
  new CfnWebACLAssociation(scope, 'WebAclAssociation', { resourceArn: stageArn, webAclArn: acl.attrArn });
}

/**
 * Creates the firewall of the site's distribution, in a stack of us-east-1. What it refuses gets the problem that the firewall of an API would cause:
 * CloudFront's own answer is a page.
 */
export function siteWebAcl(scope: Construct, stage: Stage): CfnWebACL {
  const refusal = { block: { customResponse: respond(stage, 400, 'refused') } };
  const refuse = (names: readonly string[]) => names.map((name) => ({ name, actionToUse: refusal }));
  return firewall(scope, stage, {
    name: siteName(stage),
    description: `Protects the documentation site and the sandbox of ${stage.name}`,
    scope: 'CLOUDFRONT',
    service: 'reports',
    responses: ['rateLimited', 'refused'],
    rules: [
      ratePerAddress(stage, undefined),
      addressList({ ruleActionOverrides: refuse(addressListRules) }),
      managed(
        'AWSManagedRulesKnownBadInputsRuleSet',
        refuse(rulesThat('block', 'AWSManagedRulesKnownBadInputsRuleSet')),
      ),
    ],
  });
}

/** Sampled requests stay off: a sample contains the Authorization header and the whole URL. */
function firewall(
  construct: Construct,
  { config }: Stage,
  {
    name,
    description,
    scope,
    service,
    responses,
    rules,
  }: {
    readonly name: string;
    readonly description: string;
    readonly scope: 'REGIONAL' | 'CLOUDFRONT';
    readonly service: ServiceName;
    readonly responses: readonly ResponseName[];
    readonly rules: readonly Rule[];
  },
): CfnWebACL {
  const unsampled = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
    cloudWatchMetricsEnabled: true,
    sampledRequestsEnabled: false,
    metricName,
  });
  return new CfnWebACL(construct, 'WebAcl', {
    name,
    description,
    scope,
    defaultAction: { allow: {} },
    // The dimension `WebACL` of every metric of the firewall. It is a name of its own: AWS WAF reserves `All`, and APIs share the namespace.
    visibilityConfig: unsampled(name),
    ...(responses.length > 0 && {
      customResponseBodies: Object.fromEntries(
        responses.map((response) => [
          response,
          {
            contentType: 'APPLICATION_JSON',
            content: gatewayDocument(service, problemTypes[response], config.problemsUrl),
          },
        ]),
      ),
    }),
    rules: rules.map((rule, priority) => ({ ...rule, priority, visibilityConfig: unsampled(rule.name) })),
  });
}

function respond(
  { config }: Stage,
  responseCode: number,
  customResponseBodyKey: ResponseName,
  headers: Readonly<Record<string, string>> = {},
): CfnWebACL.CustomResponseProperty {
  return {
    responseCode,
    customResponseBodyKey,
    responseHeaders: Object.entries({
      ...headers,
      'Cache-Control': CACHE_CONTROL,
      ...fixedCrossOriginHeaders(config.allowedOrigins ?? []),
    }).map(([name, value]) => ({ name, value })),
  };
}

/** A REST API lets this header change the method of a request, which would reach a route under another route's checks. */
const methodOverride: Rule = {
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
};

/** Refuses what lacks the distribution's secret. CloudFront overwrites the header, if a caller sends one. */
function throughDistribution(stage: Stage): Rule {
  return {
    name: 'through-distribution',
    statement: {
      notStatement: {
        statement: {
          byteMatchStatement: {
            fieldToMatch: { singleHeader: { Name: DISTRIBUTION_HEADER } },
            positionalConstraint: 'EXACTLY',
            searchString: distributionSecret(stage).reference,
            textTransformations: [{ priority: 0, type: 'NONE' }],
          },
        },
      },
    },
    action: { block: {} },
  };
}

/** Limits an address by the connection, never by a header that a caller can write. */
function ratePerAddress(stage: Stage, exempt: CfnIPSet | undefined): Rule {
  return {
    name: RATE_RULE,
    statement: {
      rateBasedStatement: {
        limit: stage.config.requestsPerAddress,
        aggregateKeyType: 'IP',
        evaluationWindowSec: 300,
        ...(exempt && {
          scopeDownStatement: {
            notStatement: { statement: { ipSetReferenceStatement: { arn: exempt.attrArn } } },
          },
        }),
      },
    },
    action: { block: { customResponse: respond(stage, 429, 'rateLimited', { 'Retry-After': '60' }) } },
  };
}

/** Returns the addresses without a limit, for an API that bounds tenants. Behind the others, nothing else bounds an address. */
function exemption(scope: Construct, stage: Stage, api: ApiName): CfnIPSet | undefined {
  const { unlimitedAddresses } = stage.config;
  return unlimitedAddresses !== undefined && (api === 'mastery' || api === 'reports')
    ? new CfnIPSet(scope, 'UnlimitedAddresses', {
        name: apiName(stage, api),
        description: `The addresses that may send any number of requests to the ${api} API of ${stage.name}`,
        scope: 'REGIONAL',
        ipAddressVersion: 'IPV4',
        addresses: [...unlimitedAddresses],
      })
    : undefined;
}

type GroupChanges = Pick<CfnWebACL.ManagedRuleGroupStatementProperty, 'ruleActionOverrides' | 'version'>;

function addressList(changes: GroupChanges): Rule {
  return group(ADDRESS_LIST, changes);
}

/** Returns a group in its pinned version, with the rules in count mode that an id can hit. */
function managed(
  name: ManagedGroupName,
  blocking: readonly CfnWebACL.RuleActionOverrideProperty[] = [],
): Rule {
  const counted = rulesThat('count', name).map((rule) => ({ name: rule, actionToUse: { count: {} } }));
  return group(name, {
    version: managedGroups[name].version,
    ruleActionOverrides: [...blocking, ...counted],
  });
}

/** Returns a group of rules that AWS maintains. */
function group(name: string, changes: GroupChanges): Rule {
  return {
    name,
    statement: { managedRuleGroupStatement: { vendorName: 'AWS', name, ...changes } },
    overrideAction: { none: {} },
  };
}
