import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { analyzeRun, readReceipt, sweepRuns } from '#shared/contract/background.ts';
import { deployedFunctions, isRoute } from '#shared/contract/functions.ts';
import { ALARM_TOPIC_OUTPUT } from '#shared/stage/stack-names.ts';
import { logCodes, type LogCode, type LogCodeName } from '#shared/observability/log-codes.ts';
import { createFunctionLog } from '#shared/observability/logger.ts';
import { deployed, ofType, stage } from './deployed.ts';

const { operations, services, sandbox } = deployed();
const metricName = z.object({ MetricName: z.string().regex(/^(?!all$|default_action$)[\w-]{1,128}$/i) });
const webAcl = z.object({
  VisibilityConfig: metricName,
  Rules: z.array(z.object({ VisibilityConfig: metricName })),
});
const alarms = ofType(operations, 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => ({
  id,
  ...z
    .object({
      AlarmName: z.string(),
      AlarmDescription: z.string(),
      MetricName: z.string(),
      Namespace: z.string(),
      Threshold: z.number(),
      ComparisonOperator: z.string(),
      TreatMissingData: z.string(),
      Dimensions: z.array(z.object({ Name: z.string(), Value: z.unknown() })),
      AlarmActions: z.array(z.unknown()),
    })
    .parse(Properties),
}));

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
/** The anchors of the second-level headings that are named like an alarm's section. */
const anchors = [...runbook.matchAll(/^## `([a-z0-9-]+)`$/gm)].map(([, anchor]) => anchor);

describe.each(alarms.map((alarm) => [alarm.AlarmName, alarm] as const))('%s', (_, alarm) => {
  it('says what happens, who is hurt and where to read on', () => {
    const [, what, who, where] =
      /^(.+\.) Impact: (.+\.) What to do: (\S+)$/.exec(alarm.AlarmDescription) ?? [];
    expect(what?.length).toBeGreaterThan(10);
    expect(who?.length).toBeGreaterThan(20);
    const [page, anchor] = where?.split('#') ?? [];
    expect(page).toBe(stage('prod').config.runbookUrl);
    expect(anchors).toContain(anchor);
  });

  it('tells the topic', () => {
    expect(alarm.AlarmActions).toHaveLength(1);
  });
});

it('every section of the runbook belongs to an alarm', () => {
  const linked = new Set(alarms.map(({ AlarmDescription }) => AlarmDescription.split('#').at(-1)));
  expect(anchors.toSorted()).toStrictEqual([...linked].toSorted());
});

it.each(deployedFunctions)(
  '$operationId is watched for errors, throttles and slowness, with the impact of its row',
  (row) => {
    const own = alarms.filter(
      ({ Dimensions }) => Dimensions[0]?.Value === `mastery-reports-prod-${row.operationId}`,
    );
    expect(own.map(({ MetricName }) => MetricName).toSorted()).toStrictEqual([
      'Duration',
      'Errors',
      ...(!isRoute(row) && row.trigger === 'schedule' ? ['Invocations'] : []),
      'Throttles',
    ]);
    for (const { AlarmDescription } of own) expect(AlarmDescription).toContain(row.lambda.impact);
  },
);

it('a worker is slow only after the time at which it hands a long run on', () => {
  const slowAt = (operationId: string): number | undefined =>
    alarms.find(({ AlarmName }) => AlarmName === `mastery-reports-prod-${operationId}-slow`)?.Threshold;
  const { operationId, lambda } = analyzeRun;
  expect(slowAt(operationId)).toBeGreaterThan((lambda.timeoutSeconds - 45) * 1000);
  expect(slowAt(operationId)).toBeLessThan(lambda.timeoutSeconds * 1000);
  expect(slowAt(sweepRuns.operationId)).toBe(sweepRuns.lambda.timeoutSeconds * 800);
});

it.each([
  ['runs-waiting', 'ApproximateAgeOfOldestMessage', 'RunQueueName', 3600],
  ['runs-given-up', 'ApproximateNumberOfMessagesVisible', 'DeadLetterQueueName', 0],
] as const)('%s watches its queue', (id, metric, output, threshold) => {
  const alarm = alarms.find(({ AlarmName }) => AlarmName === `mastery-reports-prod-${id}`);
  expect(alarm).toMatchObject({
    MetricName: metric,
    Dimensions: [{ Name: 'QueueName' }],
    Threshold: threshold,
    ComparisonOperator: 'GreaterThanThreshold',
    TreatMissingData: 'notBreaching',
  });
  expect(JSON.stringify(alarm?.Dimensions)).toContain(`"${output}"`);
});

it('a schedule that calls nothing is noticed, and silence alarms nowhere else', () => {
  const silent = alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
  expect(silent).toMatchObject(
    ['sweepImprovementRuns', 'rotateKeys'].map((operationId) => ({
      AlarmName: `mastery-reports-prod-${operationId}-silent`,
      MetricName: 'Invocations',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
    })),
  );
});

it('every alarm on a firewall watches a rule of a firewall that is deployed', () => {
  const metrics = [...services.values(), sandbox].flatMap((stack) =>
    ofType(stack, 'AWS::WAFv2::WebACL').flatMap(([, { Properties }]) => {
      const { VisibilityConfig: own, Rules } = webAcl.parse(Properties);
      return Rules.map(({ VisibilityConfig }) => ({
        WebACL: own.MetricName,
        Rule: VisibilityConfig.MetricName,
      }));
    }),
  );
  const watched = alarms.flatMap(({ Dimensions }) => {
    const named = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value]));
    return 'WebACL' in named ? [{ WebACL: named['WebACL'], Rule: named['Rule'] }] : [];
  });
  expect(watched).toHaveLength(4);
  expect(metrics).toEqual(expect.arrayContaining(watched));
});

it.each(['receipts', 'sandbox'])(
  'the API %s is watched, though not for refusals, which are part of what it is for',
  (api) => {
    expect(
      alarms
        .map(({ AlarmName }) => AlarmName)
        .filter((name) => name.includes(`-prod-${api}-`))
        .toSorted(),
    ).toStrictEqual([
      `mastery-reports-prod-${api}-firewall-rate-limit`,
      `mastery-reports-prod-${api}-server-errors`,
    ]);
  },
);

it.each(Object.entries<LogCode>(logCodes).filter(([, { alarm }]) => alarm !== undefined))(
  'lines of %s are counted under the name, namespace and dimension that their alarm watches',
  (code, row) => {
    const lines: string[] = [];
    const log = createFunctionLog(readReceipt, {
      environment: { STAGE: 'prod' },
      now: () => 1,
      write: (line) => lines.push(line),
    })({ awsRequestId: 'f-1' });
    log(code as LogCodeName);
    const line = JSON.parse(lines.join('')) as Readonly<Record<string, unknown>>;
    expect(line).toMatchObject({
      stage: 'prod',
      [code]: 1,
      _aws: {
        Timestamp: 1,
        CloudWatchMetrics: [
          { Namespace: 'mastery-reports', Dimensions: [['stage']], Metrics: [{ Name: code, Unit: 'Count' }] },
        ],
      },
    });
    expect(alarms.find(({ MetricName }) => MetricName === code)).toMatchObject({
      AlarmDescription: expect.stringContaining(row.alarm?.impact ?? '') as string,
      Namespace: 'mastery-reports',
      Dimensions: [{ Name: 'stage', Value: 'prod' }],
      Threshold: 0,
      TreatMissingData: 'notBreaching',
    });
  },
);

it('CloudWatch may publish to the topic, over TLS only', () => {
  const [policy] = ofType(operations, 'AWS::SNS::TopicPolicy');
  const text = JSON.stringify(policy?.[1].Properties);
  expect(text).toContain('"Principal":{"Service":"cloudwatch.amazonaws.com"}');
  expect(text).toContain('"aws:SecureTransport":"false"');
});

it('mails to the address of the stage, by its own topic or by the one that the settings name', () => {
  const prod = stage('prod');
  const alarmsTopicArn = 'arn:aws:sns:eu-central-1:111122223333:operators';
  for (const settings of [{}, { alarmsTopicArn }] as const) {
    const { operations: of } = deployed({ stage: { ...prod, config: { ...prod.config, ...settings } } });
    of.template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'operators@school.example',
    });
    const topics = ofType(of, 'AWS::SNS::Topic').map(([id]) => ({ Ref: id }));
    expect(topics).toHaveLength('alarmsTopicArn' in settings ? 0 : 1);
    const [topic = alarmsTopicArn] = topics;
    for (const [, { Properties }] of ofType(of, 'AWS::CloudWatch::Alarm'))
      expect(Properties['AlarmActions']).toStrictEqual([topic]);
    of.template.hasOutput(ALARM_TOPIC_OUTPUT, { Value: topic });
  }
});
