import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { replay } from './cloudwatch/evaluator.ts';
import { delayed, figuresOf, lines, NEW_VERSION, type Points } from './cloudwatch/happenings.ts';
import { outageOf, quietNights, rareRouteDies, storesDown } from './cloudwatch/outages.ts';
import type { Outage, WatchedMetric } from './cloudwatch/outages.ts';
import { canary, deployed, resourcesOf, stage } from './deployed.ts';

interface Properties {
  readonly AlarmName?: string;
  readonly AlarmActions?: readonly string[];
  readonly AlarmRule?: string;
  readonly ActionsSuppressor?: string;
  readonly Metrics?: readonly {
    readonly MetricStat?: { readonly Metric: Metric; readonly Period: number };
  }[];
}
interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
}

const prod = stage('prod');
const prefix = 'mastery-reports-prod-';
const stacks = deployed({
  settings: { canaryMinutes: 10, canary, expected: { runsPerMonth: 100_000, reportsPerMonth: 100_000 } },
});
/** With one number for each new version, which CloudFormation knows only later. */
const alarms = ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm'].flatMap((type) =>
  resourcesOf(stacks, type).map(({ id, properties }) => {
    const text = JSON.stringify(properties).replaceAll(/arn:aws:lambda:[^"]+\.Version/g, NEW_VERSION);
    const own = JSON.parse(text) as Properties;
    return { name: own.AlarmName ?? id, type, properties: own };
  }),
);
type Alarm = (typeof alarms)[number];
const idOf = (name: string): string =>
  name.replace(prefix, '').replace(/FunctionCurrentVersion\w+Fails$/, '-new-version-fails');

function watchedBy({ properties }: Alarm): readonly WatchedMetric[] {
  const { Metrics } = properties;
  const found =
    Metrics?.flatMap(({ MetricStat }) => MetricStat ?? []) ??
    ('MetricName' in properties
      ? [
          {
            Metric: properties as unknown as Metric,
            Period: (properties as { Period?: number }).Period ?? NaN,
          },
        ]
      : []);
  return found.map(({ Metric: { Namespace, MetricName, Dimensions = [] }, Period }) => ({
    ...{ namespace: Namespace, metric: MetricName, period: Period / 60 },
    dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
  }));
}

/** The alarms that a composite one reads. */
function readBy({ properties: { AlarmRule = '', ActionsSuppressor = '' } }: Alarm): readonly Alarm[] {
  const text = `${AlarmRule} "${ActionsSuppressor}"`;
  return alarms.filter(({ name }) => text.includes(`"${name}.Arn"`));
}

/** The composite alarms whose rule has this one, directly or through others. */
function parentsOf(alarm: Alarm): readonly Alarm[] {
  const direct = alarms.filter(({ properties }) => properties.AlarmRule?.includes(`"${alarm.name}.Arn"`));
  return [...direct, ...direct.flatMap(parentsOf)];
}

/** An alarm with what decides whether it is heard. */
function circleOf(alarm: Alarm): readonly Alarm[] {
  const circle = new Set([alarm, ...parentsOf(alarm)]);
  for (const one of circle) for (const read of readBy(one)) circle.add(read);
  return [...circle];
}

/** The points of metrics that some of these alarms watch. */
function seenBy(some: readonly Alarm[], points: Points): Points {
  const names = new Set(some.flatMap(watchedBy).map(({ namespace, metric }) => `${namespace} ${metric}`));
  return points.filter(({ namespace, metric }) => names.has(`${namespace} ${metric}`));
}

/** How many minutes each source is late, with how many more points CloudWatch looks at than an alarm evaluates. */
const latenesses: readonly (readonly [
  title: string,
  delayOf: (namespace: string) => number,
  extra: number,
])[] = [
  ['0 minutes', () => 0, 1],
  ['1 minute', () => 1, 1],
  ['2 minutes', () => 2, 2],
  ['3 minutes', () => 3, 1],
  ['3 minutes', () => 3, 2],
  ['3 minutes, those of lines 0', (name) => (name.startsWith('AWS/') ? 3 : 0), 1],
  ['0 minutes, those of lines 3', (name) => (name.startsWith('AWS/') ? 0 : 3), 1],
];
/** The minutes before an outage or a night in which alarms are evaluated. */
const BEFORE = 10;

const deployments = JSON.stringify(resourcesOf(stacks, 'AWS::CodeDeploy::DeploymentGroup'));

/** Returns whether CodeDeploy reads the state of an alarm, instead of a person its message. */
function isRead({ name }: Alarm): boolean {
  return deployments.includes(`"${name}"`);
}

/** Returns the minute of the outage at which the alarm, or one that notifies in its place, is heard; undefined: it is not. */
function heardAfter(
  alarm: Alarm,
  { points, within }: Outage,
  delayOf: (namespace: string) => number,
  extraPoints: number,
): number | undefined {
  const circle = circleOf(alarm);
  const timeline = delayed(seenBy(circle, points), delayOf)
    .filter(({ at }) => at < within)
    .map((point) => ({ ...point, at: point.at + BEFORE }));
  const { changes, notifications } = replay(circle, timeline, { minutes: BEFORE + within, extraPoints });
  const isOn = changes.findLast(({ alarm: name, at }) => name === alarm.name && at <= BEFORE)?.state;
  if (isOn === 'ALARM') throw new Error(`${alarm.name} is on before the outage`);
  const rang = changes.find(
    ({ alarm: name, state, at }) => name === alarm.name && state === 'ALARM' && at > BEFORE,
  );
  const heard = isRead(alarm)
    ? rang
    : notifications.find(({ state, at }) => state === 'ALARM' && at > BEFORE);
  return rang && heard && Math.max(rang.at, heard.at) - BEFORE;
}

const metricAlarms = alarms.filter(({ type }) => type === 'AWS::CloudWatch::Alarm');
const named = metricAlarms.map((alarm) => [idOf(alarm.name), alarm] as const);
const outagesOf = (alarm: Alarm): readonly Outage[] =>
  watchedBy(alarm).flatMap((metric) => outageOf(prod, metric) ?? []);

describe('an outage is heard', () => {
  it.each(named)('%s', (_, alarm) => {
    const outages = outagesOf(alarm);
    expect(outages, 'no row of test/infra/cloudwatch/outages.ts is about what it watches').not.toHaveLength(
      0,
    );
    const silent = outages.flatMap((outage) =>
      latenesses.flatMap(([late, delayOf, extraPoints]) => {
        const minutes = heardAfter(alarm, outage, delayOf, extraPoints) ?? Infinity;
        return minutes <= outage.within
          ? []
          : [`${outage.title}: metrics are late by ${late}, ${String(extraPoints)} more points`];
      }),
    );
    expect(silent).toStrictEqual([]);
  });
});

const metrics = [
  ...new Map(metricAlarms.flatMap(watchedBy).map((metric) => [JSON.stringify(metric), metric])).values(),
];

describe('no alarm goes off in a quiet night', () => {
  const nights = quietNights(prod, metrics);

  it.each(nights)('$title', ({ minutes, points }) => {
    const seen = seenBy(alarms, points).map((point) => ({ ...point, at: point.at + BEFORE }));
    const rang = [[0, 1] as const, [3, 5] as const].flatMap(([delay, extraPoints]) =>
      replay(
        alarms,
        delayed(seen, () => delay),
        { minutes: BEFORE + minutes, extraPoints },
      ).changes.flatMap(({ alarm, at, state }) => (state === 'ALARM' && at > BEFORE ? [idOf(alarm)] : [])),
    );
    expect([...new Set(rang)]).toStrictEqual([]);
  });

  it.each(named)(
    'each metric of %s has data in some night, unless a single event is too much',
    (_, alarm) => {
      if (outagesOf(alarm).some(({ atOnce }) => atOnce)) return;
      const missing = watchedBy(alarm).filter(
        (metric) =>
          !nights.some(({ points }) =>
            points.some(
              (point) =>
                point.metric === metric.metric &&
                point.namespace === metric.namespace &&
                isDeepStrictEqual(point.dimensions, metric.dimensions),
            ),
          ),
      );
      expect(missing).toStrictEqual([]);
    },
  );
});

/** Who hears of what happens from minute 0 on, in the order in which they do: "topic alarm". */
function heardOf(points: Points, minutes: number, delay: number): readonly string[] {
  const timeline = delayed(seenBy(alarms, points), () => delay).map((point) => ({
    ...point,
    at: point.at + BEFORE,
  }));
  return replay(alarms, timeline, { minutes: BEFORE + minutes })
    .notifications.filter(({ at, state }) => at > BEFORE && state === 'ALARM')
    .map(({ topic, alarm }) => `${topic} ${idOf(alarm)}`);
}

it.each([0, 3])('an outage of DynamoDB is one page, with metrics that are %i minutes late', (delay) => {
  const heard = heardOf(storesDown(prod, metrics), 60, delay);
  expect(heard.filter((one) => !one.startsWith('Tickets '))).toStrictEqual(['Pages stores']);
  expect(heard.filter((one) => one.startsWith('Tickets ')).toSorted()).toStrictEqual(
    ['mastery', 'receipts', 'reports', 'sandbox'].map((api) => `Tickets ${api}-server-errors`),
  );
});

// An invocation that ends without a response writes no line that could count it.
it('a route that is called once per hour and never responds is heard', () => {
  expect(heardOf(rareRouteDies(prod, metrics), 360, 0)).toStrictEqual([
    expect.stringMatching(/^Tickets function-/),
  ]);
});

it('the line that the drill plants is counted as one that a function writes', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/deploy.md'), 'utf8');
  const [, planted = ''] = /line='(\{[^]*?\}\]\}\})'/.exec(page) ?? [];
  const text = planted.replaceAll("'$stage'", prod.name).replaceAll("'$now'", '0');
  const written = lines(prod, 'readReceipt', { from: 0, to: 1 }, 'RECEIPT_ABSENT');
  expect(figuresOf(text)).toStrictEqual(
    written.map(({ namespace, metric, dimensions, value }) => ({ namespace, metric, value, dimensions })),
  );
  expect(figuresOf(text)).toHaveLength(1);
});
