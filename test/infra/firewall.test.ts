import { describe, expect, it } from 'vitest';
import { blockedBy, modelledRules, type Inspected } from '#local/gateway/firewall.ts';
import { routes } from '#shared/contract/routes.ts';
import {
  countedFirewallRules,
  managedGroups,
  rulesThat,
  type ManagedGroupName,
} from '#shared/stage/firewall.ts';
import { isAdmitted, placesOf } from '#test/lemmas/edges.ts';
import { oddIds } from '#test/lemmas/requests.ts';
import type { TestRequest } from '#test/support/lambda.ts';
import { deployed, everySetting, propertiesOf } from './deployed.ts';

/** Ids that a firewall may take for an attack, besides the odd ones. */
const suspects: readonly string[] = [
  ...['server.log', 'form.ini', 'a.conf', 'backup.sql', '.env', 'x.bak'],
  ...['..', '../a', '../../etc/passwd', '..%2F..%2F', '%2e%2e%2f', String.raw`..\a`, '%', '%00'],
  ...['https://example.org/student/1', 'http://203.0.113.7/a', 'ftp://a/b', 'file:///a', 'urn:uuid:0'],
  ...['a;b', "a'--", 'a|b', 'a&b=c', 'a=b?c#d', '${a}', 'SELECT*FROM', 'a:b', '@a', '~root'],
  '😀'.repeat(63),
  ...['<script>alert(1)</script>', '%3Cscript%3E', 'javascript:a', 'http://169.254.169.254/latest/meta-data'],
  // The mastery engine leaves the length of an id to its owner.
  'x'.repeat(1200),
];
/** The one limit of ids: what no platform uses as an id is left to the firewall (docs/local-runtime.md). With the parts in which it is refused. */
const attacks: readonly (readonly [id: string, parts: readonly string[]])[] = [
  ['${jndi:ldap://example.org/a}', ['path', 'query', 'body']],
  ['java.lang.Runtime', ['path', 'query', 'body']],
  ['WEB-INF', ['path']],
  ['$1:__proto__:then', ['body']],
];

/** A request as the firewall sees it. */
function inspectedOf(path: string, { path: values = {}, query = {}, body }: TestRequest): Inspected {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? 'p'));
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return { path: filled, query: pairs.join('&'), body: JSON.stringify(body ?? ''), headers: '' };
}

/** Every value that a place of a route admits, in a request that has it there. */
const requests = routes.flatMap((route) =>
  placesOf(route).flatMap((place) => {
    const drawn = place.trials.filter(({ value }) => isAdmitted(place, value)).map(({ request }) => request);
    const [part = '', name = ''] = place.name.split(' ');
    const chosen = [...oddIds, ...suspects]
      .filter((id) => (part === 'path' || part === 'query') && id.isWellFormed() && isAdmitted(place, id))
      .map((id): TestRequest => ({ [part]: { [name]: id } }));
    return [...drawn, ...chosen].map((request) => ({
      of: `${route.operationId} ${place.name}`,
      inspected: inspectedOf(route.path, request),
    }));
  }),
);

interface Group {
  readonly Name: string;
  readonly Version?: string;
  readonly RuleActionOverrides?: readonly { readonly Name: string; readonly ActionToUse: object }[];
}
interface DeployedRule {
  readonly Name: string;
  readonly OverrideAction?: object;
  readonly Statement: { readonly ManagedRuleGroupStatement?: Group };
}

/** The managed groups of each firewall of an API. */
const firewalls = propertiesOf(deployed({ settings: everySetting }), 'AWS::WAFv2::WebACL')
  .filter(({ Scope }) => Scope === 'REGIONAL')
  .map(({ Name, Rules }) => ({
    name: String(Name),
    groups: (Rules as readonly DeployedRule[]).flatMap(({ Statement, OverrideAction }) =>
      Statement.ManagedRuleGroupStatement === undefined
        ? []
        : [{ ...Statement.ManagedRuleGroupStatement, OverrideAction }],
    ),
  }));
// SAFETY: the keys of the groups.
const groupNames = Object.keys(managedGroups) as ManagedGroupName[];

/** Rules that an id can hit only by its size, or that look at no id. */
const withoutId = new Set(['NoUserAgent_HEADER', 'SizeRestrictions_BODY']);

describe('the firewall of every API', () => {
  it('has both groups in their pinned versions, and counts exactly the rules with a reason', () => {
    expect(firewalls.map(({ name }) => name.split('-').at(-1)).toSorted()).toStrictEqual([
      ...['mastery', 'receipts', 'reports', 'sandbox'],
    ]);
    for (const { name, groups } of firewalls)
      for (const group of groupNames) {
        const own = groups.filter(({ Name }) => Name === group);
        expect(own, name).toStrictEqual([
          {
            ...{ VendorName: 'AWS', Name: group, Version: managedGroups[group].version },
            RuleActionOverrides: rulesThat('count', group).map((rule) => ({
              Name: rule,
              ActionToUse: { Count: {} },
            })),
            // Not of the whole group, which would let everything pass.
            OverrideAction: { None: {} },
          },
        ]);
      }
  });

  it('counts only in path, query and body, and goes on blocking in headers and cookies, and what is known to be bad', () => {
    const counting = [...countedFirewallRules].filter((rule) => rule !== 'NoUserAgent_HEADER');
    for (const rule of counting) expect(rule).toMatch(/_(?:URIPATH|QUERYARGUMENTS|QUERYSTRING|BODY)$/);
    expect(rulesThat('count', 'AWSManagedRulesKnownBadInputsRuleSet')).toStrictEqual([]);
    expect(rulesThat('block', 'AWSManagedRulesCommonRuleSet')).toStrictEqual([
      ...['UserAgent_BadBots_HEADER', 'SizeRestrictions_Cookie_HEADER'],
      ...['EC2MetaDataSSRF_COOKIE', 'CrossSiteScripting_COOKIE'],
    ]);
  });

  it('is modelled rule by rule, but for what the local stack cannot have', () => {
    const left = groupNames
      .flatMap((group) => Object.keys(managedGroups[group].rules))
      .filter((rule) => !(modelledRules as readonly string[]).includes(rule));
    expect(left.toSorted()).toStrictEqual([
      ...['CrossSiteScripting_COOKIE', 'EC2MetaDataSSRF_COOKIE', 'Host_localhost_HEADER'],
      ...['NoUserAgent_HEADER', 'PROPFIND_METHOD'],
      ...['SizeRestrictions_Cookie_HEADER', 'UserAgent_BadBots_HEADER'],
    ]);
  });

  it('blocks no id that a schema admits', () => {
    expect(requests.length).toBeGreaterThan(1000);
    const blocked = requests.flatMap(({ of, inspected }) =>
      blockedBy(inspected).map((rule) => `${of}: ${rule}: ${JSON.stringify(inspected).slice(0, 300)}`),
    );
    expect(blocked).toEqual([]);
  });

  const none: ReadonlySet<string> = new Set();
  /** What each rule would block, if none only counted: legal requests, and bodies that name a suspect id. */
  const hits = new Map<string, Inspected>();
  for (const inspected of [
    ...requests.map((request) => request.inspected),
    ...suspects.map((id) => inspectedOf('', { body: { id } })),
  ])
    for (const rule of blockedBy(inspected, none)) if (!hits.has(rule)) hits.set(rule, inspected);

  it.each([...countedFirewallRules].filter((rule) => !withoutId.has(rule)))(
    'would block a legal id by %s, if it did not only count',
    (rule) => {
      const legal = hits.get(rule);
      expect(legal).toBeDefined();
      if (legal === undefined) return;
      const others = new Set(countedFirewallRules);
      others.delete(rule);
      expect(blockedBy(legal, others)).toContain(rule);
      expect(blockedBy(legal)).toEqual([]);
    },
  );

  it.each(attacks)('blocks %s as an id in %j', (id, parts) => {
    const requestsOf = { path: { path: { id } }, query: { query: { id } }, body: { body: { id } } };
    for (const [part, request] of Object.entries(requestsOf))
      expect([part, blockedBy(inspectedOf('/{id}', request)).length > 0]).toEqual([
        part,
        parts.includes(part),
      ]);
  });
});

describe('the rate of an address', () => {
  const scopes = (settings?: typeof everySetting) => {
    const stacks = deployed(settings === undefined ? {} : { settings });
    const rated = propertiesOf(stacks, 'AWS::WAFv2::WebACL').flatMap((properties) => {
      const { Name, Rules } = properties as {
        readonly Name: string;
        readonly Rules: readonly {
          readonly Name: string;
          readonly Statement: { readonly RateBasedStatement?: Readonly<Record<string, unknown>> };
        }[];
      };
      const rule = Rules.find(({ Name: name }) => name === 'rate-per-address');
      return rule === undefined
        ? []
        : [[Name.split('-').at(-1), rule.Statement.RateBasedStatement?.['ScopeDownStatement']] as const];
    });
    return [new Map(rated), propertiesOf(stacks, 'AWS::WAFv2::IPSet')] as const;
  };

  it('spares the listed addresses behind the APIs that bound tenants, and no address behind the others', () => {
    const [rated, sets] = scopes(everySetting);
    const spared = {
      NotStatement: {
        Statement: { IPSetReferenceStatement: { Arn: 'UnlimitedAddresses.Arn' } },
      },
    };
    expect(Object.fromEntries(rated)).toStrictEqual({
      ...{ mastery: spared, reports: spared, receipts: undefined },
      // Before the sandbox.
      site: undefined,
    });
    expect(
      sets.map(({ Addresses, IPAddressVersion, Scope }) => [Addresses, IPAddressVersion, Scope]),
    ).toEqual([1, 2].map(() => [['203.0.113.0/24', '198.51.100.7/32'], 'IPV4', 'REGIONAL']));
  });

  it('spares none unless the stage lists some', () => {
    const [rated, sets] = scopes();
    expect([[...rated.values()], sets]).toEqual([[undefined, undefined, undefined, undefined], []]);
  });
});
