import { Aws, Duration } from 'aws-cdk-lib';
import { ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { CreateAlarmOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { TableDefinition } from '#shared/stores/tables.ts';
import type { BackgroundFunction } from '#shared/contract/background.ts';
import { isRoute, type DeployedFunction } from '#shared/contract/functions.ts';
import { logCodes, METRIC_NAMESPACE, type LogCode } from '#shared/observability/log-codes.ts';
import { rotatesKeys } from '#shared/contract/grants.ts';
import { DEFAULT_KEY_ROTATION_DAYS, type ApiName } from '#shared/stage/stage.ts';
import { RUN_HIDDEN, type StoreReferences } from '../references.ts';
import { apiName, functionName, LIVE, prefix } from '../names.ts';
import type { Stage } from '#shared/stage/stages.ts';

/** An alarm as a value: its metric, its impact, and the section of docs/runbook.md for it. */
export interface AlarmDefinition {
  readonly id: string;
  /** A heading of docs/runbook.md, as its anchor. */
  readonly section: string;
  readonly title: string;
  /** A sentence. */
  readonly impact: string;
  readonly metric: Metric;
  /** Absent: 0. */
  readonly threshold?: number;
  /** The alarm goes off if the metric is below the threshold or has no data. */
  readonly silence?: true;
  /** How many of the last periods must be above the threshold. Absent: the last one. */
  readonly periods?: { readonly breaching: number; readonly of: number };
}

const FIVE_MINUTES = Duration.minutes(5);

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

export function functionAlarms(stage: Stage, row: DeployedFunction): readonly AlarmDefinition[] {
  const { operationId, lambda } = row;
  // A worker passes a long run on to the next message shortly before its time limit; other functions should never come near it.
  const share = !isRoute(row) && row.trigger === 'queue' ? 0.95 : 0.8;
  const alarm = (kind: string, title: string, metricName: string, statistic?: string) => ({
    id: `${operationId}-${kind}`,
    section: `function-${kind}`,
    title,
    impact: lambda.impact,
    metric: metricOf('AWS/Lambda', metricName, liveDimensions(stage, row), statistic),
  });
  return [
    alarm('errors', `${operationId} fails with errors`, 'Errors'),
    alarm('throttles', `Lambda throttles ${operationId}`, 'Throttles'),
    {
      ...alarm('slow', `${operationId} is close to its time limit`, 'Duration', Stats.percentile(99)),
      impact: `If it exceeds the limit: ${lambda.impact}`,
      threshold: lambda.timeoutSeconds * 1000 * share,
      periods: { breaching: 3, of: 5 },
    },
  ];
}

export function apiAlarms(stage: Stage, api: ApiName): readonly AlarmDefinition[] {
  const average = (name: string): Metric =>
    metricOf('AWS/ApiGateway', name, { ApiName: apiName(stage, api), Stage: stage.name }, Stats.AVERAGE);
  return [
    {
      id: `${api}-server-errors`,
      section: 'api-server-errors',
      title: `The ${api} API returns 5xx`,
      impact: `More than 1 % of the requests to the ${api} API fail with 5xx.`,
      metric: average('5XXError'),
      threshold: 0.01,
      periods: { breaching: 2, of: 3 },
    },
    // An expired link is rejected as intended, and developers send invalid requests to the sandbox.
    ...(api === 'receipts' || api === 'sandbox'
      ? []
      : [
          {
            id: `${api}-client-errors`,
            section: 'api-refuses-too-much',
            title: `The ${api} API rejects most requests`,
            impact: `The ${api} service rejects most requests. Possible causes: a faulty release, the issuer’s keys, a missing dependency, or one faulty client.`,
            metric: average('4XXError'),
            threshold: 0.5,
            periods: { breaching: 3, of: 3 },
          } as const,
        ]),
    {
      id: `${api}-firewall-rate-limit`,
      section: 'firewall-rate-limit',
      title: `The firewall blocks an address at the ${api} API`,
      impact:
        'All clients behind one IP address receive 429. It may be an attacker, or a school whose clients share the address.',
      metric: metricOf('AWS/WAFV2', 'BlockedRequests', {
        WebACL: apiName(stage, api),
        Rule: 'rate-per-address',
        Region: Aws.REGION,
      }),
    },
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
      const metric = (QueueName: string, name: string): Metric =>
        metricOf('AWS/SQS', name, { QueueName }, Stats.MAXIMUM);
      return [
        {
          id: 'runs-waiting',
          section: 'runs-waiting',
          title: 'Improvement runs wait in their queue',
          impact: 'Improvement runs start more than an hour after the request for an analysis.',
          metric: metric(runs.name, 'ApproximateAgeOfOldestMessage'),
          // A message that failed once is hidden for half of this time, then delivered again.
          threshold: 2 * RUN_HIDDEN.toSeconds(),
        },
        {
          id: 'runs-given-up',
          section: 'runs-given-up',
          title: 'An improvement run failed five times and is in the dead-letter queue',
          impact:
            'The run has no result. The sweeper retries it for at most fourteen days, until the cause is corrected.',
          metric: metric(deadLetters.name, 'ApproximateNumberOfMessagesVisible'),
        },
      ];
    }
    case 'schedule':
      return [
        {
          id: `${row.operationId}-silent`,
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
          silence: true,
          periods: { breaching: 3, of: 3 },
        },
        ...(rotatesKeys(row) ? [rotationAlarm(stage, row)] : []),
      ];
  }
}

/** Returns the alarm for a key that has sealed for two days too long: its successor was not created, or does not take over. */
function rotationAlarm(
  stage: Stage,
  { lambda, silence }: Extract<BackgroundFunction, { readonly trigger: 'schedule' }>,
): AlarmDefinition {
  return {
    id: 'keys-not-rotated',
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
    section: 'table-throttles',
    title: `DynamoDB throttles ${verb} the table ${table}`,
    impact: tableImpact[table],
    metric: metricOf('AWS/DynamoDB', metricName, { TableName: tableName }),
    periods: { breaching: 2, of: 3 },
  }));
}

/** Returns the alarms on log lines. Each counts the lines of one code, from all functions. */
export function codeAlarms(stage: Stage): readonly AlarmDefinition[] {
  return Object.entries<LogCode>(logCodes).flatMap(([code, { alarm }]) =>
    alarm === undefined
      ? []
      : {
          id: code.toLowerCase().replaceAll('_', '-'),
          ...alarm,
          metric: metricOf(METRIC_NAMESPACE, code, { stage: stage.name }),
        },
  );
}

/** Returns the properties of the CloudWatch alarm. Missing data means no calls and is no breach, except for an alarm on `silence`. */
export function alarmProps(stage: Stage, definition: AlarmDefinition): CreateAlarmOptions {
  const { id, title, impact, section, threshold = 0, silence } = definition;
  const { breaching, of } = definition.periods ?? { breaching: 1, of: 1 };
  return {
    alarmName: `${prefix(stage)}-${id}`,
    alarmDescription: `${title}. Impact: ${impact} What to do: ${stage.config.runbookUrl}#${section}`,
    threshold,
    evaluationPeriods: of,
    datapointsToAlarm: breaching,
    ...(silence === true
      ? {
          comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
          treatMissingData: TreatMissingData.BREACHING,
        }
      : {
          comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
          treatMissingData: TreatMissingData.NOT_BREACHING,
        }),
  };
}
