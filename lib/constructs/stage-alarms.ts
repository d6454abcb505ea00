import { Duration } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_NAMESPACE, stageFigures } from '#shared/observability/log-codes.ts';
import type { Severity } from '#shared/observability/watches.ts';
import { recordedCalls } from '#shared/scale/recorded.ts';
import { logBytesOf, trafficOf } from '#shared/scale/traffic.ts';
import { scheduledChecks, type DaysLeft } from '#shared/stage/checks.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { metricOf, type AlarmDefinition } from './alarms.ts';

const HOUR = Duration.hours(1);

/** How many days before the end a ticket and then a page is due: there is time to make a new one, and to notice that no operator does. */
const dueDays: readonly (readonly [Severity, number])[] = [
  ['ticket', 30],
  ['page', 7],
];

const ends: Readonly<Record<DaysLeft, { readonly title: string; readonly impact: string }>> = {
  ManifestDaysLeft: {
    title: 'The release manifest ends',
    impact: 'At its end every route that needs a release gate returns 503, for all tenants.',
  },
  CredentialDaysLeft: {
    title: 'The credential of a tenant ends',
    impact: 'At its end every request of that tenant fails, and its learners cannot continue their tests.',
  },
  CertificateDaysLeft: {
    title: 'A certificate ends and was not renewed',
    impact: 'At its end clients refuse the connection to the addresses that have it.',
  },
};

/** Returns the alarms on what the watcher finds. It looks once an hour, so one call that is throttled or meets a deployment rings nothing. */
export function stageAlarms(stage: Stage): readonly AlarmDefinition[] {
  return scheduledChecks.flatMap(([check, { daysLeft, ...words }]): readonly AlarmDefinition[] => {
    const id = `stage-${check.replaceAll(' ', '-')}`;
    return [
      {
        ...{ ...words, id, periods: { breaching: 2, of: 3 } },
        metric: metricOf(
          METRIC_NAMESPACE,
          stageFigures.findings.name,
          { stage: stage.name, check },
          Stats.SUM,
          HOUR,
        ),
      },
      ...(daysLeft === undefined ? [] : dueDays).map(([severity, days]): AlarmDefinition => ({
        ...ends[daysLeft as DaysLeft],
        ...{ id: `${id}-${days}-days`, severity, section: words.section },
        title: `${ends[daysLeft as DaysLeft].title} in less than ${days} days`,
        metric: metricOf(METRIC_NAMESPACE, daysLeft as DaysLeft, { stage: stage.name }, Stats.MINIMUM, HOUR),
        ...{ threshold: days, below: true, periods: { breaching: 1, of: 3 } },
      })),
    ];
  });
}

/** Other lines than those of requests: of background functions, and of deployments. */
const OTHER_BYTES = 1e9;

/**
 * Returns the alarm on the volume of logs of a stage that expects a traffic. CloudWatch counts it for the account: the names of the log groups are made
 * at their deployment.
 */
export function logVolumeAlarms({ config }: Stage): readonly AlarmDefinition[] {
  if (config.expected === undefined) return [];
  const { runsPerMonth: runs, reportsPerMonth: reports } = config.expected;
  const bytes = logBytesOf({ ...trafficOf(0), runs, reports }, recordedCalls);
  return [
    {
      id: 'log-volume',
      severity: 'ticket',
      title: 'Log lines take far more bytes than the expected traffic explains',
      impact: 'Nobody is hurt, but CloudWatch Logs costs more than all else of the stage.',
      section: 'log-volume',
      metric: metricOf('AWS/Logs', 'IncomingBytes', {}, Stats.SUM, Duration.hours(6)),
      // A school day's traffic comes within six hours, on some 20 days a month.
      threshold: Math.ceil(OTHER_BYTES + 3 * (bytes / 20)),
      periods: { breaching: 1, of: 2 },
    },
  ];
}
