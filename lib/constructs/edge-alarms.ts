import { Aws } from 'aws-cdk-lib';
import { Stats, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { ADDRESS_LIST, managedGroups, rulesThat, type ManagedGroupName } from '#shared/stage/firewall.ts';
import type { ApiName } from '#shared/stage/stage.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { apiName, siteName } from '../names.ts';
import { metricOf, type AlarmDefinition } from './alarms.ts';
import { RATE_RULE } from './web-acl.ts';

/*
 * Alarms on firewalls and on the site. AWS has their metrics without charge. Scanners of the internet cause a few blocks all the time: an alarm
 * means that blocks go on.
 */

/** Blocks in five minutes, in each of three periods, that no passing scanner causes. */
const BLOCKS = 20;
const PERSISTING = { breaching: 3, of: 3 } as const;

/** An alarm on a metric, not on an expression. */
type EdgeAlarm = AlarmDefinition & { readonly metric: Metric };

const groupNames = [ADDRESS_LIST, ...Object.keys(managedGroups)];

/** Returns the alarms on the firewall of an API. By rule only where ids of schools are in a request. */
export function firewallAlarms(stage: Stage, api: ApiName): readonly EdgeAlarm[] {
  return [
    ...firewallGroupAlarms(stage, api),
    ...(api === 'mastery' || api === 'reports' ? firewallLabelAlarms(stage, api) : []),
  ];
}

/** Returns an alarm per managed group of the firewall of an API. Only the site's firewall, in front of the sandbox's, has the list of addresses. */
export function firewallGroupAlarms(stage: Stage, api: ApiName): readonly EdgeAlarm[] {
  return groupNames
    .filter((group) => api !== 'sandbox' || group !== ADDRESS_LIST)
    .map((group) => ({
      id: `${api}-firewall-${kebab(group)}`,
      severity: 'ticket',
      section: 'firewall-blocks',
      title: `The firewall keeps blocking requests to the ${api} API by ${group}`,
      impact: blocked(api),
      metric: metricOf('AWS/WAFV2', 'BlockedRequests', {
        WebACL: apiName(stage, api),
        ManagedRuleGroup: group,
        Region: Aws.REGION,
      }),
      threshold: BLOCKS,
      periods: PERSISTING,
    }));
}

/** What a caller chooses and an id can be in: only there can a rule hit an id. */
const ofIds = /_(?:URIPATH|QUERYARGUMENTS|QUERYSTRING|BODY)$/;

/**
 * Returns an alarm per label of the rules that block in path, query or body of a request to an API: the rules that could hit the ids of a school. It
 * rings for fewer blocks than that of the group, since a school is small.
 */
export function firewallLabelAlarms(stage: Stage, api: ApiName): readonly EdgeAlarm[] {
  // SAFETY: the keys of the groups.
  return (Object.keys(managedGroups) as ManagedGroupName[]).flatMap((group) =>
    rulesThat('block', group)
      .filter((rule) => ofIds.test(rule))
      .map((rule) => ({
        id: `${api}-firewall-${kebab(rule)}`,
        severity: 'ticket',
        section: 'firewall-blocks',
        title: `The firewall keeps blocking requests to the ${api} API by the rule ${rule}`,
        impact: blocked(api),
        metric: metricOf('AWS/WAFV2', 'BlockedRequests', {
          WebACL: apiName(stage, api),
          LabelNamespace: managedGroups[group].labelNamespace,
          LabelName: labelOf(rule),
          Region: Aws.REGION,
        }),
        threshold: BLOCKS / 4,
        periods: PERSISTING,
      })),
  );
}

/**
 * Returns the alarms of the site and of the way to the sandbox. Their metrics exist only in us-east-1, so the alarms and their topic must be there too:
 * in the stack `documentation`.
 * @param distributionId the distribution of the site
 */
export function siteAlarms(stage: Stage, distributionId: string): readonly EdgeAlarm[] {
  const acl = { WebACL: siteName(stage) };
  return [
    {
      id: 'site-server-errors',
      severity: 'ticket',
      section: 'site-server-errors',
      title: 'The documentation site or the sandbox returns 5xx',
      impact: 'More than 5 % of the requests to the documentation, the problem pages and the sandbox fail.',
      metric: metricOf(
        'AWS/CloudFront',
        '5xxErrorRate',
        { DistributionId: distributionId, Region: 'Global' },
        Stats.AVERAGE,
      ),
      // Per cent. A site with few readers may have one failure among ten requests: three periods.
      threshold: 5,
      periods: PERSISTING,
    },
    {
      id: 'site-firewall-rate-limit',
      severity: 'ticket',
      section: 'firewall-rate-limit',
      title: 'The firewall blocks an address at the site and the sandbox',
      impact:
        'All readers and developers behind one IP address receive 429. It may be an attacker, or a school whose developers share the address.',
      // A firewall of CloudFront has no dimension Region.
      metric: metricOf('AWS/WAFV2', 'BlockedRequests', { ...acl, Rule: RATE_RULE }),
      periods: PERSISTING,
    },
    ...[ADDRESS_LIST, 'AWSManagedRulesKnownBadInputsRuleSet'].map((group): EdgeAlarm => ({
      id: `site-firewall-${kebab(group)}`,
      severity: 'ticket',
      section: 'firewall-blocks',
      title: `The firewall keeps blocking requests to the site and the sandbox by ${group}`,
      impact: blocked('sandbox'),
      metric: metricOf('AWS/WAFV2', 'BlockedRequests', { ...acl, ManagedRuleGroup: group }),
      threshold: BLOCKS,
      periods: PERSISTING,
    })),
  ];
}

function blocked(api: ApiName): string {
  return `Callers of the ${api} API receive 400 before a function sees the request. It may be a scanner, or a school whose ids look like an attack.`;
}

/** `JavaDeserializationRCE_URIPATH` has the label `JavaDeserializationRCE_URIPath`: the part in another spelling. */
function labelOf(rule: string): string {
  const parts: Readonly<Record<string, string>> = {
    URIPATH: 'URIPath',
    QUERYSTRING: 'QueryString',
    QUERYARGUMENTS: 'QueryArguments',
    BODY: 'Body',
  };
  return rule.replace(/[A-Z]+$/, (part) => parts[part] ?? part);
}

function kebab(name: string): string {
  return name
    .replace(/^AWSManagedRules/, '')
    .replace(/RuleSet$/, '')
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])|_/g, '-')
    .toLowerCase();
}
