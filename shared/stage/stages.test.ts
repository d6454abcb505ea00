import { describe, expect, it } from 'vitest';
import type { HttpsUrl, RoleArn, StageConfig, StageConfigs } from './stage.ts';
import { stageNamed, stages } from './stages.ts';

it('no deployment is called local, since a rehearsal opens the stage of that name [RP-032]', () => {
  // @ts-expect-error a deployment of that name does not compile
  const named = { local: stages.prod } satisfies StageConfigs;
  expect(Object.keys(named).filter((name) => name in stages)).toEqual([]);
  expect(stageNamed('local')).toMatchObject({ ok: false });
});

it('a production stage has someone who learns of an alarm', () => {
  const { alarmsEmail, ...silent } = stages.prod;
  const named = (prod: StageConfig) => stageNamed('prod', { ...stages, prod });
  expect(named(silent)).toEqual({
    ok: false,
    error: 'stage prod: production needs alarmsEmail or alarmsTopicArn: otherwise alarms reach no operator',
  });
  expect(named({ ...silent, production: false }).ok).toBe(true);
  expect(named({ ...silent, alarmsEmail }).ok).toBe(true);
  expect(named({ ...silent, alarmsTopicArn: 'arn:aws:sns:eu-central-1:111122223333:alarms' }).ok).toBe(true);
});

describe('allowedOrigins', () => {
  const named = (...allowedOrigins: readonly string[]): ReturnType<typeof stageNamed> =>
    stageNamed('prod', {
      ...stages,
      prod: { ...stages.prod, allowedOrigins: allowedOrigins as readonly HttpsUrl[] },
    });

  it('takes origins as browsers send them', () => {
    const origins = ['https://app.school.org', 'https://xn--schle-lva.example:8443', 'https://10.0.0.1'];
    expect(named(...origins)).toMatchObject({ ok: true, value: { config: { allowedOrigins: origins } } });
    expect(named()).toMatchObject({ ok: true });
  });

  it.each([
    ...['http://app.school.org', 'https://App.school.org', 'https://app.school.org/', 'https://a.org/x'],
    ...['https://*.school.org', '*', 'null', '', 'https://', 'https://a.org:443', 'https://a.org:x'],
    ...['https://u@a.org', 'https://schüle.example', 'https://a.org,https://b.org', "https://a'.org"],
    ...['https://$a.org', 'https://a.org?x', 'https://[::1]', 'https://a.org '],
  ])('refuses %j with a sentence', (origin) => {
    expect(named('https://b.org', origin)).toEqual({
      ok: false,
      error: expect.stringContaining(
        `stage prod: allowedOrigins contains ${JSON.stringify(origin)}: expected an https origin such as`,
      ) as string,
    });
  });

  it('refuses an origin twice, and more than ten', () => {
    expect(named('https://a.org', 'https://a.org')).toMatchObject({
      error: 'stage prod: allowedOrigins contains an origin twice: remove one',
    });
    const many = Array.from({ length: 11 }, (_, index) => `https://a${index}.org`);
    expect(named(...many.slice(1))).toMatchObject({ ok: true });
    expect(named(...many)).toMatchObject({
      error: 'stage prod: allowedOrigins contains 11 origins: expected at most 10',
    });
  });
});

describe('domains', () => {
  const environment = { account: '111122223333', region: 'eu-central-1' } as const;
  const certificateArn = 'arn:aws:acm:eu-central-1:111122223333:certificate/1-a';
  const reports = { domain: 'reports.school.org', certificateArn };
  const named = (config: object): ReturnType<typeof stageNamed> =>
    stageNamed('prod', { ...stages, prod: { ...stages.prod, environment, ...config } });

  it('take a host name with a certificate of the stage’s account and region, the documentation one of us-east-1', () => {
    const documentation = {
      domain: 'docs.school.org',
      certificateArn: certificateArn.replace('eu-central-1', 'us-east-1'),
    };
    const hostedZoneId = 'Z0123456789ABCDEFGHIJ';
    expect(named({ documentation, domains: { reports: { ...reports, hostedZoneId } } })).toMatchObject({
      ok: true,
    });
    expect(named({ environment: 'agnostic', domains: { reports } })).toMatchObject({ ok: true });
  });

  it.each([
    [
      { certificateArn: certificateArn.replace('eu-central-1', 'us-east-1') },
      /domains\.reports has the certificate .* in eu-central-1$/,
    ],
    [
      { certificateArn: certificateArn.replace('111122223333', '999999999999') },
      /of account 111122223333 in eu-/,
    ],
    [
      { certificateArn: 'arn:aws:iam::111122223333:server-certificate/a' },
      /expected the ARN of a certificate/,
    ],
    [{ domain: 'https://reports.school.org' }, /domains\.reports has the domain .*: expected a host name/],
    [{ domain: 'Reports.school.org' }, /expected a host name in lower case/],
    [{ domain: '*.school.org' }, /expected a host name/],
    [{ hostedZoneId: '/hostedzone/Z012345' }, /has the hosted zone/],
  ])('refuse %j', (wrong, message) => {
    expect(named({ domains: { reports: { ...reports, ...wrong } } })).toEqual({
      ok: false,
      error: expect.stringMatching(message) as string,
    });
  });

  it('refuse one name for two, and a certificate of the documentation that CloudFront cannot read', () => {
    expect(named({ domains: { reports, receipts: reports } })).toMatchObject({
      error: 'stage prod: domains.receipts has the domain of another setting: each needs its own',
    });
    expect(named({ documentation: { domain: 'docs.school.org', certificateArn } })).toMatchObject({
      error: expect.stringMatching(/documentation has the certificate .* in us-east-1$/) as string,
    });
  });
});

it.each([
  ['arn:aws:iam::111122223333:role/release', undefined],
  ['arn:aws-us-gov:iam::111122223333:role/a/b/release@x', undefined],
  ['arn:aws:iam::999999999999:role/release', 'account 111122223333'],
  ['arn:aws:iam::111122223333:role/*', 'without a wildcard'],
  ['arn:aws:iam::111122223333:user/release', 'of a role'],
  ['arn:aws:sts::111122223333:assumed-role/release/me', 'of a role'],
] as const)('recordWriters takes a role of the stage’s account as it is: %s', (role, defect) => {
  const environment = { account: '111122223333', region: 'eu-central-1' } as const;
  const recordWriters = { release: role as RoleArn };
  const named = stageNamed('prod', { ...stages, prod: { ...stages.prod, environment, recordWriters } });
  expect(named).toMatchObject(
    defect === undefined ? { ok: true } : { ok: false, error: expect.stringContaining(defect) as string },
  );
});
