import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { tables, type TableDefinition } from '#shared/aws/tables.ts';
import { deployed, ofType, stage } from './deployed.ts';
import { placeholders, stages } from '#lib/stage-config/stages.ts';

const { stores } = deployed();
const definitions: readonly TableDefinition[] = tables;

describe('the tables', () => {
  it('are exactly those of shared/aws/tables.ts', () => {
    expect(ofType(stores, 'AWS::DynamoDB::Table')).toHaveLength(definitions.length);
  });

  it.each(definitions)(
    '$name has its keys, its purge attribute and nothing to provision',
    ({ partitionKey, sortKey, ttl }) => {
      stores.template.hasResourceProperties('AWS::DynamoDB::Table', {
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          ...(sortKey === undefined ? [] : [{ AttributeName: sortKey, KeyType: 'RANGE' }]),
        ],
        TimeToLiveSpecification: ttl === undefined ? Match.absent() : { AttributeName: ttl, Enabled: true },
      });
    },
  );

  it.each(ofType(stores, 'AWS::DynamoDB::Table'))(
    '%s can be restored, is encrypted and not deleted by accident',
    (_, table) => {
      expect(table).toMatchObject({
        DeletionPolicy: 'Retain',
        Properties: {
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          SSESpecification: { SSEEnabled: true },
        },
      });
    },
  );
});

describe('the key', () => {
  it('rotates, has an alias and stays when the stack goes', () => {
    const [key] = ofType(stores, 'AWS::KMS::Key');
    expect(key?.[1]).toMatchObject({ DeletionPolicy: 'Retain', Properties: { EnableKeyRotation: true } });
    stores.template.hasResourceProperties('AWS::KMS::Alias', { AliasName: 'alias/mastery-reports/prod' });
  });
});

describe('what other stacks read', () => {
  it('is the same whatever the gates and routes, so that a closed gate never deadlocks', () => {
    const withNothing = deployed({ routes: [] }).stores;
    expect(withNothing.template.toJSON()).toStrictEqual(stores.template.toJSON());
    expect(stores.outputs).toStrictEqual([
      'RecordsTableName',
      'RecordsTableArn',
      'ControlTableName',
      'ControlTableArn',
      'SettingsTableName',
      'SettingsTableArn',
      'KeyArn',
    ]);
  });
});

describe('the stages', () => {
  it.each(Object.keys(stages))('%s synthesizes under its own names', (name) => {
    const { stores: own } = deployed({ stage: stage(name) });
    own.template.hasResourceProperties('AWS::KMS::Alias', { AliasName: `alias/mastery-reports/${name}` });
  });

  it('say which settings are still to be filled in', () => {
    const prod = stage('prod');
    const filled = {
      ...prod.config,
      token: { ...prod.config.token, issuer: 'https://id.school.org', jwksUrl: 'https://id.school.org/jwks' },
      problemsUrl: 'https://docs.school.org/problems',
      runbookUrl: 'https://docs.school.org/runbook',
    } as const;
    expect(placeholders({ name: 'prod', config: filled })).toStrictEqual([]);
    expect(
      placeholders({ name: 'prod', config: { ...filled, problemsUrl: 'https://docs.example/problems' } }),
    ).toStrictEqual(['problemsUrl']);
  });
});
