import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { describe, expect, it } from 'vitest';
import { checkWithNag } from '#lib/constructs/acknowledge.ts';
import { appOf, context, everySetting } from './deployed.ts';

// Each judges every resource by every rule of two packs: seconds where everything else takes milliseconds.
describe('cdk-nag', { timeout: 120_000 }, () => {
  it.each([
    ['as it is', {}],
    ['with every gate closed', { gates: [] }],
    ['bound to an account, with every optional resource', { settings: everySetting }],
  ] as const)('has no finding on a stage %s that is not acknowledged with a reason', (_, options) => {
    const app = appOf(options);
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

it('a synth stops where a template contradicts the published schema of a resource', () => {
  const app = appOf();
  const table = app.node.findChild('RecordsAndKeys').node.findChild('Records').node.defaultChild;
  (table as CfnTable).addPropertyOverride('SSESpecification.Unknown', true);
  expect(() => app.synth()).toThrow('CloudFormation-Validate::F3002');
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
