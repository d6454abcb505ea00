import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { backgroundFunctions, rotateKeys } from '#shared/contract/background.ts';
import { deployed, ofType, serviceOf, stage } from './deployed.ts';
import type { GateName } from '#shared/contract/gates.ts';

/** A part of the ARN of a function's alias: 6 is the function, 7 the alias. */
const partOfAlias = (part: 6 | 7, operationId: string): object => ({
  'Fn::Select': [
    part,
    { 'Fn::Split': [':', { Ref: Match.stringLikeRegexp(`^${operationId}FunctionLive`) }] },
  ],
});

describe('what runs behind the routes', () => {
  const gated = backgroundFunctions.filter(({ gates }) => gates.length > 0);
  const present = (gates: readonly GateName[]): readonly string[] => {
    const { services, operations } = deployed({ gates });
    const reports = services.get('reports');
    const text = JSON.stringify([reports?.template.toJSON() ?? {}, operations.template.toJSON()]);
    const exists: Readonly<Record<string, boolean>> = {
      ...Object.fromEntries(
        gated.map(({ operationId }) => [operationId, text.includes(`-prod-${operationId}`)]),
      ),
      'event source': reports !== undefined && ofType(reports, 'AWS::Lambda::EventSourceMapping').length > 0,
      schedule: reports !== undefined && ofType(reports, 'AWS::Events::Rule').length > 1,
      'alarms of the receipts API': text.includes('-prod-receipts-server-errors'),
      'alarms of the queue': text.includes('-prod-runs-waiting') || text.includes('-prod-runs-given-up'),
    };
    return Object.keys(exists).filter((name) => exists[name]);
  };

  it.each<readonly [string, readonly GateName[]]>([
    ['no gate', []],
    ['D', ['D']],
    ['F', ['F']],
    ['every gate but D', ['A', 'B', 'C', 'E', 'F']],
    ['every gate but F', ['A', 'B', 'C', 'D', 'E']],
  ])('is absent with %s', (_, gates) => {
    expect(present(gates)).toStrictEqual([]);
  });

  it('is there with D and F, whatever else is open', () => {
    const all = [
      ...gated.map(({ operationId }) => operationId),
      'event source',
      'schedule',
      'alarms of the receipts API',
      'alarms of the queue',
    ];
    expect(present(['D', 'F'])).toStrictEqual(all);
    expect(present(['A', 'B', 'C', 'D', 'E', 'F'])).toStrictEqual(all);
  });

  it('is missed at synth by a function that would make links to nowhere', () => {
    expect(() => deployed({ background: [] })).toThrow(/RECEIPTS_URL/);
  });
});

describe('the worker', () => {
  const of = serviceOf(deployed(), 'reports');

  it('gets one message at a time from the queue of runs, and says itself which it could not do', () => {
    of.template.resourceCountIs('AWS::Lambda::EventSourceMapping', 1);
    of.template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      FunctionName: { 'Fn::Join': ['', [partOfAlias(6, 'analyzeImprovementRun'), ':live']] },
      EventSourceArn: { 'Fn::GetStackOutput': Match.objectLike({ OutputName: 'RunQueueArn' }) },
      BatchSize: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 2 },
    });
  });

  it('works on as many runs at once as the stage says, out of the account’s pool', () => {
    const { name, config } = stage('prod');
    const busy = deployed({ stage: { name, config: { ...config, runsAtOnce: 20 } } });
    serviceOf(busy, 'reports').template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      ScalingConfig: { MaximumConcurrency: 20 },
    });
  });

  it('may have the system’s records of the stage’s tenants alone', () => {
    const { name, config } = stage('prod');
    const limited = deployed({ stage: { name, config: { ...config, systemRecordTenants: ['a', 'b'] } } });
    serviceOf(limited, 'reports').template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'mastery-reports-prod-analyzeImprovementRun',
      Environment: { Variables: Match.objectLike({ SYSTEM_RECORD_TENANTS: 'a,b' }) },
    });
  });
});

describe('the sweeper', () => {
  const of = serviceOf(deployed(), 'reports');

  it('is called every five minutes, and a call that fails is left to the next', () => {
    of.template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(5 minutes)',
      State: 'ENABLED',
      Targets: [
        {
          Arn: { Ref: Match.stringLikeRegexp('^sweepImprovementRunsFunctionLive') },
          Input: '{}',
          RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 300 },
        },
      ],
    });
    of.template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: Match.stringLikeRegexp('^sweepImprovementRunsFunction') },
      Qualifier: partOfAlias(7, 'sweepImprovementRuns'),
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 300,
    });
  });
});

describe('the rotation of keys', () => {
  it('is called every hour, whatever the gates, and knows for how long the stage lets a key seal', () => {
    const { name, config } = stage('prod');
    for (const [keyRotationDays, days] of [
      [undefined, '30'],
      [90, '90'],
    ] as const) {
      const of = deployed({
        gates: [],
        stage: { name, config: { ...config, ...(keyRotationDays && { keyRotationDays }) } },
      });
      const { template } = serviceOf(of, 'reports');
      template.hasResourceProperties('AWS::Events::Rule', {
        ScheduleExpression: 'rate(1 hour)',
        State: 'ENABLED',
      });
      template.hasResourceProperties('AWS::Lambda::Function', {
        FunctionName: `mastery-reports-prod-${rotateKeys.operationId}`,
        Environment: { Variables: Match.objectLike({ KEY_ROTATION_DAYS: days }) },
      });
      of.operations.template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName: 'activeKeyAgeDays',
        Namespace: 'mastery-reports',
        Dimensions: [{ Name: 'stage', Value: 'prod' }],
        Threshold: Number(days) + 2,
      });
    }
  });
});
