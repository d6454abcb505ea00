import { describe, expect, it } from 'vitest';
import { deployed, ofType, serviceOf, withDomains, type Synthesized } from './deployed.ts';

const moved = deployed({ stage: withDomains() });
const moving = deployed({ stage: withDomains(true) });
const apis = ['mastery', 'receipts', 'reports', 'sandbox'];
const stacksOf = (of: typeof moved): readonly Synthesized[] => [
  serviceOf(of, 'mastery'),
  serviceOf(of, 'reports'),
  of.sandbox,
];
const all = (of: typeof moved, type: string): readonly (readonly [string, object])[] =>
  stacksOf(of).flatMap((stack) =>
    ofType(stack, type).map(([id, { Properties }]) => [id, Properties] as const),
  );

describe('an API with a host name of its own', () => {
  it('has it with TLS 1.2 and the certificate, for its own stage without a prefix', () => {
    expect(all(moved, 'AWS::ApiGateway::DomainName').map(([, properties]) => properties)).toStrictEqual(
      ['mastery', 'receipts', 'reports', 'sandbox'].map(
        (api) =>
          expect.objectContaining({
            DomainName: `${api}.school.org`,
            RegionalCertificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/one',
            EndpointConfiguration: { Types: ['REGIONAL'] },
            SecurityPolicy: 'TLS_1_2',
          }) as object,
      ),
    );
    const mappings = all(moved, 'AWS::ApiGateway::BasePathMapping');
    expect(mappings).toHaveLength(apis.length);
    for (const [, mapping] of mappings) expect(mapping).not.toHaveProperty('BasePath');
    expect(all(moved, 'AWS::Route53::RecordSet')).toMatchObject([
      ['DomainRecord', { HostedZoneId: 'Z0123456789ABCDEFGHIJ', Name: 'mastery.school.org', Type: 'A' }],
    ]);
  });

  it('gives up the address that AWS made, by a deployment of its own, or keeps it for a while', () => {
    const disabled = (of: typeof moved): readonly unknown[] =>
      all(of, 'AWS::ApiGateway::RestApi').map(
        ([, properties]) => (properties as Record<string, unknown>)['DisableExecuteApiEndpoint'],
      );
    expect(disabled(deployed())).toStrictEqual([undefined, undefined, undefined, undefined]);
    expect(disabled(moving)).toStrictEqual([false, false, false, false]);
    expect(disabled(moved)).toStrictEqual([true, true, true, true]);
    const deployments = (of: typeof moved): readonly string[] =>
      all(of, 'AWS::ApiGateway::Deployment').map(([id]) => id);
    expect(deployments(moved).filter((id) => deployments(moving).includes(id))).toStrictEqual([]);
  });

  it('is known by it to outputs, to functions that make links, and to the documentation', () => {
    const outputs = stacksOf(moved).map(({ template }) => JSON.stringify(template.toJSON()['Outputs']));
    for (const [index, api] of ['mastery', 'reports', 'sandbox'].entries())
      expect(outputs[index]).toContain(`"Value":"https://${api}.school.org"`);
    expect(outputs[1]).toContain('"Value":"https://receipts.school.org"');
    const functions = JSON.stringify(all(moved, 'AWS::Lambda::Function'));
    expect(functions).toContain('"RECEIPTS_URL":"https://receipts.school.org"');
    expect(functions).not.toContain('execute-api');
    const origins = (of: typeof moved): string =>
      JSON.stringify(ofType(of.documentation, 'AWS::CloudFront::Distribution')[0]?.[1].Properties);
    expect(origins(deployed())).toContain('"OriginPath":{"Fn::Join"');
    expect(origins(moved)).not.toContain('"OriginPath":{"Fn::Join"');
  });
});
