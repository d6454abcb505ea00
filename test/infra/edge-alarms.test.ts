import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { describe, expect, it } from 'vitest';
import { alarmProps } from '#lib/constructs/alarms.ts';
import { firewallGroupAlarms, firewallLabelAlarms, siteAlarms } from '#lib/constructs/edge-alarms.ts';
import { modelledRules } from '#local/gateway/firewall.ts';
import { countedFirewallRules } from '#shared/stage/firewall.ts';
import { deployed, propertiesOf, stage } from './deployed.ts';

const prod = stage('prod');
const apis = ['mastery', 'reports', 'receipts', 'sandbox'] as const;
const groups = apis.flatMap((api) => firewallGroupAlarms(prod, api));
const labels = apis.flatMap((api) => firewallLabelAlarms(prod, api));
const site = siteAlarms(prod, 'E1');
const dimensionsOf = ({ metric }: { readonly metric: Metric }) =>
  Object.fromEntries((metric.dimensions ? Object.entries(metric.dimensions) : []) as [string, string][]);

interface Rule {
  readonly Name: string;
  readonly VisibilityConfig: { readonly MetricName: string };
}
const firewalls = propertiesOf(deployed(), 'AWS::WAFv2::WebACL').map((properties) => ({
  name: (properties['VisibilityConfig'] as Rule['VisibilityConfig']).MetricName,
  scope: properties['Scope'],
  rules: (properties['Rules'] as readonly Rule[]).map(({ VisibilityConfig: { MetricName } }) => MetricName),
}));

describe('the alarms of firewalls and site', () => {
  it.each([...groups, ...labels, ...site])(
    '$id has a section of the runbook and names its victims',
    (one) => {
      const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
      expect(runbook).toContain(`\n## \`${one.section}\`\n`);
      const { alarmName = '', alarmDescription } = alarmProps(prod, one);
      expect(alarmName.length).toBeLessThanOrEqual(255);
      expect(alarmDescription).toMatch(/^.{10,}\. Impact: .{20,}\. What to do: \S+#\S+$/);
    },
  );

  it('have names of their own', () => {
    const ids = [...groups, ...labels, ...site].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9-]+$/);
  });

  it('watch a group or a rule of a firewall that is deployed, with the dimensions of its scope', () => {
    const watching = [...groups, ...site.filter(({ metric }) => metric.namespace === 'AWS/WAFV2')];
    for (const definition of watching) {
      const { WebACL, Region, ManagedRuleGroup, Rule = ManagedRuleGroup } = dimensionsOf(definition);
      const firewall = firewalls.find(({ name }) => name === WebACL);
      expect(firewall?.rules, definition.id).toContain(Rule);
      expect(Region === undefined).toBe(firewall?.scope === 'CLOUDFRONT');
    }
    // Every managed group of every firewall is watched.
    const managed = firewalls.flatMap(({ name, rules }) =>
      rules.filter((rule) => rule.startsWith('AWSManaged')).map((rule) => `${name} ${rule}`),
    );
    const watched = watching
      .map(dimensionsOf)
      .flatMap(({ WebACL, ManagedRuleGroup }) =>
        ManagedRuleGroup === undefined ? [] : [`${String(WebACL)} ${ManagedRuleGroup}`],
      );
    expect(watched.toSorted()).toStrictEqual(managed.toSorted());
  });

  it('name the label of each rule that blocks where an id can be', () => {
    const blocking = modelledRules.filter(
      (rule) => !countedFirewallRules.has(rule) && !rule.endsWith('_HEADER'),
    );
    const own = firewallLabelAlarms(prod, 'reports').map(dimensionsOf);
    expect(own.map(({ LabelName = '' }) => LabelName.toUpperCase()).toSorted()).toStrictEqual(
      blocking.map((rule) => rule.toUpperCase()).toSorted(),
    );
    expect(own).toContainEqual({
      WebACL: 'mastery-reports-prod-reports',
      LabelNamespace: 'awswaf:managed:aws:known-bad-inputs',
      LabelName: 'ExploitablePaths_URIPath',
      Region: expect.any(String) as string,
    });
  });

  it('watch the distribution under the dimensions that CloudFront has in us-east-1', () => {
    expect(site[0]).toMatchObject({ threshold: 5 });
    expect(dimensionsOf(site[0]!)).toEqual({ DistributionId: 'E1', Region: 'Global' });
    // CloudWatch has no alarm on a metric of another region, so a metric names none.
    for (const { metric } of [...groups, ...labels, ...site])
      expect(new Stack().resolve(metric.region)).toBeUndefined();
  });
});
