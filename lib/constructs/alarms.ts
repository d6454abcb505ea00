import { Aws, Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { CreateAlarmOptions, IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { TableDefinition } from '#shared/stores/tables.ts';
import type { BackgroundFunction } from '#shared/contract/background.ts';
import { isRoute, type DeployedFunction } from '#shared/contract/functions.ts';
import { owners } from '#shared/contract/owners.ts';
import { sourceService } from '#shared/contract/reports/problem.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { METRIC_NAMESPACE, ownerFailures, requestFigures } from '#shared/observability/log-codes.ts';
import type { Figure } from '#shared/observability/log-codes.ts';
import { watches, type AlarmWords, type Severity } from '#shared/observability/watches.ts';
import { rotatesKeys } from '#shared/contract/grants.ts';
import { DEFAULT_KEY_ROTATION_DAYS, type ApiName } from '#shared/stage/stage.ts';
import { RUN_HIDDEN, type StoreReferences } from '../references.ts';
import { apiName, functionName, LIVE, prefix } from '../names.ts';
import type { Stage } from '#shared/stage/stages.ts';

/** An alarm as a value: what it watches, when it goes off, who hears it, and the section of docs/runbook.md for it. */
export interface AlarmDefinition extends AlarmWords {
  /** Its name after the prefix of the stage. */
  readonly id: string;
  readonly severity: Severity;
  readonly metric: IMetric;
  /** Goes off if the metric is above it. Absent: 0. */
  readonly threshold?: number;
  /** Goes off if the metric is below the threshold, or has no data where `silence` is true. */
  readonly below?: true;
  readonly silence?: true;
  /** How many of the last periods must be beyond the threshold. Absent: the last one. */
  readonly periods?: { readonly breaching: number; readonly of: number };
  /** The id of the composite alarm that notifies in its place. Absent: it notifies. */
  readonly within?: string;
}

/** An alarm that follows from others, whose own actions are off: one cause is one message. */
export interface CompositeDefinition extends AlarmWords {
  readonly id: string;
  readonly severity: Severity;
  /** Whether all of its alarms must be on. Absent: one suffices. */
  readonly all?: true;
  /** The composite alarm that explains this one: while it is on, this one sends no message. */
  readonly explainedBy?: 'stores' | 'dependencies';
}

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);

/** The alarm on the stores, which explains why functions fail. */
const stores: CompositeDefinition = {
  id: 'stores',
  severity: 'page',
  title: 'A store of the deployment, or what proves its release, cannot be read or written',
  impact:
    'Requests that need the store fail, usually for all tenants: learners may not be able to continue tests or read reports.',
  section: 'stores',
};

const ownersDown: CompositeDefinition = {
  id: 'owners',
  severity: 'ticket',
  title: 'Owners of the platform do not respond usably',
  impact: 'Requests that need their facts fail with a problem that clients may repeat.',
  section: 'owner-failing',
};

/** On while a store or an owner is out: it sends no message of its own, and keeps those of what follows from it back. */
export const DEPENDENCIES = { id: 'dependencies', of: [stores.id, ownersDown.id] } as const;

/** An owner that fails makes many routes fail, so their alarms are one message, which waits for that of the owner. */
const routesGroup = (service: ServiceName): CompositeDefinition => ({
  id: `routes-${service}`,
  severity: 'ticket',
  title: `Routes of the ${service} service fail more often than not`,
  impact: 'Callers of these routes get a problem in place of a result. The message names the routes.',
  section: 'function-fails',
  explainedBy: 'dependencies',
});

const functionGroup = ({ operationId, lambda }: DeployedFunction): CompositeDefinition => ({
  id: `function-${operationId}`,
  severity: 'ticket',
  title: `${operationId} does not work as it should`,
  impact: lambda.impact,
  section: 'functions',
  explainedBy: 'stores',
});

/** Returns the dimensions of a function's metrics for callers: calls of its alias, without those of the check before a deployment. */
export function liveDimensions(stage: Stage, row: DeployedFunction): Record<string, string> {
  const name = functionName(stage, row);
  return { FunctionName: name, Resource: `${name}:${LIVE}` };
}

/** Returns a metric with dimensions. Its period is five minutes, unless another is given. */
export function metricOf(
  namespace: string,
  metricName: string,
  dimensionsMap: Record<string, string>,
  statistic: string = Stats.SUM,
  period: Duration = FIVE_MINUTES,
): Metric {
  return new Metric({ namespace, metricName, dimensionsMap, period, statistic });
}

/** Three of the last fifteen minutes: a fault that passes within a minute touches two at most, and figures may come three minutes late. */
const REPEATEDLY = { breaching: 3, of: 15 };

/** Returns the alarms of one function, which notify together. */
export function functionAlarms(stage: Stage, row: DeployedFunction): readonly AlarmDefinition[] {
  const { operationId, lambda } = row;
  const schedule = !isRoute(row) && row.trigger === 'schedule' ? row : undefined;
  // A worker passes a long run on to the next message shortly before its time limit; other functions should never come near it.
  const share = !isRoute(row) && row.trigger === 'queue' ? 0.95 : 0.8;
  const alarm = (kind: string, title: string, metric: IMetric): AlarmDefinition => ({
    id: `${operationId}-${kind}`,
    severity: 'ticket',
    section: `function-${kind}`,
    title,
    impact: lambda.impact,
    metric,
    // A function on a schedule is called once in a period.
    periods: schedule === undefined ? REPEATEDLY : { breaching: 2, of: 3 },
    within: functionGroup(row).id,
  });
  const ofCalls = (name: string, statistic: string, usual: Duration): Metric =>
    metricOf(
      'AWS/Lambda',
      name,
      liveDimensions(stage, row),
      statistic,
      schedule === undefined ? usual : Duration.minutes(schedule.everyMinutes),
    );
  const counted = (name: string): Metric => ofCalls(name, Stats.SUM, MINUTE);
  return [
    alarm('errors', `${operationId} fails with errors`, counted('Errors')),
    alarm('throttles', `Lambda throttles ${operationId}`, counted('Throttles')),
    {
      ...alarm(
        'slow',
        `${operationId} is close to its time limit`,
        ofCalls('Duration', Stats.percentile(99), FIVE_MINUTES),
      ),
      impact: `If it exceeds the limit: ${lambda.impact}`,
      threshold: lambda.timeoutSeconds * 1000 * share,
      periods: schedule === undefined ? { breaching: 3, of: 5 } : { breaching: 2, of: 3 },
    },
    ...(isRoute(row)
      ? [
          {
            // An invocation that ends without a response writes no line that counts it.
            ...alarm(
              'dies',
              `${operationId} ends without a response more often than not`,
              shareOf(
                {
                  namespace: 'AWS/Lambda',
                  dimensions: liveDimensions(stage, row),
                  requests: { name: 'Invocations' },
                  failures: { name: 'Errors' },
                },
                Duration.hours(1),
                1,
              ),
            ),
            section: 'function-errors',
            ...rarely,
          },
          {
            ...alarm(
              'fails',
              `${operationId} fails more often than not`,
              shareOf(
                {
                  namespace: METRIC_NAMESPACE,
                  dimensions: { stage: stage.name, operation: operationId },
                  requests: requestFigures.requests,
                  failures: requestFigures.failures,
                },
                Duration.hours(1),
                1,
              ),
            ),
            ...rarely,
            within: routesGroup(row.service).id,
          },
        ]
      : []),
  ];
}

/** A route that is called once an hour must be heard, too. */
const rarely = { threshold: 0.5, periods: { breaching: 2, of: 6 } } as const;

/** The names of a metric of requests and of one of failures, with their dimensions. */
interface RequestMetrics {
  readonly namespace: string;
  readonly dimensions: Record<string, string>;
  readonly requests: Pick<Figure, 'name'>;
  readonly failures: Pick<Figure, 'name'>;
}

/** Returns the share of failures of a period; 0 with fewer than `least` of them, since a share of few requests means little. */
function shareOf(
  { namespace, dimensions, requests, failures }: RequestMetrics,
  period: Duration,
  least: number,
): MathExpression {
  const sum = ({ name }: Pick<Figure, 'name'>): Metric =>
    metricOf(namespace, name, dimensions, Stats.SUM, period);
  return new MathExpression({
    expression: `IF(failures >= ${least}, failures / requests, 0)`,
    label: 'share of failures',
    period,
    usingMetrics: { failures: sum(failures), requests: sum(requests) },
  });
}

/** The share of the requests that learners wait for which may fail over a month. */
const ERROR_BUDGET = 0.005;

/**
 * How fast the budget burns, after chapter 5 of the Site Reliability Workbook: `times` as fast as it may, over a long window and still over a short one.
 * At 14.4 times a month's budget is gone in two days, at 6 times in five.
 */
const burns = [
  { kind: 'fast', severity: 'page', times: 14.4, windows: [60, 5], least: 10, explainedBy: 'stores' },
  { kind: 'slow', severity: 'ticket', times: 6, windows: [360, 30], least: 10, explainedBy: 'dependencies' },
] as const;

/** Returns the alarms on the failures that learners of a service meet. */
export function learnerAlarms(
  stage: Stage,
  service: ServiceName,
): readonly (CompositeDefinition & { readonly alarms: readonly AlarmDefinition[] })[] {
  const { learnerRequests: requests, learnerFailures: failures } = requestFigures;
  const metrics = {
    namespace: METRIC_NAMESPACE,
    dimensions: { stage: stage.name, service },
    requests,
    failures,
  };
  return burns.map(({ kind, severity, times, windows, least, explainedBy }) => {
    const words: AlarmWords & Pick<AlarmDefinition, 'severity'> = {
      severity,
      title: `Learners meet failures of the ${service} service`,
      impact: `More than ${figure(100 * times * ERROR_BUDGET)} % of the requests that learners wait for fail: ${learnersWaitFor[service]}`,
      section: 'learners-fail',
    };
    const id = `learners-${service}-${kind}`;
    return {
      ...words,
      id,
      all: true,
      explainedBy,
      alarms: windows.map((minutes) => ({
        ...words,
        id: `${id}-${minutes}-minutes`,
        title: `${words.title} (over ${minutes} minutes)`,
        metric: shareOf(metrics, Duration.minutes(minutes), least),
        threshold: times * ERROR_BUDGET,
        periods: { breaching: 1, of: 2 },
        within: id,
      })),
    };
  });
}

const figure = (value: number): string => String(Number(value.toPrecision(2)));

const learnersWaitFor: Readonly<Record<ServiceName, string>> = {
  mastery: 'they cannot start or continue a test.',
  reports: 'they do not see the result of their attempt.',
};

/** Returns the alarms on owners, by name. */
export function ownerAlarms(stage: Stage): readonly AlarmDefinition[] {
  return blamedOwners.map((owner) => ({
    id: `owner-${owner.replaceAll('_', '-')}`,
    severity: 'ticket',
    title: `${owner} does not respond usably`,
    impact: `Requests that need facts of ${owner} fail with a problem that clients may repeat.`,
    section: 'owner-failing',
    metric: metricOf(METRIC_NAMESPACE, ownerFailures.name, { stage: stage.name, owner }, Stats.SUM, MINUTE),
    // One learner whose facts an owner cannot deliver, and whose client repeats its request, is no failing owner.
    threshold: 2,
    periods: REPEATEDLY,
    within: ownersDown.id,
  }));
}

/** Every owner that a request can fail because of. This service is none of its own, and what is unknown has no name. */
const blamedOwners: readonly string[] = [
  ...new Set([
    ...owners,
    ...sourceService.options.filter((name) => name !== 'mastery_engine' && name !== 'unknown'),
  ]),
].toSorted();

export function apiAlarms(stage: Stage, api: ApiName): readonly AlarmDefinition[] {
  const dimensions = { ApiName: apiName(stage, api), Stage: stage.name };
  const share = (name: string, least: number): MathExpression =>
    shareOf(
      { namespace: 'AWS/ApiGateway', dimensions, requests: { name: 'Count' }, failures: { name } },
      FIVE_MINUTES,
      least,
    );
  return [
    {
      id: `${api}-server-errors`,
      severity: 'ticket',
      section: 'api-server-errors',
      title: `The ${api} API returns 5xx`,
      impact: `More than 1 % of the requests to the ${api} API fail with 5xx.`,
      metric: share('5XXError', 3),
      threshold: 0.01,
      periods: { breaching: 2, of: 3 },
    },
    // An expired link is rejected as intended, and developers send invalid requests to the sandbox.
    ...(api === 'receipts' || api === 'sandbox'
      ? []
      : [
          {
            id: `${api}-client-errors`,
            severity: 'ticket',
            section: 'api-refuses-too-much',
            title: `The ${api} API rejects most requests`,
            impact: `The ${api} service rejects most requests. Possible causes: a faulty release, the issuer’s keys, a missing dependency, or one faulty client.`,
            metric: share('4XXError', 20),
            threshold: 0.5,
            periods: { breaching: 3, of: 4 },
          } as const,
        ]),
    // Only the firewall before the site, which all its callers pass, limits those of the sandbox.
    ...(api === 'sandbox'
      ? []
      : [
          {
            id: `${api}-firewall-rate-limit`,
            severity: 'ticket',
            section: 'firewall-rate-limit',
            title: `The firewall blocks an address at the ${api} API`,
            impact:
              'All clients behind one IP address receive 429. It may be an attacker, or a school whose clients share the address.',
            metric: metricOf(
              'AWS/WAFV2',
              'BlockedRequests',
              { WebACL: apiName(stage, api), Rule: 'rate-per-address', Region: Aws.REGION },
              Stats.SUM,
              MINUTE,
            ),
            periods: REPEATEDLY,
          } as const,
        ]),
  ];
}

/** Returns the alarms of the trigger of a background function: its queue, its schedule or its API. */
export function triggerAlarms(
  stage: Stage,
  row: BackgroundFunction,
  { runs, deadLetters }: Pick<StoreReferences, 'runs' | 'deadLetters'>,
): readonly AlarmDefinition[] {
  switch (row.trigger) {
    case 'link':
      return apiAlarms(stage, 'receipts');
    case 'sandbox':
      return apiAlarms(stage, 'sandbox');
    case 'queue': {
      return [
        {
          id: 'runs-waiting',
          severity: 'ticket',
          section: 'runs-waiting',
          title: 'Improvement runs wait in their queue',
          impact: 'Improvement runs start more than an hour after the request for an analysis.',
          metric: queueAge(runs.name),
          // A message that failed once is hidden for half of this time, then delivered again.
          threshold: 2 * RUN_HIDDEN.toSeconds(),
          periods: { breaching: 2, of: 3 },
        },
        {
          id: 'runs-given-up',
          severity: 'ticket',
          section: 'runs-given-up',
          title: 'An improvement run failed five times and is in the dead-letter queue',
          impact:
            'The run has no result. The sweeper retries it for at most fourteen days, until the cause is corrected.',
          metric: metricOf(
            'AWS/SQS',
            'ApproximateNumberOfMessagesVisible',
            { QueueName: deadLetters.name },
            Stats.MAXIMUM,
          ),
          periods: { breaching: 1, of: 3 },
        },
      ];
    }
    case 'schedule':
      return [
        {
          id: `${row.operationId}-silent`,
          severity: 'ticket',
          section: row.silence,
          title: `${row.operationId} is no longer invoked`,
          impact: row.lambda.impact,
          metric: metricOf(
            'AWS/Lambda',
            'Invocations',
            liveDimensions(stage, row),
            Stats.SUM,
            Duration.minutes(row.everyMinutes),
          ),
          threshold: 1,
          below: true,
          silence: true,
          periods: { breaching: row.missing ?? 3, of: row.missing ?? 3 },
        },
        ...(rotatesKeys(row) ? [rotationAlarm(stage, row)] : []),
      ];
  }
}

/** Returns the age of the oldest message of a queue, in seconds. */
export function queueAge(QueueName: string): Metric {
  return metricOf('AWS/SQS', 'ApproximateAgeOfOldestMessage', { QueueName }, Stats.MAXIMUM);
}

/** Returns the alarm for a key that has sealed for two days too long: its successor was not created, or does not take over. */
function rotationAlarm(
  stage: Stage,
  { lambda, silence }: Extract<BackgroundFunction, { readonly trigger: 'schedule' }>,
): AlarmDefinition {
  return {
    id: 'keys-not-rotated',
    severity: 'ticket',
    section: silence,
    title: 'A key of tokens is too old',
    impact: lambda.impact,
    metric: metricOf(
      METRIC_NAMESPACE,
      'activeKeyAgeDays',
      { stage: stage.name },
      Stats.MAXIMUM,
      Duration.hours(1),
    ),
    threshold: (stage.config.keyRotationDays ?? DEFAULT_KEY_ROTATION_DAYS) + 2,
  };
}

const tableImpact: Readonly<Record<TableDefinition['name'], string>> = {
  records: 'Runs cannot be started, inspected or advanced. Policies and calibrations cannot be read.',
  control: 'Runs cannot be started, inspected or advanced, because idempotency is not guaranteed.',
  settings:
    'Containers cannot refresh their keys: new containers cannot serve runs, and a key rotation has no effect.',
  improvement: 'Improvement runs cannot be started, processed or read.',
};

/**
 * Returns the alarms of one table.
 * @param tableName the deployed name
 */
export function tableAlarms(table: TableDefinition['name'], tableName: string): readonly AlarmDefinition[] {
  const access = [
    { id: 'read', metricName: 'ReadThrottleEvents', verb: 'reads of' },
    { id: 'write', metricName: 'WriteThrottleEvents', verb: 'writes to' },
  ];
  return access.map(({ id, metricName, verb }) => ({
    id: `${table}-${id}-throttles`,
    severity: 'page',
    within: stores.id,
    section: 'table-throttles',
    title: `DynamoDB throttles ${verb} the table ${table}`,
    impact: tableImpact[table],
    metric: metricOf('AWS/DynamoDB', metricName, { TableName: tableName }, Stats.SUM, MINUTE),
    // The SDK repeats a throttled attempt, and a table on demand throttles for moments when it grows.
    threshold: 9,
    periods: REPEATEDLY,
  }));
}

/** Returns the alarms on log lines. Each counts the lines of one code, from all functions. */
export function codeAlarms(stage: Stage): readonly AlarmDefinition[] {
  return Object.entries(watches).flatMap(([code, watched]): readonly AlarmDefinition[] => {
    if ('quiet' in watched) return [];
    const { rings, dependency, ...words } = watched;
    const { perMinutes, atLeast = 1 } = rings;
    return [
      {
        id: code.toLowerCase().replaceAll('_', '-'),
        ...words,
        metric: metricOf(
          METRIC_NAMESPACE,
          code,
          { stage: stage.name },
          Stats.SUM,
          Duration.minutes(perMinutes),
        ),
        threshold: atLeast - 1,
        periods: { breaching: rings.in, of: rings.of },
        ...(dependency !== undefined && { within: dependency }),
      },
    ];
  });
}

/** Returns the properties of the CloudWatch alarm. Missing data means no calls and is no breach, except for an alarm on `silence`. */
export function alarmProps(stage: Stage, definition: AlarmDefinition): CreateAlarmOptions {
  const { threshold = 0, below, silence } = definition;
  const { breaching, of } = definition.periods ?? { breaching: 1, of: 1 };
  return {
    ...wordsOf(stage, definition),
    threshold,
    evaluationPeriods: of,
    datapointsToAlarm: breaching,
    comparisonOperator:
      below === true ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
    treatMissingData: silence === true ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  };
}

/** Returns name and text of an alarm: what happens, who is hurt, and where to read on. */
export function wordsOf(
  stage: Stage,
  { id, title, impact, section }: AlarmWords & { readonly id: string },
): { readonly alarmName: string; readonly alarmDescription: string } {
  return {
    alarmName: `${prefix(stage)}-${id}`,
    alarmDescription: `${title}. Impact: ${impact} What to do: ${stage.config.runbookUrl}#${section}`,
  };
}

/** Returns the composite alarms, each with the words for its message. Those that explain others come first. */
export function composites(
  stage: Stage,
  functions: readonly DeployedFunction[],
): readonly CompositeDefinition[] {
  const services = new Set(functions.filter(isRoute).map(({ service }) => service));
  return [
    stores,
    ownersDown,
    ...[...services].flatMap((service) => learnerAlarms(stage, service)),
    ...[...services].map(routesGroup),
    ...functions.map(functionGroup),
  ];
}
