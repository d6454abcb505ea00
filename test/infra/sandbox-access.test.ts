import { describe, expect, it } from 'vitest';
import { DISTRIBUTION_HEADER, distributionSecret } from '#lib/names.ts';
import { deployed, everySetting, logicalIds, propertiesOf, stage, templateOf } from './deployed.ts';

/*
 * Nobody reaches the sandbox but through the distribution of the site, whose firewall limits addresses: the two ends share a secret that no template
 * contains.
 */

const all = deployed();
const abroad = deployed({ settings: everySetting });
const home = deployed({
  settings: { environment: { account: '111122223333', region: 'us-east-1' } },
});
const { name, reference } = distributionSecret(stage('prod'));

interface Rule {
  readonly Name: string;
  readonly Priority: number;
  readonly Action?: object;
  readonly Statement: Readonly<Record<string, unknown>>;
}
function rulesOf(acl: string, stacks = all): readonly Rule[] {
  const found = propertiesOf(stacks, 'AWS::WAFv2::WebACL').find(({ Name }) => Name === acl);
  return (found?.['Rules'] ?? []) as readonly Rule[];
}

describe('the secret of the distribution', () => {
  it('is made by Secrets Manager, also where the site is, and is in no template', () => {
    const secretsIn = (stacks: typeof all) => propertiesOf(stacks, 'AWS::SecretsManager::Secret');
    const generated = { GenerateSecretString: { ExcludePunctuation: true, PasswordLength: 64 } };
    expect(secretsIn(all)).toMatchObject([{ Name: name, ...generated }]);
    expect(secretsIn(all)[0]).not.toHaveProperty('SecretString');
    expect(secretsIn(abroad)).toMatchObject([
      { Name: name, ...generated, ReplicaRegions: [{ Region: 'us-east-1' }] },
    ]);
    expect(secretsIn(home)[0]).not.toHaveProperty('ReplicaRegions');
  });

  it('is sent by the distribution to the sandbox alone, and asked for by the sandbox’s firewall alone', () => {
    const { Origins } = propertiesOf(all, 'AWS::CloudFront::Distribution')[0]?.['DistributionConfig'] as {
      Origins: readonly { readonly OriginCustomHeaders?: readonly object[] }[];
    };
    expect(Origins.map(({ OriginCustomHeaders }) => OriginCustomHeaders)).toStrictEqual([
      undefined,
      [{ HeaderName: DISTRIBUTION_HEADER, HeaderValue: reference }],
    ]);
    const holders = all.filter(({ template }) => JSON.stringify(template).includes(reference));
    expect(holders.map((one) => one.name).toSorted()).toStrictEqual([
      'mastery-reports-prod-documentation',
      'mastery-reports-prod-sandbox',
    ]);
    expect(JSON.stringify(holders.map(({ template }) => template.Outputs))).not.toContain('resolve');
  });

  it('exists before its two users', () => {
    const [secret = ''] = logicalIds(all, 'AWS::SecretsManager::Secret');
    const { Resources } = templateOf(all, 'sandbox');
    const acl = Object.values(Resources).find(({ Type }) => Type === 'AWS::WAFv2::WebACL');
    expect([acl?.DependsOn].flat()).toContain(secret);
    expect(all.find((one) => one.name.endsWith('documentation'))?.waitsFor).toContain(
      'mastery-reports-prod-sandbox',
    );
  });
});

describe('the firewall of the sandbox', () => {
  it('refuses what lacks the secret before it looks at anything else of the request', () => {
    const [override, through, ...others] = rulesOf('mastery-reports-prod-sandbox');
    expect([override?.Name, through]).toMatchObject([
      'method-override',
      {
        Name: 'through-distribution',
        Action: { Block: {} },
        Statement: {
          NotStatement: {
            Statement: {
              ByteMatchStatement: {
                FieldToMatch: { SingleHeader: { Name: DISTRIBUTION_HEADER } },
                PositionalConstraint: 'EXACTLY',
                SearchString: reference,
                TextTransformations: [{ Priority: 0, Type: 'NONE' }],
              },
            },
          },
        },
      },
    ]);
    // CloudFormation refuses an empty member.
    expect(propertiesOf(all, 'AWS::WAFv2::WebACL', 'sandbox')[0]).not.toHaveProperty('CustomResponseBodies');
    // Every call comes from an address of CloudFront's.
    expect(others.map((rule) => rule.Name)).toStrictEqual([
      'AWSManagedRulesKnownBadInputsRuleSet',
      'AWSManagedRulesCommonRuleSet',
    ]);
  });
});

describe('the firewall of the site', () => {
  const rules = rulesOf('mastery-reports-prod-site');

  it('limits each address by its connection, and never by a header that a caller writes', () => {
    const { requestsPerAddress } = stage('prod').config;
    expect(rules[0]).toMatchObject({
      Name: 'rate-per-address',
      Statement: { RateBasedStatement: { AggregateKeyType: 'IP', Limit: requestsPerAddress } },
      Action: { Block: { CustomResponse: { ResponseCode: 429, CustomResponseBodyKey: 'rateLimited' } } },
    });
    expect(JSON.stringify([all, abroad])).not.toMatch(/ForwardedIP|FORWARDED_IP|x-forwarded-for/i);
  });

  it('refuses bad addresses and known-bad inputs with a problem, since the sandbox is behind it', () => {
    const groups = rules.slice(1).map(({ Name, Statement }) => {
      const { RuleActionOverrides = [] } = Statement['ManagedRuleGroupStatement'] as {
        RuleActionOverrides?: readonly { Name: string; ActionToUse: object }[];
      };
      for (const { ActionToUse } of RuleActionOverrides)
        expect(ActionToUse).toMatchObject({
          Block: { CustomResponse: { ResponseCode: 400, CustomResponseBodyKey: 'refused' } },
        });
      return [Name, RuleActionOverrides.length];
    });
    expect(groups).toStrictEqual([
      ['AWSManagedRulesAmazonIpReputationList', 2],
      ['AWSManagedRulesKnownBadInputsRuleSet', 12],
    ]);
  });
});
