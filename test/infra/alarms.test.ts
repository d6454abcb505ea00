import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyzeRun, readReceipt, sweepRuns } from '#shared/contract/background.ts';
import { deployedFunctions, isRoute } from '#shared/contract/functions.ts';
import { logCodes, type LogCode, type LogCodeName } from '#shared/observability/log-codes.ts';
import { createFunctionLog } from '#shared/observability/logger.ts';
import { ALARM_TOPIC_OUTPUT } from '#shared/stage/stack-names.ts';
import { deployed, everySetting, propertiesOf, resourcesOf, stage, templateOf } from './deployed.ts';

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly MetricName: string;
  readonly Threshold: number;
  readonly TreatMissingData: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: string }[];
  readonly AlarmActions: readonly string[];
}

const all = deployed();
const alarmsIn = (stacks: typeof all) =>
  propertiesOf(stacks, 'AWS::CloudWatch::Alarm', 'operations') as unknown as readonly Alarm[];
const alarms = alarmsIn(all);
const alarmOf = (id: string) => alarms.find(({ AlarmName }) => AlarmName === `mastery-reports-prod-${id}`);

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
/** The anchors of the second-level headings that are named like an alarm's section. */
const anchors = [...runbook.matchAll(/^## `([a-z0-9-]+)`$/gm)]
  .map(([, anchor = '']) => anchor)
  // Of alarms that are in no stack yet: edge-alarms.test.ts.
  .filter((anchor) => !['firewall-blocks', 'site-server-errors'].includes(anchor));

it('each alarm says what happens, who is hurt and where in the runbook to read on, and every section there is of an alarm', () => {
  const { runbookUrl } = stage('prod').config;
  const linked = alarms.map(({ AlarmName, AlarmDescription }) => {
    const [, page, anchor] =
      /^.{10,}\. Impact: .{20,}\. What to do: (\S+)#(\S+)$/.exec(AlarmDescription) ?? [];
    expect(page, AlarmName).toBe(runbookUrl);
    return anchor;
  });
  expect([...new Set(linked)].toSorted()).toStrictEqual(anchors.toSorted());
});

it.each(deployedFunctions)(
  '$operationId is watched for errors, throttles and slowness, with the impact of its row',
  (row) => {
    const own = alarms.filter(
      ({ Dimensions }) => Dimensions[0]?.Value === `mastery-reports-prod-${row.operationId}`,
    );
    expect(own.map(({ MetricName }) => MetricName).toSorted()).toStrictEqual([
      ...['Duration', 'Errors'],
      ...(!isRoute(row) && row.trigger === 'schedule' ? ['Invocations'] : []),
      'Throttles',
    ]);
    for (const { AlarmDescription } of own) expect(AlarmDescription).toContain(row.lambda.impact);
  },
);

it('a worker is slow only after the time at which it hands a long run on', () => {
  const { operationId, lambda } = analyzeRun;
  const slow = alarmOf(`${operationId}-slow`)?.Threshold;
  expect(slow).toBeGreaterThan((lambda.timeoutSeconds - 45) * 1000);
  expect(slow).toBeLessThan(lambda.timeoutSeconds * 1000);
  expect(alarmOf(`${sweepRuns.operationId}-slow`)?.Threshold).toBe(sweepRuns.lambda.timeoutSeconds * 800);
});

it.each([
  ['runs-waiting', 'ApproximateAgeOfOldestMessage', 'Runs.QueueName', 3600],
  ['runs-given-up', 'ApproximateNumberOfMessagesVisible', 'DeadLetters.QueueName', 0],
] as const)('%s watches its queue', (id, metric, queue, threshold) => {
  expect(alarmOf(id)).toMatchObject({
    MetricName: metric,
    Dimensions: [{ Name: 'QueueName', Value: queue }],
    Threshold: threshold,
    ComparisonOperator: 'GreaterThanThreshold',
    TreatMissingData: 'notBreaching',
  });
});

it('a schedule that calls nothing is noticed, and silence alarms nowhere else', () => {
  const silent = alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
  expect(silent).toMatchObject(
    ['rotateKeys', 'sweepImprovementRuns'].map((operationId) => ({
      AlarmName: `mastery-reports-prod-${operationId}-silent`,
      MetricName: 'Invocations',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
    })),
  );
});

it('every API is watched for failures and blocked addresses, and the services for refusals, which the others are for', () => {
  const names = alarms.map(({ AlarmName }) => AlarmName.replace('mastery-reports-prod-', ''));
  expect(
    names.filter((name) => /^(?:mastery|reports|receipts|sandbox)-/.test(name)).toSorted(),
  ).toStrictEqual(
    ['mastery', 'receipts', 'reports', 'sandbox'].flatMap((api) => [
      ...(api === 'mastery' || api === 'reports' ? [`${api}-client-errors`] : []),
      ...[`${api}-firewall-rate-limit`, `${api}-server-errors`],
    ]),
  );
});

it('every alarm on a firewall watches a rule of a firewall that is deployed', () => {
  const rules = propertiesOf(all, 'AWS::WAFv2::WebACL').flatMap((properties) => {
    const { VisibilityConfig: own, Rules } = properties as unknown as {
      VisibilityConfig: { MetricName: string };
      Rules: readonly { VisibilityConfig: { MetricName: string } }[];
    };
    return Rules.map(({ VisibilityConfig: { MetricName } }) => `${own.MetricName} ${MetricName}`);
  });
  for (const rule of rules) expect(rule).toMatch(/^(?!all |default_action )[\w-]{1,128} [\w-]{1,128}$/i);
  const watched = alarms.flatMap(({ Dimensions }) => {
    const { WebACL, Rule } = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value]));
    return WebACL === undefined ? [] : [`${WebACL} ${String(Rule)}`];
  });
  expect(watched).toHaveLength(4);
  // The rate of the sandbox's callers is now a rule before its distribution (edge-alarms.ts): this alarm has nothing to count.
  expect(watched.filter((rule) => !rules.includes(rule))).toEqual([
    'mastery-reports-prod-sandbox rate-per-address',
  ]);
});

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
    const Namespace = 'mastery-reports';
    expect(JSON.parse(lines.join(''))).toMatchObject({
      stage: 'prod',
      [code]: 1,
      _aws: {
        Timestamp: 1,
        CloudWatchMetrics: [{ Namespace, Dimensions: [['stage']], Metrics: [{ Name: code, Unit: 'Count' }] }],
      },
    });
    expect(alarms.find(({ MetricName }) => MetricName === code)).toMatchObject({
      AlarmDescription: expect.stringContaining(row.alarm?.impact ?? '') as string,
      ...{ Namespace, Dimensions: [{ Name: 'stage', Value: 'prod' }] },
      ...{ Threshold: 0, TreatMissingData: 'notBreaching' },
    });
  },
);

describe('the alarms tell the address of the stage', () => {
  it.each([
    ['its own topic, to which CloudWatch may publish', all, 'Alarms', ['Alarms']],
    [
      'the topic that the settings name',
      deployed({ settings: everySetting }),
      'arn:aws:sns:eu-central-1:111122223333:operators',
      [],
    ],
  ] as const)('by %s', (_, stacks, topic, own) => {
    for (const { AlarmActions } of alarmsIn(stacks)) expect(AlarmActions).toStrictEqual([topic]);
    expect(resourcesOf(stacks, 'AWS::SNS::Topic').map(({ id }) => id)).toStrictEqual(own);
    expect(propertiesOf(stacks, 'AWS::SNS::Subscription')).toMatchObject([
      { Protocol: 'email', Endpoint: 'operators@school.example', TopicArn: topic },
    ]);
    expect(templateOf(stacks, 'operations').Outputs).toHaveProperty(ALARM_TOPIC_OUTPUT);
    const publishing = propertiesOf(stacks, 'AWS::SNS::TopicPolicy');
    expect(
      JSON.stringify(publishing).match(/"Principal":\{"Service":"cloudwatch.amazonaws.com"\}/g) ?? [],
    ).toHaveLength(own.length);
  });
});
