import { expect, it } from 'vitest';
import type { StageConfig, StageConfigs } from './stage.ts';
import { domainsOf, stageNamed, stages } from './stages.ts';

it('no deployment is called local, since a rehearsal opens the stage of that name [RP-032]', () => {
  // @ts-expect-error a deployment of that name does not compile
  const named = { local: stages.prod } satisfies StageConfigs;
  expect(Object.keys(named).filter((name) => name in stages)).toEqual([]);
  expect(stageNamed('local')).toMatchObject({ ok: false });
});

const environment = { account: '111122223333', region: 'eu-central-1' } as const;
const certificateArn = 'arn:aws:acm:eu-central-1:111122223333:certificate/1-a';
const ofAmerica = certificateArn.replace('eu-central-1', 'us-east-1');
const reports = { domain: 'reports.school.org', certificateArn };
const docs = { domain: 'docs.school.org', certificateArn: ofAmerica };
const origins = (...allowedOrigins: readonly string[]) => ({ allowedOrigins });
const silent = { alarmsEmail: undefined };
const alarmsTopicArn = 'arn:aws:sns:eu-central-1:111122223333:alarms';
const many = Array.from({ length: 11 }, (_, index) => `https://a${index}.org`);
const apiOf = (changes: object) => ({ domains: { reports: { ...reports, ...changes } } });
const canary = {
  tenantId: 'tenant-canary',
  run: {
    ...{ selectionPolicyId: 'policy-1', scaleCalibrationId: 'calibration-1', testSpecId: 'spec-1' },
    ...{ testBankId: 'bank-1', bankOperationId: 'operation-1' },
  },
};
const writer = (release: string) => ({ recordWriters: { release } });

it.each<object>([
  ...[{}, { ...silent, production: false }, { ...silent, alarmsTopicArn }],
  ...[origins(), origins(...many.slice(1))],
  origins('https://app.school.org', 'https://xn--schle-lva.example:8443', 'https://10.0.0.1'),
  { documentation: docs, ...apiOf({ hostedZoneId: 'Z0123456789ABCDEFGHIJ' }) },
  { environment: 'agnostic', ...apiOf({}) },
  { unlimitedAddresses: ['203.0.113.7/32', '198.51.100.0/24', '10.1.0.0/16'] },
  { unlimitedAddresses: Array.from({ length: 100 }, (_, at) => `10.0.${at}.0/24`) },
  ...[{ requestsPerTenant: 10 }, { requestsPerTenant: 1_000_000 }],
  writer('arn:aws:iam::111122223333:role/release'),
  ...[{ canary }, { canary: { tenantId: 'tenant-canary' } }],
  writer('arn:aws-us-gov:iam::111122223333:role/a/b/release@x'),
])('a stage takes %j', (changes) => {
  expect(named(changes)).toMatchObject({ ok: true, value: { config: changes } });
});

it.each<readonly [object, string | RegExp]>([
  [silent, 'production needs alarmsEmail or alarmsTopicArn: otherwise alarms reach no operator'],
  ...[
    ...['http://app.school.org', 'https://App.school.org', 'https://app.school.org/', 'https://a.org/x'],
    ...['https://*.school.org', '*', 'null', '', 'https://', 'https://a.org:443', 'https://a.org:x'],
    ...['https://u@a.org', 'https://schüle.example', 'https://a.org,https://b.org', "https://a'.org"],
    ...['https://$a.org', 'https://a.org?x', 'https://[::1]', 'https://a.org '],
  ].map((origin): readonly [object, string] => [
    origins('https://b.org', origin),
    `allowedOrigins contains ${JSON.stringify(origin)}: expected an https origin such as`,
  ]),
  [origins('https://a.org', 'https://a.org'), 'allowedOrigins contains an origin twice: remove one'],
  [{ canary: { tenantId: '' } }, 'canary.tenantId is empty'],
  [
    { canary: { ...canary, run: { ...canary.run, selectionPolicyId: 'latest' } } },
    'canary.run.selectionPolicyId cannot be an id of a start',
  ],
  [origins(...many), 'allowedOrigins contains 11 origins: expected at most 10'],
  [apiOf({ certificateArn: ofAmerica }), /domains\.reports has the certificate .* in eu-central-1$/],
  [apiOf({ certificateArn: certificateArn.replace('1111', '9999') }), /of account 111122223333 in eu-/],
  [
    apiOf({ certificateArn: 'arn:aws:iam::111122223333:server-certificate/a' }),
    /expected the ARN of a certificate/,
  ],
  [
    apiOf({ domain: 'https://reports.school.org' }),
    /domains\.reports has the domain .*: expected a host name/,
  ],
  [apiOf({ domain: 'Reports.school.org' }), /expected a host name in lower case/],
  [apiOf({ domain: '*.school.org' }), /expected a host name/],
  [apiOf({ hostedZoneId: '/hostedzone/Z012345' }), /has the hosted zone/],
  [
    { domains: { reports, receipts: reports } },
    'domains.receipts has the domain of another setting: each needs its own',
  ],
  [{ documentation: { ...docs, certificateArn } }, /documentation has the certificate .* in us-east-1$/],
  ...[
    ...['0.0.0.0/0', '10.0.0.0/8', '10.0.0.0/15', '10.0.0.1/24', '10.0.0.0/33', '10.0.0.0', '10.0.0/24'],
    ...['256.0.0.0/24', '010.0.0.0/24', '2001:db8::/32', 'school.org/24', ''],
  ].map((range): readonly [object, string] => [
    { unlimitedAddresses: ['198.51.100.0/24', range] },
    `unlimitedAddresses contains ${JSON.stringify(range)}: expected a range of IPv4`,
  ]),
  [{ unlimitedAddresses: ['10.0.0.0/24', '10.0.0.0/24'] }, 'unlimitedAddresses contains a range twice'],
  [
    { unlimitedAddresses: Array.from({ length: 101 }, (_, at) => `10.0.${at}.0/24`) },
    'unlimitedAddresses contains 101 ranges: expected at most 100',
  ],
  ...[9, 0, 10.5, Number.NaN, 1_000_001].map((requestsPerTenant): readonly [object, string] => [
    { requestsPerTenant },
    `requestsPerTenant is ${requestsPerTenant}: expected a whole number of requests in ten seconds`,
  ]),
  [writer('arn:aws:iam::999999999999:role/release'), 'account 111122223333'],
  [writer('arn:aws:iam::111122223333:role/*'), 'without a wildcard'],
  [writer('arn:aws:iam::111122223333:user/release'), 'of a role'],
  [writer('arn:aws:sts::111122223333:assumed-role/release/me'), 'of a role'],
])('a stage refuses %j with a sentence: %s', (changes, sentence) => {
  const refused = named(changes);
  const error = refused.ok ? '' : refused.error;
  expect(error).toMatch(/^stage prod: /);
  expect(error).toMatch(sentence);
});

it('the address of the sandbox is a path of the site, if the stage has a name for it', () => {
  const config = { ...stages.prod, domains: { reports }, documentation: docs };
  const address = { reports: 'https://reports.school.org', sandbox: 'https://docs.school.org/sandbox' };
  // SAFETY: the ARNs have the form of the setting.
  expect(domainsOf(config as StageConfig)).toStrictEqual(address);
  expect(domainsOf(stages.prod)).toStrictEqual({});
});

/** Production in its place with other settings. */
function named(changes: object): ReturnType<typeof stageNamed> {
  return stageNamed('prod', { ...stages, prod: { ...stages.prod, environment, ...changes } });
}
