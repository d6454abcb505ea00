import { Duration } from 'aws-cdk-lib';
import { Metric, Stats, type CreateAlarmOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { TableDefinition } from '#shared/aws/tables.ts';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { apiName } from '../stacks/service.ts';
import { prefix } from '../stacks/stack-props.ts';
import type { Stage } from '../stage-config/stages.ts';
import { functionName } from './route-function.ts';
import { webAclName } from './web-acl.ts';

/** An alarm as a value: what it watches, who is hurt, and which section of docs/runbook.md helps. */
export interface AlarmDefinition {
  readonly id: string;
  /** A heading of docs/runbook.md, as its anchor. */
  readonly section:
    | 'function-errors'
    | 'function-throttles'
    | 'function-slow'
    | 'api-server-errors'
    | 'api-refuses-too-much'
    | 'firewall-rate-limit'
    | 'table-throttles';
  readonly title: string;
  /** A sentence. */
  readonly impact: string;
  readonly metric: Metric;
  readonly threshold: number;
  /** How many of the last periods must be above the threshold. */
  readonly periods: { readonly breaching: number; readonly of: number };
}

const FIVE_MINUTES = Duration.minutes(5);

/** The alarms of one route's function. */
export function functionAlarms(stage: Stage, route: Route): readonly AlarmDefinition[] {
  const { operationId, lambda } = route;
  const metric = (name: string, statistic: string): Metric =>
    new Metric({
      namespace: 'AWS/Lambda',
      metricName: name,
      dimensionsMap: { FunctionName: functionName(stage, route) },
      period: FIVE_MINUTES,
      statistic,
    });
  return [
    {
      id: `${operationId}-errors`,
      section: 'function-errors',
      title: `${operationId} ends without an answer`,
      impact: lambda.impact,
      metric: metric('Errors', Stats.SUM),
      threshold: 0,
      periods: { breaching: 1, of: 1 },
    },
    {
      id: `${operationId}-throttles`,
      section: 'function-throttles',
      title: `${operationId} is not admitted by Lambda`,
      impact: lambda.impact,
      metric: metric('Throttles', Stats.SUM),
      threshold: 0,
      periods: { breaching: 1, of: 1 },
    },
    {
      id: `${operationId}-slow`,
      section: 'function-slow',
      title: `${operationId} comes close to its time limit`,
      impact: `Soon: ${lambda.impact}`,
      metric: metric('Duration', Stats.percentile(99)),
      threshold: lambda.timeoutSeconds * 1000 * 0.8,
      periods: { breaching: 3, of: 5 },
    },
  ];
}

/**
 * The alarms of one service's API.
 * @param region where it is deployed: a dimension of the firewall's metrics
 */
export function serviceAlarms(
  stage: Stage,
  service: ServiceName,
  region: string,
): readonly AlarmDefinition[] {
  const metric = (name: string, statistic: string): Metric =>
    new Metric({
      namespace: 'AWS/ApiGateway',
      metricName: name,
      dimensionsMap: { ApiName: apiName(stage, service), Stage: stage.name },
      period: FIVE_MINUTES,
      statistic,
    });
  return [
    {
      id: `${service}-server-errors`,
      section: 'api-server-errors',
      title: `The ${service} API answers 5xx`,
      impact: `More than one in a hundred callers of the ${service} service get a failure that is not theirs.`,
      metric: metric('5XXError', Stats.AVERAGE),
      threshold: 0.01,
      periods: { breaching: 2, of: 3 },
    },
    {
      id: `${service}-client-errors`,
      section: 'api-refuses-too-much',
      title: `The ${service} API refuses most requests`,
      impact: `Most callers of the ${service} service are refused: a bad release, the issuer’s keys, a missing dependency, or one broken client.`,
      metric: metric('4XXError', Stats.AVERAGE),
      threshold: 0.5,
      periods: { breaching: 3, of: 3 },
    },
    {
      id: `${service}-firewall-rate-limit`,
      section: 'firewall-rate-limit',
      title: `The firewall limits an address at the ${service} API`,
      impact:
        'Everybody behind one address is refused with 429: an attacker, or a school whose clients share it.',
      metric: new Metric({
        namespace: 'AWS/WAFV2',
        metricName: 'BlockedRequests',
        dimensionsMap: { WebACL: webAclName(stage, service), Rule: 'rate-per-address', Region: region },
        period: FIVE_MINUTES,
        statistic: Stats.SUM,
      }),
      threshold: 0,
      periods: { breaching: 1, of: 1 },
    },
  ];
}

const tableImpact: Readonly<Record<TableDefinition['name'], string>> = {
  records: 'No run can be started, inspected or advanced, and no policy or calibration read.',
  control: 'No run can be started, inspected or advanced: idempotency cannot be kept.',
  settings:
    'Containers cannot refresh their keys: new ones cannot serve runs, and a rotation does not arrive.',
};

/**
 * The alarms of one table.
 * @param tableName the deployed name
 */
export function tableAlarms(table: TableDefinition['name'], tableName: string): readonly AlarmDefinition[] {
  const metric = (name: string): Metric =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName: name,
      dimensionsMap: { TableName: tableName },
      period: FIVE_MINUTES,
      statistic: Stats.SUM,
    });
  const access = [
    { id: 'read', metricName: 'ReadThrottleEvents', verb: 'reads of' },
    { id: 'write', metricName: 'WriteThrottleEvents', verb: 'writes to' },
  ];
  return access.map(({ id, metricName, verb }) => ({
    id: `${table}-${id}-throttles`,
    section: 'table-throttles',
    title: `DynamoDB throttles ${verb} the table ${table}`,
    impact: tableImpact[table],
    metric: metric(metricName),
    threshold: 0,
    periods: { breaching: 2, of: 3 },
  }));
}

/** Properties of the CloudWatch alarm. Missing data is no breach: nobody called. */
export function alarmProps(stage: Stage, definition: AlarmDefinition): CreateAlarmOptions {
  const { id, title, impact, section, threshold, periods } = definition;
  return {
    alarmName: `${prefix(stage)}-${id}`,
    alarmDescription: `${title}. Who is hurt: ${impact} What to do: ${stage.config.runbookUrl}#${section}`,
    threshold,
    evaluationPeriods: periods.of,
    datapointsToAlarm: periods.breaching,
  };
}
