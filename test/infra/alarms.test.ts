import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyzeRun, readReceipt, sweepRuns } from '#shared/contract/background.ts';
import { deployedFunctions, isRoute } from '#shared/contract/functions.ts';
import { logCodes, type CountedCode, type LogCode } from '#shared/observability/log-codes.ts';
import { severities, watches, type Watch } from '#shared/observability/watches.ts';
import { createFunctionLog } from '#shared/observability/logger.ts';
import { alarmTopicOutputs } from '#shared/stage/stack-names.ts';
import { scheduledChecks } from '#shared/stage/checks.ts';
import { tables } from '#shared/stores/tables.ts';
import { owners } from '#shared/contract/owners.ts';
import { serviceNames } from '#shared/contract/route.ts';
import { figures } from './series.ts';
import { canary, deployed, everySetting, propertiesOf, resourcesOf, stage, templateOf } from './deployed.ts';

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly MetricName: string;
  readonly Threshold: number;
  readonly TreatMissingData: string;
  /** Absent from an alarm on an expression. */
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
  /** Absent from a part of a composite alarm. */
  readonly AlarmActions?: readonly string[];
}

const all = deployed({
  settings: { canary, expected: { runsPerMonth: 100_000, reportsPerMonth: 100_000 } },
});
const alarmsIn = (stacks: typeof all) =>
  propertiesOf(stacks, 'AWS::CloudWatch::Alarm', 'operations') as unknown as readonly Alarm[];
const alarms = alarmsIn(all);
const alarmOf = (id: string) => alarms.find(({ AlarmName }) => AlarmName === `mastery-reports-prod-${id}`);

interface Composite {
  readonly AlarmDescription: string;
  readonly AlarmName: string;
  readonly AlarmRule: unknown;
  readonly AlarmActions?: readonly string[];
  readonly ActionsSuppressor?: unknown;
}
const compositesIn = (stacks: typeof all) =>
  propertiesOf(stacks, 'AWS::CloudWatch::CompositeAlarm', 'operations') as unknown as readonly Composite[];

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
/** The anchors of the second-level headings that are named like an alarm's section. */
const anchors = [...runbook.matchAll(/^## `([a-z0-9-]+)`$/gm)].map(([, anchor = '']) => anchor);

it('each alarm says what happens, who is hurt and where in the runbook to read on, and every section there is of an alarm', () => {
  const { runbookUrl } = stage('prod').config;
  const ofSite = propertiesOf(all, 'AWS::CloudWatch::Alarm', 'documentation') as unknown as typeof alarms;
  const heard = [...alarms, ...ofSite, ...compositesIn(all)].filter(
    ({ AlarmName }) => !AlarmName.endsWith('-prod-dependencies'),
  );
  const linked = heard.map(({ AlarmName, AlarmDescription }) => {
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
      ({ Dimensions = [] }) => Dimensions[0]?.Value === `mastery-reports-prod-${row.operationId}`,
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
    (
      [
        ['rotateKeys', 3],
        ['runCanary', 3],
        ['sweepImprovementRuns', 3],
        ['watchStage', 2],
      ] as const
    ).map(([operationId, missing]) => ({
      AlarmName: `mastery-reports-prod-${operationId}-silent`,
      MetricName: 'Invocations',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      EvaluationPeriods: missing,
      DatapointsToAlarm: missing,
    })),
  );
});

it('every API is watched for failures and blocked addresses, and the services for refusals, which the others are for', () => {
  const names = alarms.map(({ AlarmName }) => AlarmName.replace('mastery-reports-prod-', ''));
  expect(
    names
      .filter((name) => /^(?:mastery|reports|receipts|sandbox)-(?!firewall-(?!rate))/.test(name))
      .toSorted(),
  ).toStrictEqual(
    ['mastery', 'receipts', 'reports', 'sandbox'].flatMap((api) => [
      ...(api === 'mastery' || api === 'reports' ? [`${api}-client-errors`] : []),
      ...(api === 'sandbox' ? [] : [`${api}-firewall-rate-limit`]),
      `${api}-server-errors`,
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
  const watched = alarms.flatMap(({ Dimensions = [] }) => {
    const { WebACL, Rule } = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value]));
    return WebACL === undefined || Rule === undefined ? [] : [`${WebACL} ${Rule}`];
  });
  expect(watched).toHaveLength(3);
  expect(watched.filter((rule) => !rules.includes(rule))).toEqual([]);
});

/** What a function of a published version writes for a line. */
function lineOf(code: CountedCode, fields = {}): unknown {
  const lines: string[] = [];
  const log = createFunctionLog(readReceipt, {
    environment: { STAGE: 'prod', AWS_LAMBDA_FUNCTION_VERSION: '7' },
    now: () => 1,
    write: (line) => lines.push(line),
  })({ awsRequestId: 'f-1' });
  log(code, fields);
  return JSON.parse(lines.join(''));
}

const isWatch = (watched: object): watched is Watch => 'severity' in watched;
const watched = Object.entries(watches).flatMap(([code, watch]) =>
  isWatch(watch) ? [{ code: code as CountedCode, watch }] : [],
);

it.each(watched)(
  'lines of $code are counted under the name, namespace and dimension that their alarm watches',
  ({ code, watch: { impact, rings } }) => {
    const Namespace = 'mastery-reports';
    expect(lineOf(code)).toMatchObject({
      stage: 'prod',
      [code]: 1,
      _aws: {
        Timestamp: 1,
        CloudWatchMetrics: expect.arrayContaining([
          { Namespace, Dimensions: [['stage']], Metrics: [{ Name: code, Unit: 'Count' }] },
        ]) as unknown,
      },
    });
    expect(alarms.find(({ MetricName }) => MetricName === code)).toMatchObject({
      AlarmDescription: expect.stringContaining(impact) as string,
      ...{ Namespace, Dimensions: [{ Name: 'stage', Value: 'prod' }] },
      ...{ Period: rings.perMinutes * 60, EvaluationPeriods: rings.of, DatapointsToAlarm: rings.in },
      ...{ Threshold: (rings.atLeast ?? 1) - 1, TreatMissingData: 'notBreaching' },
    });
  },
);

it('a canary step counts the lines that blame the release, whatever their level, and no others', () => {
  const counts = Object.keys(watches).filter((code) =>
    JSON.stringify(lineOf(code as CountedCode)).includes('ReleaseFaults'),
  );
  const blaming = Object.entries<LogCode>(logCodes).filter(([, { blames }]) => blames === 'release');
  expect(counts.toSorted()).toStrictEqual(blaming.map(([code]) => code).toSorted());
  expect(counts).not.toContain('FINALIZATION_REFUSED');
});

it.each([
  ['canary-sandbox', 'sandbox'],
  ['canary-credential', 'credential'],
  ['canary-run-steps', 'run'],
])('%s rings after three of four calls in vain, on the figure that the canary logs', (id, step) => {
  const Namespace = 'mastery-reports';
  const fields = { step, success: 0, durationMs: 7, kind: 'unreachable' };
  expect(lineOf('CANARY_FAILED', fields)).toMatchObject({
    CanarySuccess: 0,
    CanaryLatency: 7,
    _aws: {
      CloudWatchMetrics: expect.arrayContaining([
        {
          ...{ Namespace, Dimensions: [['stage', 'step']] },
          Metrics: [
            { Name: 'CanarySuccess', Unit: 'Count' },
            { Name: 'CanaryLatency', Unit: 'Milliseconds' },
          ],
        },
      ]) as unknown,
    },
  });
  expect(alarmOf(id)).toMatchObject({
    ...{ Namespace, MetricName: 'CanarySuccess', Statistic: 'Minimum', Period: 900 },
    Dimensions: [
      { Name: 'stage', Value: 'prod' },
      { Name: 'step', Value: step },
    ],
    ...{ ComparisonOperator: 'LessThanThreshold', Threshold: 1, TreatMissingData: 'notBreaching' },
    ...{ EvaluationPeriods: 4, DatapointsToAlarm: 3 },
  });
});

it('a stage without a run of the canary watches only the sandbox', () => {
  const ids = [...alarmsIn(deployed()), ...compositesIn(deployed())].map(({ AlarmName }) =>
    AlarmName.replace('mastery-reports-prod-', ''),
  );
  expect(ids.filter((id) => id.startsWith('canary-'))).toStrictEqual(['canary-sandbox']);
});

it('every alarm notifies, or is part of exactly one composite alarm that does', () => {
  const rules = compositesIn(all).map(({ AlarmRule }) => JSON.stringify(AlarmRule));
  for (const { AlarmName, AlarmActions = [] } of alarms) {
    const parents = rules.filter((rule) => rule.includes(`ALARM(\\"${AlarmName}.Arn\\")`)).length;
    expect([AlarmName, AlarmActions.length, parents]).toStrictEqual([
      AlarmName,
      ...(parents === 0 ? [1, 0] : [0, 1]),
    ]);
  }
  for (const { AlarmName, AlarmActions = [] } of compositesIn(all))
    expect([AlarmName, AlarmActions.length]).toStrictEqual([
      AlarmName,
      AlarmName.endsWith('-prod-dependencies') ? 0 : 1,
    ]);
});

it('one page stands for an outage of the stores: the alarms that follow from it wait for it', () => {
  const named = new Map(
    compositesIn(all).map((each) => [each.AlarmName.replace('mastery-reports-prod-', ''), each]),
  );
  for (const [id, { ActionsSuppressor }] of named)
    expect([id, ActionsSuppressor !== undefined]).toStrictEqual([
      id,
      /^(?:function|learners|canary|routes)-/.test(id),
    ]);
});

describe('the alarms tell the address of the stage', () => {
  it.each([
    [
      'its own topics, to which CloudWatch may publish',
      all,
      { page: 'Pages', ticket: 'Tickets' },
      ['Pages', 'Tickets'],
    ],
    [
      'the topics that the settings name',
      deployed({ settings: everySetting }),
      everySetting.alarmsTopicArn ?? { page: '', ticket: '' },
      [],
    ],
  ] as const)('by %s', (_, stacks, topics, own) => {
    const used = [...alarmsIn(stacks), ...compositesIn(stacks)].flatMap(
      ({ AlarmActions = [] }) => AlarmActions,
    );
    expect([...new Set(used)].toSorted()).toStrictEqual(Object.values(topics).toSorted());
    expect(resourcesOf(stacks, 'AWS::SNS::Topic', 'operations').map(({ id }) => id)).toStrictEqual(own);
    expect(propertiesOf(stacks, 'AWS::SNS::Subscription', 'operations')).toMatchObject([
      { Protocol: 'email', Endpoint: 'on-call@school.example', TopicArn: topics.page },
      { Protocol: 'email', Endpoint: 'operators@school.example', TopicArn: topics.ticket },
    ]);
    for (const severity of severities)
      expect(templateOf(stacks, 'operations').Outputs).toHaveProperty(alarmTopicOutputs[severity]);
    const publishing = propertiesOf(stacks, 'AWS::SNS::TopicPolicy', 'operations');
    expect(
      JSON.stringify(publishing).match(/"Principal":\{"Service":"cloudwatch.amazonaws.com"\}/g) ?? [],
    ).toHaveLength(own.length);
  });
});

it('every code that is counted has a saved query, which shows its fields', () => {
  const queries = propertiesOf(all, 'AWS::Logs::QueryDefinition') as unknown as readonly {
    readonly Name: string;
    readonly QueryString: string;
  }[];
  const saved = new Map(queries.map(({ Name, QueryString }) => [Name, QueryString]));
  const codes = Object.keys(watches);
  expect([...saved.keys()].toSorted()).toStrictEqual(
    ['failures', 'one-request', 'owners-share', ...codes]
      .map((name) => `mastery-reports-prod/${name}`)
      .toSorted(),
  );
  for (const [code, { fields }] of Object.entries<LogCode>(logCodes).filter(([name]) => codes.includes(name)))
    for (const part of [`filter code = "${code}"`, ...Object.keys(fields)])
      expect(saved.get(`mastery-reports-prod/${code}`)).toContain(part);
});

it('every figure of a line is on the dashboard or watched by an alarm', () => {
  const dashboards = JSON.stringify(propertiesOf(all, 'AWS::CloudWatch::Dashboard'));
  const watchedBy = JSON.stringify([alarms, propertiesOf(all, 'AWS::CloudWatch::Alarm')]);
  const counted = Object.keys(watches);
  for (const { name } of figures.filter((figure) => !counted.includes(figure.name)))
    expect([name, dashboards.includes(name) || watchedBy.includes(name)]).toStrictEqual([name, true]);
});

it('no widget of the dashboard shows more alarms than CloudWatch takes, or none', () => {
  const [{ DashboardBody } = { DashboardBody: '' }] = propertiesOf(all, 'AWS::CloudWatch::Dashboard');
  const counts = [...JSON.stringify(DashboardBody).matchAll(/"alarms\\*":\[(.*?)\]/g)].map(
    ([, list = '']) => list.split(',').length,
  );
  expect(counts.length).toBeGreaterThan(5);
  for (const count of counts) expect(count).toBeLessThanOrEqual(100);
  expect(JSON.stringify(DashboardBody)).not.toMatch(/alarms\\*":\[\]/);
});

it('the dashboard shows every alarm, and names the runbook and the open gates', () => {
  const [dashboardOf] = propertiesOf(all, 'AWS::CloudWatch::Dashboard');
  const body = JSON.stringify(dashboardOf);
  // The alarm that keeps others back sends no message.
  for (const { AlarmName } of [...alarms, ...compositesIn(all)])
    expect([AlarmName, body.includes(AlarmName)]).toStrictEqual([
      AlarmName,
      !AlarmName.endsWith('-prod-dependencies'),
    ]);
  expect(body).toContain('#the-first-five-minutes');
  expect(runbook).toContain('## The first five minutes');
  expect(body).toMatch(/open gates: A, B, C/);
});

it('a stage with a budget has its month reported to the address of tickets, by its own tag alone', () => {
  expect(propertiesOf(all, 'AWS::Budgets::Budget')).toStrictEqual([]);
  const settings = { monthlyBudgetUsd: 900 };
  const [budget] = propertiesOf(deployed({ settings }), 'AWS::Budgets::Budget', 'operations');
  expect(budget).toMatchObject({
    Budget: {
      BudgetLimit: { Amount: 900, Unit: 'USD' },
      CostFilters: { TagKeyValue: ['user:stage$prod'] },
    },
    NotificationsWithSubscribers: ['ACTUAL', 'FORECASTED'].map((NotificationType) => ({
      Notification: { NotificationType, Threshold: 100, ThresholdType: 'PERCENTAGE' },
      Subscribers: [{ SubscriptionType: 'EMAIL', Address: 'operators@school.example' }],
    })),
  });
});

it('the alarms of the site notify a topic beside them, since CloudWatch has their metrics in one region only', () => {
  for (const stacks of [all, deployed({ settings: everySetting })])
    for (const { AlarmActions } of propertiesOf(
      stacks,
      'AWS::CloudWatch::Alarm',
      'documentation',
    ) as unknown as typeof alarms)
      expect(AlarmActions).toStrictEqual(['Tickets']);
});

it('no alarm is missing: each function, route, code, owner, service, table and check has its own', () => {
  const expected = [
    ...deployedFunctions.flatMap((row) =>
      [
        ...['errors', 'throttles', 'slow', ...(isRoute(row) ? ['dies', 'fails'] : [])],
        ...(!isRoute(row) && row.trigger === 'schedule' ? ['silent'] : []),
      ].map((kind) => `${row.operationId}-${kind}`),
    ),
    ...watched.map(({ code }) => code.toLowerCase().replaceAll('_', '-')),
    ...[...owners].map((owner) => `owner-${owner}`),
    ...serviceNames.flatMap((service) =>
      ['fast-60', 'fast-5', 'slow-360', 'slow-30'].map((kind) => `learners-${service}-${kind}-minutes`),
    ),
    ...tables.flatMap(({ name }) => ['read', 'write'].map((access) => `${name}-${access}-throttles`)),
    ...['runs-waiting', 'runs-given-up', 'keys-not-rotated', 'log-volume', 'canary-sandbox'],
    ...['mastery', 'reports', 'receipts', 'sandbox'].map((api) => `${api}-server-errors`),
    ...['mastery-client-errors', 'reports-client-errors'],
    ...['mastery', 'reports', 'receipts'].map((api) => `${api}-firewall-rate-limit`),
    ...scheduledChecks.flatMap(([check, { daysLeft }]) => [
      ...['', ...(daysLeft === undefined ? [] : ['-30-days', '-7-days'])].map(
        (kind) => `stage-${check.replaceAll(' ', '-')}${kind}`,
      ),
    ]),
  ];
  const names = alarms.map(({ AlarmName }) => AlarmName.replace('mastery-reports-prod-', ''));
  expect(names.filter((name) => !expected.includes(name) && !/-firewall-|^canary-/.test(name))).toEqual([]);
  expect(expected.filter((name) => !names.includes(name))).toEqual([]);
});
