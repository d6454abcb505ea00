import { describe, expect, it } from 'vitest';
import { stageNameDefect } from '#lib/names.ts';
import type { StageName } from '#shared/stage/stages.ts';
import { deployed, stage } from './deployed.ts';

/** Characters that AWS takes, by the member of a resource that names it. */
const limits: Readonly<Record<string, number>> = {
  'AWS::Lambda::Function FunctionName': 64,
  'AWS::S3::Bucket BucketName': 63,
  'AWS::IAM::Role RoleName': 64,
  'AWS::SQS::Queue QueueName': 80,
  'AWS::WAFv2::WebACL Name': 128,
  'AWS::ApiGateway::RestApi Name': 1024,
  'AWS::ApiGateway::Stage StageName': 128,
  'AWS::CloudWatch::Alarm AlarmName': 255,
  'AWS::CloudWatch::Dashboard DashboardName': 255,
  'AWS::SSM::Parameter Name': 1011,
  'AWS::KMS::Alias AliasName': 256,
};

describe('the name of a stage', () => {
  const longest = 'a'.repeat(64 - 'mastery-reports--materializeAttemptReport'.length);

  it('may be as long as leaves every name of its resources within the limits of AWS', () => {
    expect(stageNameDefect(longest)).toBeUndefined();
    const stacks = deployed({ stage: { ...stage('prod'), name: longest as StageName } });
    const room = stacks.flatMap(({ name, template }) => [
      128 - name.length,
      ...Object.values(template.Resources).flatMap(({ Type, Properties = {} }) =>
        Object.entries(Properties).flatMap(([member, value]) => {
          const limit = limits[`${Type} ${member}`];
          return limit !== undefined && typeof value === 'string' && value.includes(longest)
            ? limit - value.length
            : [];
        }),
      ),
    ]);
    expect(Math.min(...room)).toBe(0);
  });

  it('is refused where it is longer, with the longest that there may be', () => {
    expect(stageNameDefect(`${longest}a`)).toBe(
      `stage ${longest}a: the name has 24 characters, expected at most 23: Lambda takes 64 for mastery-reports-<stage>-materializeAttemptReport`,
    );
  });

  it.each(['Prod', 'eu_1', '1st', 'aws-prod', 'ssm', 'a.b'])(
    'is refused in a form that AWS refuses: %s',
    (name) => {
      expect(stageNameDefect(name)).toMatch(/^stage \S+: expected lower-case letters, digits and hyphens/);
    },
  );
});
