import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  MathExpression,
  Stats,
  TextWidget,
  type IAlarm,
  type IMetric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import {
  canaryFigures,
  logCodes,
  METRIC_NAMESPACE,
  ownerFailures,
  requestFigures,
  stageFigures,
} from '#shared/observability/log-codes.ts';
import type { Figure, LogCode } from '#shared/observability/log-codes.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { prefix } from '../names.ts';

/** The parts of the dashboard that depend on what is deployed. */
export interface DashboardParts {
  /** The open gates, by which a reader sees which release is deployed. */
  readonly release: string;
  /** The alarms that notify, by their severity. */
  readonly notifying: ReadonlyMap<string, readonly IAlarm[]>;
  /** All others, by what they watch. */
  readonly others: ReadonlyMap<string, readonly IAlarm[]>;
  readonly queueAge: IMetric;
}

const PERIOD = Duration.minutes(5);

/** Creates the dashboard in the order in which docs/runbook.md reads it: who is hurt, what fails, because of whom, and since when. */
export function dashboard(scope: Construct, stage: Stage, parts: DashboardParts): void {
  const { release, notifying, others, queueAge } = parts;
  const ofStage = (figure: Pick<Figure, 'name' | 'dimensions'>, statistic: string = Stats.SUM): IMetric =>
    search(
      METRIC_NAMESPACE,
      figure.dimensions,
      `MetricName="${figure.name}" stage="${stage.name}"`,
      statistic,
    );
  const ofFunctions = (name: string): IMetric =>
    search('AWS/Lambda', ['FunctionName'], `MetricName="${name}" FunctionName="${prefix(stage)}-"`);
  const graph = (title: string, left: readonly IMetric[]): GraphWidget =>
    new GraphWidget({ title, width: 8, height: 6, left: [...left] });
  const { requests, problems, latency, upstreamTime, learnerRequests, learnerFailures } = requestFigures;
  new Dashboard(scope, 'Dashboard', {
    dashboardName: prefix(stage),
    widgets: [
      [
        new TextWidget({
          width: 24,
          height: 2,
          markdown: `**${prefix(stage)}** · ${release} · [Runbook: the first five minutes](${stage.config.runbookUrl}#the-first-five-minutes) · saved queries: CloudWatch, Logs Insights, _Queries_, folder \`${prefix(stage)}\``,
        }),
      ],
      ...statusOf(notifying, 4),
      [
        graph('Requests and failures that learners meet', [
          ofStage(learnerRequests),
          ofStage(learnerFailures),
        ]),
        graph('Requests by operation', [ofStage(requests)]),
        graph('Failures by problem', [ofStage(problems)]),
      ],
      [
        graph('Failures by owner', [ofStage(ownerFailures)]),
        graph('Latency, 99th percentile, ms', [ofStage(latency, Stats.percentile(99))]),
        graph('Latency and the time of owners in it, mean, ms', [
          ofStage(latency, Stats.AVERAGE),
          ofStage(upstreamTime, Stats.AVERAGE),
        ]),
      ],
      [
        graph('Crashes and throttles of functions', [ofFunctions('Errors'), ofFunctions('Throttles')]),
        graph('Oldest improvement run in the queue, s', [queueAge]),
        graph(
          'Days left',
          [stageFigures.manifest, stageFigures.credential, stageFigures.certificate].map((figure) =>
            ofStage(figure, Stats.MINIMUM),
          ),
        ),
      ],
      [
        graph('Canary: share of calls that succeed', [ofStage(canaryFigures.success, Stats.AVERAGE)]),
        graph('Canary: latency, ms', [ofStage(canaryFigures.latency, Stats.MAXIMUM)]),
      ],
      ...statusOf(others, 3),
    ],
  });
}

/** A widget of alarms takes 1 to 100 of them. */
const ALARMS_PER_WIDGET = 100;

/** Returns rows with the states of alarms. */
function statusOf(
  groups: ReadonlyMap<string, readonly IAlarm[]>,
  height: number,
): readonly AlarmStatusWidget[][] {
  return [...groups].flatMap(([title, alarms]) =>
    Array.from({ length: Math.ceil(alarms.length / ALARMS_PER_WIDGET) }, (_, at) => [
      new AlarmStatusWidget({
        ...{ title, width: 24, height },
        alarms: alarms.slice(at * ALARMS_PER_WIDGET, (at + 1) * ALARMS_PER_WIDGET),
      }),
    ]),
  );
}

/** Returns every series of a metric, as CloudWatch finds them. */
function search(
  namespace: string,
  dimensions: readonly string[],
  terms: string,
  statistic: string = Stats.SUM,
): IMetric {
  return new MathExpression({
    expression: `SEARCH('{${[namespace, ...dimensions].join(',')}} ${terms}', '${statistic}', ${PERIOD.toSeconds()})`,
    period: PERIOD,
    label: '',
  });
}

/** Creates the saved queries: one for each code that is counted, one for a request, and one for the problems of a time. */
export function savedQueries(scope: Construct, stage: Stage): void {
  const save = (id: string, lines: readonly string[]): void => {
    new CfnQueryDefinition(scope, `Query-${id}`, {
      // CloudWatch shows the part before the slash as a folder.
      name: `${prefix(stage)}/${id}`,
      queryString: lines.join('\n| '),
    });
  };
  save('one-request', [
    'fields @timestamp, operation, code, @message',
    'filter requestId = "…"',
    'sort @timestamp',
  ]);
  save('failures', [
    'filter code = "REQUEST_COMPLETED" and failed',
    'stats count(*) as requests, count_distinct(tenantHash) as tenants by operation, problem, function_version',
    'sort requests desc',
  ]);
  save('owners-share', [
    'filter code = "REQUEST_COMPLETED" and upstreamCalls > 0',
    'stats count(*) as requests, pct(durationMs, 50) as p50, pct(durationMs, 99) as p99, sum(upstreamMs) / sum(durationMs) as ownersShare by operation',
    'sort p99 desc',
  ]);
  for (const [code, { blames, fields }] of Object.entries<LogCode>(logCodes)) {
    if (blames === undefined) continue;
    save(code, [
      `fields ${['@timestamp', 'operation', 'requestId', 'function_version', ...Object.keys(fields)].join(', ')}`,
      `filter code = "${code}"`,
      'sort @timestamp desc',
      'limit 200',
    ]);
  }
}
