import { describe, expect, it } from 'vitest';
import { deployed, logicalIds, ownDomains, propertiesOf } from './deployed.ts';

const all = deployed();
const moved = deployed({ settings: { domains: ownDomains() } });
const moving = deployed({ settings: { domains: ownDomains({ keepsFormerAddress: true }) } });
const apis = ['mastery', 'receipts', 'reports'];

describe('an API with a host name of its own', () => {
  it('has it with TLS 1.2 and the certificate, for its own stage without a prefix', () => {
    const hosts = propertiesOf(moved, 'AWS::ApiGateway::DomainName');
    expect(
      hosts.toSorted((a, b) => (String(a['DomainName']) < String(b['DomainName']) ? -1 : 1)),
    ).toMatchObject(
      apis.map((api) => ({
        DomainName: `${api}.school.org`,
        RegionalCertificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/one',
        EndpointConfiguration: { Types: ['REGIONAL'] },
        SecurityPolicy: 'TLS_1_2',
      })),
    );
    const mappings = propertiesOf(moved, 'AWS::ApiGateway::BasePathMapping');
    expect(mappings).toHaveLength(apis.length);
    for (const mapping of mappings) expect(mapping).not.toHaveProperty('BasePath');
    expect(propertiesOf(moved, 'AWS::Route53::RecordSet')).toMatchObject([
      { HostedZoneId: 'Z0123456789ABCDEFGHIJ', Name: 'mastery.school.org', Type: 'A' },
    ]);
  });

  it('gives up the address that AWS made, by a deployment of its own, or keeps it for a while', () => {
    const disabled = [all, moving, moved].map((stacks) =>
      propertiesOf(stacks, 'AWS::ApiGateway::RestApi')
        .filter(({ Name }) => !String(Name).endsWith('sandbox'))
        .map((api) => api['DisableExecuteApiEndpoint']),
    );
    expect(disabled).toStrictEqual([undefined, false, true].map((value) => apis.map(() => value)));
    const [here, there] = [moved, moving].map((stacks) => logicalIds(stacks, 'AWS::ApiGateway::Deployment'));
    expect(here).toHaveLength(apis.length + 1);
    expect(here?.filter((id) => there?.includes(id))).toHaveLength(1);
  });

  // And to outputs: transitions.test.ts.
  it('is known by it to functions that make links', () => {
    const functions = JSON.stringify(propertiesOf(moved, 'AWS::Lambda::Function'));
    expect(functions).toContain('"RECEIPTS_URL":"https://receipts.school.org"');
    expect(functions).not.toContain('execute-api');
  });
});
