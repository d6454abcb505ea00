import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { describe, expect, it } from 'vitest';
import { checkWithNag } from '#lib/nag.ts';
import type { StageConfig } from '#shared/stage/stage.ts';
import { appOf, context, stage, withDomains } from './deployed.ts';

// Each judges every resource by every rule of two packs: seconds where everything else takes milliseconds.
describe('cdk-nag', { timeout: 120_000 }, () => {
  const { name, config } = stage('prod');
  const bound: StageConfig = {
    ...withDomains().config,
    environment: { account: '111122223333', region: 'eu-central-1' },
    alarmsTopicArn: 'arn:aws:sns:eu-central-1:111122223333:operators',
    receiptReplica: 'arn:aws:s3:::receipts-elsewhere',
    key: 'multi-region',
  };

  it.each([
    ['as it is', { stage: { name, config } }],
    ['with every gate closed', { stage: { name, config }, gates: [] }],
    ['bound to an account, with every optional resource', { stage: { name, config: bound } }],
  ] as const)('has no finding on a stage %s that is not acknowledged with a reason', (_, options) => {
    const { app } = appOf(options);
    checkWithNag(app);
    expect(() => app.synth()).not.toThrow();
  });

  it('would stop the synth for a finding', () => {
    const app = new App({ context });
    new CfnBucket(new Stack(app, 'Probe'), 'Careless');
    checkWithNag(app);
    expect(() => app.synth()).toThrow('AwsSolutions-S10');
  });
});

it('cdk.json has every recommended feature flag at its recommended value', () => {
  const recommended: unknown = JSON.parse(
    readFileSync(
      join(import.meta.dirname, '../../node_modules/aws-cdk-lib/recommended-feature-flags.json'),
      'utf8',
    ),
  );
  expect(context).toStrictEqual(recommended);
});
