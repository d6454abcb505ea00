import * as z from 'zod';
import { parseAlarmRule, type AlarmState } from './alarm-rule.ts';
import { compileExpression, type Series } from './metric-math.ts';

/*
 * Replays how CloudWatch evaluates alarms, minute by minute, over a timeline of data points. Each rule quotes AWS's text. Unless a page is named, that is
 * "Using Amazon CloudWatch alarms" of the CloudWatch user guide. What the evaluator does not know, it rejects.
 */

/** A resource of a template. Its properties have names in place of references. */
export interface AlarmResource {
  readonly name: string;
  readonly type: string;
  readonly properties: unknown;
}

/** A value that a metric gets. */
export interface DataPoint {
  readonly namespace: string;
  readonly metric: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly value: number;
  /** How many samples have this value; default: 1. */
  readonly samples?: number;
  /** When it happens, in minutes from the start of the timeline. */
  readonly at: number;
  /** After how many minutes CloudWatch sees it; default: 0. */
  readonly delay?: number;
}

export interface Change {
  /** The minute at whose start the alarm is in this state. */
  readonly at: number;
  readonly alarm: string;
  readonly state: AlarmState;
}

export interface Notification extends Change {
  readonly topic: string;
}

export interface Replay {
  readonly changes: readonly Change[];
  readonly notifications: readonly Notification[];
}

export interface ReplayOptions {
  readonly minutes: number;
  /**
   * "CloudWatch attempts to retrieve a higher number of data points than the number specified as Evaluation Periods. The exact number of data points it
   * attempts to retrieve depends on the length of the alarm period". AWS publishes no number; in its examples it is 2 more, which is the default.
   */
  readonly extraPoints?: number;
}

/** Replays the evaluation of all alarms from minute 1 to the last one. */
export function replay(
  resources: readonly AlarmResource[],
  timeline: readonly DataPoint[],
  { minutes, extraPoints = 2 }: ReplayOptions,
): Replay {
  const seriesOf = indexed(timeline);
  const metricAlarms = resources
    .filter(({ type }) => type === 'AWS::CloudWatch::Alarm')
    .map((resource) => metricAlarm(resource, seriesOf, extraPoints));
  const composites = inOrder(
    resources.filter(({ type }) => type === 'AWS::CloudWatch::CompositeAlarm').map(compositeAlarm),
  );
  if (metricAlarms.length + composites.length !== resources.length)
    throw new Error('the evaluator knows alarms and composite alarms only');
  const known = new Set(resources.map(({ name }) => name));
  for (const { references } of composites)
    for (const reference of references)
      if (!known.has(reference)) throw new Error(`no alarm ${reference} exists`);

  // "When this operation creates an alarm, the alarm state is immediately set to INSUFFICIENT_DATA. The alarm is then evaluated and its state is set
  // appropriately. Any actions associated with the new state are then executed." (CloudWatch API reference, PutMetricAlarm)
  const states = new Map<string, AlarmState>(resources.map(({ name }) => [name, 'INSUFFICIENT_DATA']));
  const stateOf = (name: string): AlarmState => states.get(name) ?? 'INSUFFICIENT_DATA';
  const changes: Change[] = [];
  const notifications: Notification[] = [];
  // "For any period of one minute or longer, an alarm is evaluated every minute".
  for (let at = 1; at <= minutes; at += 1)
    for (const alarm of [...metricAlarms, ...composites]) {
      const { name } = alarm;
      const before = stateOf(name);
      const state = alarm.evaluate(at, before, stateOf);
      if (state !== before) {
        states.set(name, state);
        changes.push({ at, alarm: name, state });
      }
      if (alarm.acts(at, state !== before, stateOf))
        notifications.push(...alarm.topics[state].map((topic) => ({ at, alarm: name, state, topic })));
    }
  return { changes, notifications };
}

/** An alarm, compiled. */
interface Evaluated {
  readonly name: string;
  readonly topics: Readonly<Record<AlarmState, readonly string[]>>;
  readonly evaluate: (at: number, before: AlarmState, stateOf: StateOf) => AlarmState;
  /** Whether it takes the actions of its state now. */
  readonly acts: (at: number, changed: boolean, stateOf: StateOf) => boolean;
}

type StateOf = (name: string) => AlarmState;

const topics = z.array(z.string().regex(/^(?!arn:)|^arn:aws:sns:/)).default([]);
const common = {
  AlarmName: z.string().optional(),
  AlarmDescription: z.string().optional(),
  Tags: z.unknown().optional(),
  ActionsEnabled: z.boolean().default(true),
  AlarmActions: topics,
  OKActions: topics,
  InsufficientDataActions: topics,
};

/** @throws for what the evaluator does not know */
function read<T extends z.ZodType>(schema: T, properties: unknown, name: string): z.output<T> {
  const { success, data, error } = schema.safeParse(properties);
  if (!success) throw new Error(`${name}: ${z.prettifyError(error)}`);
  return data;
}

function topicsOf({
  ActionsEnabled,
  AlarmActions,
  OKActions,
  InsufficientDataActions,
}: z.output<z.ZodObject<typeof common>>): Evaluated['topics'] {
  return ActionsEnabled
    ? { ALARM: AlarmActions, OK: OKActions, INSUFFICIENT_DATA: InsufficientDataActions }
    : { ALARM: [], OK: [], INSUFFICIENT_DATA: [] };
}

const dimensions = z.array(z.strictObject({ Name: z.string(), Value: z.string() })).default([]);
/** Seconds. An alarm of less than a minute would be evaluated every ten seconds. */
const period = z.int().multipleOf(60);
const plainStatistics = ['SampleCount', 'Average', 'Sum', 'Minimum', 'Maximum'] as const;
const percentile = /^p(\d{1,2}(?:\.\d+)?|100)$/;

const metricStat = z.strictObject({
  Metric: z.strictObject({ Namespace: z.string(), MetricName: z.string(), Dimensions: dimensions }),
  Period: period,
  Stat: z.union([z.enum(plainStatistics), z.string().regex(percentile)]),
});
type MetricStat = z.output<typeof metricStat>;

const alarmSchema = z.strictObject({
  ...common,
  Namespace: z.string().optional(),
  MetricName: z.string().optional(),
  Dimensions: dimensions,
  Statistic: z.enum(plainStatistics).optional(),
  ExtendedStatistic: z.string().regex(percentile).optional(),
  Period: period.optional(),
  Metrics: z
    .array(
      z.strictObject({
        Id: z.string().regex(/^[a-z]\w*$/),
        Label: z.string().optional(),
        ReturnData: z.boolean().default(true),
        MetricStat: metricStat.optional(),
        Expression: z.string().optional(),
        Period: period.optional(),
      }),
    )
    .optional(),
  ComparisonOperator: z.enum([
    'GreaterThanThreshold',
    'GreaterThanOrEqualToThreshold',
    'LessThanThreshold',
    'LessThanOrEqualToThreshold',
  ]),
  Threshold: z.number(),
  EvaluationPeriods: z.int().positive(),
  DatapointsToAlarm: z.int().positive().optional(),
  TreatMissingData: z.enum(['missing', 'ignore', 'breaching', 'notBreaching']).optional(),
  EvaluateLowSampleCountPercentile: z.enum(['evaluate', 'ignore']).optional(),
});
type MetricAlarmProperties = z.output<typeof alarmSchema>;

function metricAlarm({ name, properties }: AlarmResource, seriesOf: SeriesOf, extra: number): Evaluated {
  const alarm = read(alarmSchema, properties, name);
  const {
    EvaluationPeriods: of,
    DatapointsToAlarm: breaching = of,
    Threshold: threshold,
    ComparisonOperator: operator,
  } = alarm;
  const watched = watchedBy(alarm, name, seriesOf);
  if (breaching > of) throw new Error(`${name}: DatapointsToAlarm is above EvaluationPeriods`);
  // "The number of evaluation periods for an alarm multiplied by the length of each evaluation period can't exceed one day."
  if (of * watched.period > 1440) throw new Error(`${name}: the evaluation periods exceed one day`);
  const { Namespace: namespace, TreatMissingData: missing } = alarm;
  const criteria: Criteria = {
    ...{ breaching, of },
    // "Alarms that evaluate metrics in the AWS/DynamoDB namespace ignore missing data by default." The default behavior of others is `missing`.
    missing: missing ?? (namespace === 'AWS/DynamoDB' ? 'ignore' : 'missing'),
  };
  const isBreach = (value: number): boolean => {
    switch (operator) {
      case 'GreaterThanThreshold':
        return value > threshold;
      case 'GreaterThanOrEqualToThreshold':
        return value >= threshold;
      case 'LessThanThreshold':
        return value < threshold;
      case 'LessThanOrEqualToThreshold':
        return value <= threshold;
    }
  };
  const few = alarm.EvaluateLowSampleCountPercentile === 'ignore' ? fewSamples(alarm, name) : 0;
  return {
    name,
    topics: topicsOf(alarm),
    evaluate: (at, before) => {
      const { values, samples } = watched.pointsAt(at, of + extra);
      // "You can have the alarm ignore the metric while the sample size is low, and wait to evaluate it until there is enough data".
      if (samples.slice(-of).reduce((all, one) => all + one, 0) < few) return before;
      return judge(
        values.map((value) => (value === undefined ? undefined : isBreach(value))),
        criteria,
        before,
      );
    },
    // "The actions happen only on state transitions, and are not performed again if the condition persists for hours or days."
    acts: (_, changed) => changed,
  };
}

/**
 * "For percentiles between 0.5 (inclusive) and 1.00 (exclusive), this setting is used when there are fewer than 10/(1-percentile) data points during the
 * evaluation period. […] For percentiles between 0 and 0.5 (exclusive), the setting is used when there are fewer than 10/percentile data points."
 */
function fewSamples({ ExtendedStatistic }: MetricAlarmProperties, name: string): number {
  const percent = Number(percentile.exec(ExtendedStatistic ?? '')?.[1]);
  if (!(percent > 0 && percent < 100))
    throw new Error(`${name}: low samples of a statistic without a percentile`);
  return 1000 / (percent < 50 ? percent : 100 - percent);
}

export interface Criteria {
  readonly breaching: number;
  readonly of: number;
  readonly missing: 'missing' | 'ignore' | 'breaching' | 'notBreaching';
}

/**
 * Returns the state that follows from the points of the evaluation range.
 * @param points the oldest first: whether each breaches; undefined: missing
 */
export function judge(
  points: readonly (boolean | undefined)[],
  { breaching, of, missing }: Criteria,
  before: AlarmState,
): AlarmState {
  const existing = points.filter((point) => point !== undefined);
  const bad = (some: readonly boolean[]): number => some.filter(Boolean).length;
  const alarmIf = (condition: boolean): AlarmState => (condition ? 'ALARM' : 'OK');
  // A consequence of this: "CloudWatch alarms might repeatedly re-evaluate the last set of data points for a period of time after the metric has stopped
  // flowing. This re-evaluation might cause the alarm to change state and re-execute actions".
  // "If no data points in the evaluation range are missing, CloudWatch evaluates the alarm based on the most recent data points collected." "If some […]
  // are missing, but the total number of existing data points […] is equal to or more than the alarm's Evaluation Periods, CloudWatch evaluates the alarm
  // state based on the most recent real data points […]. In this case, the value you set for how to treat missing data is not needed and is ignored."
  if (existing.length >= of) return alarmIf(bad(existing.slice(-of)) >= breaching);
  // "If […] the number of actual data points that were retrieved is lower than the alarm's number of Evaluation Periods, CloudWatch fills in the missing
  // data points with the result you specified […]. However, all real data points in the evaluation range are included in the evaluation. CloudWatch uses
  // missing data points only as few times as possible."
  if (missing === 'breaching') return alarmIf(bad(existing) + of - existing.length >= breaching);
  if (missing === 'notBreaching' || bad(existing) >= breaching) return alarmIf(bad(existing) >= breaching);
  if (bad(existing) < existing.length) return 'OK';
  // "ignore: The current alarm state is maintained".
  if (missing === 'ignore') return before;
  // "Alarms are designed to always go into ALARM state when the oldest available breaching datapoint during the Evaluation Periods number of data points
  // is at least as old as the value of Datapoints to Alarm, and all other more recent data points are breaching or missing." The tables add that no
  // evaluated point may be within the threshold ("0 - X - -" of 2 of 3 is OK), and former editions of them that "- - - - X" is INSUFFICIENT_DATA.
  const oldest = points.indexOf(true);
  return oldest !== -1 && points.length - oldest >= breaching ? 'ALARM' : 'INSUFFICIENT_DATA';
}

interface Values {
  /** One per period. */
  readonly values: Series;
  readonly samples: readonly number[];
}

/** Returns the values of this many periods until a minute. */
type ValuesAt = (at: number, length: number) => Values;

interface Watched {
  /** Minutes. */
  readonly period: number;
  readonly pointsAt: ValuesAt;
}

function watchedBy(alarm: MetricAlarmProperties, name: string, seriesOf: SeriesOf): Watched {
  const { Namespace, MetricName, Dimensions, Statistic, ExtendedStatistic, Period, Metrics } = alarm;
  if (Metrics === undefined) {
    const Metric = { Namespace, MetricName, Dimensions };
    const stat = read(metricStat, { Metric, Period, Stat: Statistic ?? ExtendedStatistic }, name);
    if (Statistic !== undefined && ExtendedStatistic !== undefined)
      throw new Error(`${name}: two statistics`);
    return { period: stat.Period / 60, pointsAt: aggregate(stat, seriesOf) };
  }
  if ([Namespace, MetricName, Statistic, ExtendedStatistic, Period].some((one) => one !== undefined))
    throw new Error(`${name}: a metric next to Metrics`);
  const stats = new Map(Metrics.flatMap(({ Id, MetricStat }) => (MetricStat ? [[Id, MetricStat]] : [])));
  const expressions = new Map(
    Metrics.flatMap(({ Id, Expression }) => (Expression === undefined ? [] : [[Id, Expression]])),
  );
  const returned = Metrics.filter(({ ReturnData }) => ReturnData).map(({ Id }) => Id);
  const periods = new Set([
    ...[...stats.values()].map(({ Period: own }) => own),
    ...Metrics.flatMap(({ Period: own }) => own ?? []),
  ]);
  const [seconds] = periods;
  // "A math expression used for an alarm can include as many as 10 metrics. Each metric must be using the same period."
  if (stats.size > 10 || periods.size !== 1 || seconds === undefined)
    throw new Error(`${name}: up to ten metrics of one period are allowed`);
  if (stats.size + expressions.size !== Metrics.length || returned.length !== 1)
    throw new Error(`${name}: one entry must return data, and each is either a metric or an expression`);
  const [id = ''] = returned;
  const valuesOf = new Map([...stats].map(([own, stat]) => [own, aggregate(stat, seriesOf)]));
  const compiled = expressions.has(id)
    ? compileExpression(id, new Set(stats.keys()), expressions)
    : undefined;
  return {
    period: seconds / 60,
    pointsAt: (at, length) => {
      const metrics = new Map([...valuesOf].map(([own, valuesAt]) => [own, valuesAt(at, length).values]));
      return { values: compiled?.({ metrics, length }) ?? metrics.get(id) ?? [], samples: [] };
    },
  };
}

/** The samples of one minute, as they arrive. */
interface Sample {
  readonly value: number;
  readonly count: number;
  readonly seenAt: number;
}

/** By the minute in which they happened. */
type Minutes = Map<number, Sample[]>;
type SeriesOf = (metric: MetricStat['Metric']) => Minutes;

/** "Each unique combination of dimensions is a separate metric" (page "Amazon CloudWatch concepts", section "Dimension combinations"). */
function indexed(timeline: readonly DataPoint[]): SeriesOf {
  const key = (namespace: string, metric: string, of: readonly (readonly [string, string])[]): string =>
    JSON.stringify([namespace, metric, of.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
  const all = new Map<string, Minutes>();
  const stored = (series: string): Minutes => {
    const found = all.get(series) ?? new Map<number, Sample[]>();
    all.set(series, found);
    return found;
  };
  for (const { namespace, metric, dimensions: own, value, samples: count = 1, at, delay = 0 } of timeline) {
    const minutes = stored(key(namespace, metric, Object.entries(own)));
    const minute = minutes.get(Math.floor(at)) ?? [];
    minutes.set(Math.floor(at), minute);
    minute.push({ value, count, seenAt: at + delay });
  }
  return ({ Namespace, MetricName, Dimensions }) =>
    stored(
      key(
        Namespace,
        MetricName,
        Dimensions.map(({ Name, Value }) => [Name, Value] as const),
      ),
    );
}

/**
 * Returns one value per period. Periods end at the minute of the evaluation: "If the Period is 5 minutes (300 seconds) and Evaluation Periods is 1, then
 * at the end of minute 5 the alarm evaluates based on data from minutes 1 to 5. Then at the end of minute 6, the alarm is evaluated based on the data
 * from minutes 2 to 6." It sees what has arrived: "the values of that aggregated data may change as CloudWatch collects more samples" (page "Amazon
 * CloudWatch concepts", section "Periods").
 */
function aggregate({ Metric, Period, Stat }: MetricStat, seriesOf: SeriesOf): ValuesAt {
  const minutes = seriesOf(Metric);
  const size = Period / 60;
  /** By their start: periods whose samples have all arrived. */
  const complete = new Map<number, readonly [value: number | undefined, samples: number]>();
  const pointFrom = (start: number, at: number) => {
    const known = complete.get(start);
    if (known !== undefined) return known;
    const happened: Sample[] = [];
    for (let minute = start; minute < start + size; minute += 1)
      happened.push(...(minutes.get(minute) ?? []));
    const seen = happened.filter(({ seenAt }) => seenAt <= at);
    const point = [statistic(Stat, seen), sampleCount(seen)] as const;
    if (seen.length === happened.length) complete.set(start, point);
    return point;
  };
  return (at, length) => {
    const values = new Array<number | undefined>(length).fill(undefined);
    const samples = new Array<number>(length).fill(0);
    const fill = (index: number): void => {
      [values[index], samples[index] = 0] = pointFrom(at - (length - index) * size, at);
    };
    // Most series have few samples, and some alarms look at a whole day.
    if (minutes.size < length)
      for (const minute of minutes.keys()) {
        const index = length - 1 - Math.floor((at - 1 - minute) / size);
        if (index >= 0 && index < length) fill(index);
      }
    else for (let index = 0; index < length; index += 1) fill(index);
    return { values, samples };
  };
}

function sampleCount(samples: readonly Sample[]): number {
  return samples.reduce((all, { count }) => all + count, 0);
}

/** Definitions of the page "CloudWatch statistics definitions". */
function statistic(stat: string, samples: readonly Sample[]): number | undefined {
  if (samples.length === 0) return undefined;
  // "Sum is the sum of the values of the all data points collected during the period."
  const sum = samples.reduce((all, { value, count }) => all + value * count, 0);
  const values = samples.map(({ value }) => value);
  switch (stat) {
    case 'Sum':
      return sum;
    // "SampleCount is the number of data points during the period."
    case 'SampleCount':
      return sampleCount(samples);
    // "Average is the value of Sum/SampleCount during the specified period."
    case 'Average':
      return sum / sampleCount(samples);
    case 'Minimum':
      return Math.min(...values);
    case 'Maximum':
      return Math.max(...values);
    default:
      return nearestRank(samples, Number(percentile.exec(stat)?.[1]));
  }
}

/** "p95 is the 95th percentile and means that 95 percent of the data within the period is lower than this value": here the value of the nearest rank. */
function nearestRank(samples: readonly Sample[], percent: number): number | undefined {
  let left = Math.max(1, Math.ceil((sampleCount(samples) * percent) / 100));
  for (const { value, count } of samples.toSorted((a, b) => a.value - b.value)) {
    left -= count;
    if (left <= 0) return value;
  }
  return undefined;
}

const compositeSchema = z
  .strictObject({
    ...common,
    AlarmRule: z.string(),
    ActionsSuppressor: z.string().optional(),
    ActionsSuppressorWaitPeriod: z.int().nonnegative().optional(),
    ActionsSuppressorExtensionPeriod: z.int().nonnegative().optional(),
  })
  // "ExtensionPeriod is required only when ActionsSuppressor is specified." (CloudWatch API reference, CompositeAlarm; the same of WaitPeriod)
  .refine(
    (one) =>
      (one.ActionsSuppressor === undefined) === (one.ActionsSuppressorWaitPeriod === undefined) &&
      (one.ActionsSuppressor === undefined) === (one.ActionsSuppressorExtensionPeriod === undefined),
    'a suppressor needs both of its periods',
  );

interface Composite extends Evaluated {
  /** The alarms whose states it reads. */
  readonly references: readonly string[];
}

/** "You can use either alarm names or ARNs to reference the other alarms". A template refers to the attribute `Arn`. */
function nameOf(reference: string): string {
  return reference.replace(/^arn:[^:]+:cloudwatch:[^:]*:[^:]*:alarm:/, '').replace(/\.Arn$/, '');
}

function compositeAlarm({ name, properties }: AlarmResource): Composite {
  const alarm = read(compositeSchema, properties, name);
  const rule = parseAlarmRule(alarm.AlarmRule);
  const suppressor = alarm.ActionsSuppressor === undefined ? undefined : nameOf(alarm.ActionsSuppressor);
  const wait = (alarm.ActionsSuppressorWaitPeriod ?? 0) / 60;
  const extension = (alarm.ActionsSuppressorExtensionPeriod ?? 0) / 60;
  let isPending = false;
  let wasSuppressed = false;
  /** The end of the WaitPeriod or the ExtensionPeriod that is active. */
  let heldUntil: number | undefined;
  return {
    name,
    topics: topicsOf(alarm),
    references: [...rule.references, ...(suppressor === undefined ? [] : [suppressor])].map(nameOf),
    evaluate: (_, __, stateOf) => (rule.holds((reference) => stateOf(nameOf(reference))) ? 'ALARM' : 'OK'),
    // Quotes: page "Create a composite alarm", section "Composite alarm action suppression".
    acts: (at, changed, stateOf) => {
      if (suppressor === undefined) return changed;
      isPending ||= changed;
      // "The suppressor alarm is already in ALARM. The suppressor alarm stops the composite alarm from taking actions." "Because the suppressor alarm
      // changes states from OK to ALARM at t3, the WaitPeriod that started at t2 is discarded".
      if (stateOf(suppressor) === 'ALARM') {
        wasSuppressed = true;
        return false;
      }
      // "At t6, the suppressor alarm changes to OK. An ExtensionPeriod starts at t6".
      if (wasSuppressed) heldUntil = at + extension;
      wasSuppressed = false;
      // "The composite alarm changes back to OK at t3, so the WaitPeriod that started at t2 is discarded. A new WaitPeriod starts at t3". "When the
      // composite alarm changes back to OK at t7, the ExtensionPeriod is discarded, and a new WaitPeriod starts".
      if (changed) heldUntil = at + wait;
      if (heldUntil === undefined || at < heldUntil) return false;
      // "Composite alarms take actions that are based on their current states when ExtensionPeriod and WaitPeriod become inactive." This takes the
      // actions of a transition only, as for every alarm.
      heldUntil = undefined;
      const acts = isPending;
      isPending = false;
      return acts;
    },
  };
}

/** Sorts composite alarms so that each follows those that it reads. "You can create a cycle of composite alarms […]. [They] stop being evaluated". */
function inOrder(composites: readonly Composite[]): readonly Composite[] {
  const sorted: Composite[] = [];
  let left = composites;
  while (left.length > 0) {
    const names = new Set(left.map(({ name }) => name));
    const ready = left.filter(({ references }) => references.every((one) => !names.has(one)));
    if (ready.length === 0) throw new Error(`a cycle of composite alarms: ${[...names].join(', ')}`);
    sorted.push(...ready);
    left = left.filter((one) => !ready.includes(one));
  }
  return sorted;
}
