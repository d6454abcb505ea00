import { describe, expect, it } from 'vitest';
import { blockedBy, type Inspected } from '#local/gateway/firewall.ts';
import { routes } from '#shared/contract/routes.ts';
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
  // The mastery engine leaves the length of an id to its owner.
  'x'.repeat(1200),
];
/** The one limit of ids: what no platform uses as an id is left to the firewall (docs/local-runtime.md). */
const attacks: readonly string[] = [
  ...['<script>alert(1)</script>', '%3Cscript%3E', 'javascript:a'],
  ...[
    'http://169.254.169.254/latest/meta-data',
    '${jndi:ldap://example.org/a}',
    'WEB-INF',
    'java.lang.Runtime',
  ],
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

const firewalls = propertiesOf(deployed({ settings: everySetting }), 'AWS::WAFv2::WebACL').map(
  (properties) => {
    const { Name, Rules } = properties as {
      Name: string;
      Rules: readonly {
        Statement: {
          ManagedRuleGroupStatement?: {
            RuleActionOverrides?: readonly { Name: string; ActionToUse: object }[];
          };
        };
      }[];
    };
    const overrides = Rules.flatMap(
      ({ Statement }) => Statement.ManagedRuleGroupStatement?.RuleActionOverrides ?? [],
    );
    return [
      Name,
      new Set(overrides.filter((one) => 'Count' in one.ActionToUse).map((one) => one.Name)),
    ] as const;
  },
);

describe('the firewall of every API', () => {
  const counted = firewalls[0]?.[1] ?? new Set<string>();

  it('counts the same rules', () => {
    expect(firewalls.map(([name]) => name)).toHaveLength(4);
    for (const [, rules] of firewalls) expect(rules).toEqual(counted);
  });

  it('blocks no id that a schema admits', () => {
    expect(requests.length).toBeGreaterThan(1000);
    const blocked = requests.flatMap(({ of, inspected }) =>
      blockedBy(inspected, counted).map(
        (rule) => `${of}: ${rule}: ${JSON.stringify(inspected).slice(0, 300)}`,
      ),
    );
    expect(blocked).toEqual([]);
  });

  it('counts only rules that would block one', () => {
    const own = ['NoUserAgent_HEADER', 'SizeRestrictions_BODY'];
    const hit = new Set(requests.flatMap(({ inspected }) => blockedBy(inspected, new Set())));
    // A body that names an id, and one of the largest.
    for (const id of suspects)
      for (const rule of blockedBy(inspectedOf('', { body: { id } }), new Set())) hit.add(rule);
    expect([...counted].filter((rule) => !hit.has(rule) && !own.includes(rule))).toEqual([]);
  });

  it.each(attacks)('blocks %s as an id', (id) => {
    for (const part of [{ path: { id } }, { query: { id } }, { body: { id } }]) {
      if (id === 'WEB-INF' && !('path' in part)) continue;
      expect(blockedBy(inspectedOf('/{id}', part), counted)).not.toEqual([]);
    }
  });
});

describe('the rate of an address', () => {
  const scopes = (settings?: typeof everySetting) => {
    const stacks = deployed(settings === undefined ? {} : { settings });
    const rated = propertiesOf(stacks, 'AWS::WAFv2::WebACL').map((properties) => {
      const { Name, Rules } = properties as {
        readonly Name: string;
        readonly Rules: readonly {
          readonly Name: string;
          readonly Statement: { readonly RateBasedStatement?: Readonly<Record<string, unknown>> };
        }[];
      };
      const rule = Rules.find(({ Name: name }) => name === 'rate-per-address');
      return [Name.split('-').at(-1), rule?.Statement.RateBasedStatement?.['ScopeDownStatement']] as const;
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
    const others = ['receipts', 'sandbox'].map((api) => rated.get(api));
    expect([rated.get('mastery'), rated.get('reports'), ...others]).toEqual([
      ...[spared, spared, undefined, undefined],
    ]);
    expect(
      sets.map(({ Addresses, IPAddressVersion, Scope }) => [Addresses, IPAddressVersion, Scope]),
    ).toEqual([1, 2].map(() => [['203.0.113.0/24', '198.51.100.7/32'], 'IPV4', 'REGIONAL']));
  });

  it('spares none unless the stage lists some', () => {
    const [rated, sets] = scopes();
    expect([[...rated.values()], sets]).toEqual([[undefined, undefined, undefined, undefined], []]);
  });
});
