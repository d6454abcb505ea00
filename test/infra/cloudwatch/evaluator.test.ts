import { describe, expect, it } from 'vitest';
import { judge, replay, type AlarmResource, type Criteria, type DataPoint } from './evaluator.ts';

const before = ['OK', 'ALARM', 'INSUFFICIENT_DATA'] as const;
const treatments = ['missing', 'ignore', 'breaching', 'notBreaching'] as const;

/** "0" is a non-breaching data point, "X" a breaching one, "-" a missing one; the most recent is on the right. */
function pointsOf(text: string): readonly (boolean | undefined)[] {
  return text.split(' ').map((point) => (point === '-' ? undefined : point === 'X'));
}

/** Points, and the state for each treatment of missing ones. "Retain" means "Retain current state". */
type Row = readonly [
  points: string,
  missing: string,
  ignore: string,
  breaching: string,
  notBreaching: string,
];

/*
 * The two tables of "Using Amazon CloudWatch alarms", section "How alarm state is evaluated when data is missing", cell by cell. The last rows of each are
 * of a former edition of the page, whose other rows are the same.
 */
const threeOfThree: readonly Row[] = [
  ['0 - X - X', 'OK', 'OK', 'OK', 'OK'],
  ['0 - - - -', 'OK', 'OK', 'OK', 'OK'],
  ['- - - - -', 'INSUFFICIENT_DATA', 'Retain', 'ALARM', 'OK'],
  ['0 X X - X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
  ['- - X - -', 'ALARM', 'Retain', 'ALARM', 'OK'],
  // The former edition:
  ['- - - - X', 'INSUFFICIENT_DATA', 'Retain', 'ALARM', 'OK'],
  ['X - - - -', 'ALARM', 'Retain', 'ALARM', 'OK'],
];
const twoOfThree: readonly Row[] = [
  ['0 - X - X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
  ['0 0 X 0 X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
  ['0 - X - -', 'OK', 'OK', 'ALARM', 'OK'],
  ['- - - - 0', 'OK', 'OK', 'ALARM', 'OK'],
  ['- - - X -', 'ALARM', 'Retain', 'ALARM', 'OK'],
  // The former edition:
  ['- - - - X', 'INSUFFICIENT_DATA', 'Retain', 'ALARM', 'OK'],
];

describe.each([
  [3, threeOfThree],
  [2, twoOfThree],
] as const)('AWS’s table for %i of 3', (breaching, rows) => {
  it.each(rows)('%s: missing %s, ignore %s, breaching %s, notBreaching %s', (points, ...states) => {
    for (const current of before)
      expect(
        treatments.map((missing) => judge(pointsOf(points), { breaching, of: 3, missing }, current)),
      ).toStrictEqual(states.map((state) => (state === 'Retain' ? current : state)));
  });
});

describe('AWS’s examples of premature transitions', () => {
  const criteria: Criteria = { breaching: 3, of: 3, missing: 'missing' };
  it.each([
    ['- - - - X', 'INSUFFICIENT_DATA'],
    ['- - - X -', 'INSUFFICIENT_DATA'],
    ['- - - X 0', 'OK'],
    ['- - X - 0', 'OK'],
    ['- - X - -', 'ALARM'],
  ])('%s is %s', (points, state) => {
    expect(judge(pointsOf(points), criteria, 'OK')).toBe(state);
  });
});

const metric = { Namespace: 'n', MetricName: 'm', Dimensions: [{ Name: 'd', Value: '1' }] };
const watched = { namespace: 'n', metric: 'm', dimensions: { d: '1' } };
const quiet = { ComparisonOperator: 'GreaterThanThreshold', Threshold: 0, TreatMissingData: 'notBreaching' };
const one = { ...metric, Statistic: 'Sum', Period: 60, EvaluationPeriods: 1, ...quiet };

function alarm(properties: unknown, name = 'a'): AlarmResource {
  return { name, type: 'AWS::CloudWatch::Alarm', properties };
}

function composite(properties: unknown, name = 'c'): AlarmResource {
  return { name, type: 'AWS::CloudWatch::CompositeAlarm', properties };
}

/** The minutes at which alarms change, as "minute name state". */
function changes(resources: readonly AlarmResource[], timeline: readonly DataPoint[], minutes = 20) {
  return replay(resources, timeline, { minutes }).changes.map(
    ({ at, alarm: name, state }) => `${String(at)} ${name} ${state}`,
  );
}

const at = (minute: number, more: Partial<DataPoint> = {}): DataPoint => ({
  ...watched,
  value: 1,
  at: minute,
  ...more,
});

describe('a metric alarm', () => {
  it('is evaluated every minute over periods that end at that minute', () => {
    const fiveMinutes = alarm({ ...one, Period: 300, EvaluationPeriods: 1, Threshold: 1 });
    // Two values are in one period of five minutes from minute 8 to minute 9, although a grid of five minutes would separate them.
    expect(changes([fiveMinutes], [at(4.5), at(7.5)], 9)).toStrictEqual(['1 a OK', '8 a ALARM']);
    // Without further data the same two are found again in older periods.
    expect(changes([fiveMinutes], [at(4.5), at(7.5)], 14)).toStrictEqual([
      ...['1 a OK', '8 a ALARM', '10 a OK', '13 a ALARM'],
    ]);
  });

  it('looks at more points than its evaluation periods while some are missing', () => {
    expect(changes([alarm(one)], [at(2.5)])).toStrictEqual(['1 a OK', '3 a ALARM', '6 a OK']);
    expect(changes([alarm(one)], [at(2.5), at(3.5, { value: 0 })])).toStrictEqual([
      '1 a OK',
      '3 a ALARM',
      '4 a OK',
    ]);
  });

  it('sees a value when it has arrived, in the period in which it happened', () => {
    expect(changes([alarm(one)], [at(2.5, { delay: 1.75 })])).toStrictEqual([
      '1 a OK',
      '5 a ALARM',
      '6 a OK',
    ]);
    // Later it is out of the range.
    expect(changes([alarm(one)], [at(2.5, { delay: 3 })])).toStrictEqual(['1 a OK']);
    expect(
      changes([alarm({ ...one, EvaluationPeriods: 5, DatapointsToAlarm: 1 })], [at(2.5, { delay: 3 })]),
    ).toStrictEqual(['1 a OK', '6 a ALARM', '10 a OK']);
  });

  it('counts M of N points', () => {
    const three = { ...one, EvaluationPeriods: 3, DatapointsToAlarm: 2 };
    expect(changes([alarm(three)], [at(2.5), at(4.5)])).toStrictEqual(['1 a OK', '5 a ALARM', '8 a OK']);
    expect(changes([alarm({ ...three, DatapointsToAlarm: undefined })], [at(2.5), at(4.5)])).toStrictEqual([
      '1 a OK',
    ]);
  });

  it('watches one combination of dimensions', () => {
    const other = [
      at(2, { dimensions: {} }),
      at(2, { dimensions: { d: '1', e: '1' } }),
      at(2, { metric: 'o' }),
    ];
    expect(changes([alarm(one)], other)).toStrictEqual(['1 a OK']);
  });

  it('keeps its state while a metric of DynamoDB has no data, unless it has another setting', () => {
    const table = { ...one, Namespace: 'AWS/DynamoDB', TreatMissingData: undefined };
    const throttle = at(2.5, { namespace: 'AWS/DynamoDB' });
    expect(changes([alarm(table)], [throttle])).toStrictEqual(['3 a ALARM']);
    expect(changes([alarm({ ...table, TreatMissingData: 'notBreaching' })], [throttle])).toContain('6 a OK');
    expect(changes([alarm({ ...one, TreatMissingData: undefined })], [at(2.5)])).toStrictEqual([
      '3 a ALARM',
      '6 a INSUFFICIENT_DATA',
    ]);
  });

  it.each([
    ['GreaterThanThreshold', [3]],
    ['GreaterThanOrEqualToThreshold', [2, 3]],
    ['LessThanThreshold', [1]],
    ['LessThanOrEqualToThreshold', [1, 2]],
  ])('compares: %s of 2 is true for %j', (ComparisonOperator, breaching) => {
    const ringing = [1, 2, 3].filter((value) =>
      changes([alarm({ ...one, ComparisonOperator, Threshold: 2 })], [at(0, { value })], 1).includes(
        '1 a ALARM',
      ),
    );
    expect(ringing).toStrictEqual(breaching);
  });

  it.each([
    ['Sum', 20],
    ['Average', 2],
    ['Minimum', 1],
    ['Maximum', 4],
    ['SampleCount', 10],
    ['p50', 1],
    ['p60', 1],
    ['p60.1', 3],
    ['p90', 4],
    ['p100', 4],
    ['p0', 1],
  ])('%s of six 1, two 3 and two 4 is %f', (statistic, expected) => {
    const values = [
      at(0, { samples: 6 }),
      at(0.1, { value: 4, samples: 2 }),
      at(0.2, { value: 3, samples: 2 }),
    ];
    const stat = statistic.startsWith('p') ? { ExtendedStatistic: statistic } : { Statistic: statistic };
    const ringsAbove = (Threshold: number) =>
      changes([alarm({ ...one, Statistic: undefined, ...stat, Threshold })], values, 1);
    expect([ringsAbove(expected - 0.01), ringsAbove(expected)]).toStrictEqual([['1 a ALARM'], ['1 a OK']]);
  });

  it('waits for enough samples of a percentile, if it is told to', () => {
    const slow = { ...one, Statistic: undefined, ExtendedStatistic: 'p90' };
    const patient = { ...slow, EvaluateLowSampleCountPercentile: 'ignore' };
    expect(changes([alarm(slow)], [at(2, { samples: 99 })])).toContain('3 a ALARM');
    expect(changes([alarm(patient)], [at(1), at(2, { samples: 99 })])).toStrictEqual([]);
    expect(changes([alarm(patient)], [at(2, { samples: 100 })])).toStrictEqual(['3 a ALARM']);
  });

  it('notifies the topics of a state when it enters it, and none while its actions are off', () => {
    const actions = {
      AlarmActions: ['page'],
      OKActions: ['log', 'page'],
      InsufficientDataActions: ['other'],
    };
    const notified = (more: object) =>
      replay([alarm({ ...one, ...actions, ...more })], [at(2), at(3)], { minutes: 20 }).notifications.map(
        ({ at: minute, state, topic }) => `${String(minute)} ${state} ${topic}`,
      );
    expect(notified({})).toStrictEqual(['1 OK log', '1 OK page', '3 ALARM page', '7 OK log', '7 OK page']);
    expect(notified({ ActionsEnabled: false })).toStrictEqual([]);
  });
});

/** The former form of the alarm of a canary step: failed invocations and error lines of a version. */
const canary = (metrics: object) =>
  alarm({ ...metrics, ...quiet, EvaluationPeriods: 1, AlarmActions: ['page'] }, 'canary');
const failedMetric = { Namespace: 'AWS/Lambda', MetricName: 'Errors', Dimensions: [] };
const canaryQuery = (Id: string, Metric: object) => ({
  ...{ Id, ReturnData: false },
  MetricStat: { Metric, Period: 60, Stat: 'Sum' },
});
const formerCanary = canary({
  Metrics: [
    { Id: 'expr_1', Expression: 'FILL(failed, 0) + FILL(lines, 0)', Label: 'failures' },
    canaryQuery('failed', failedMetric),
    canaryQuery('lines', { Namespace: 'mastery-reports', MetricName: 'ErrorLines', Dimensions: [] }),
  ],
});

describe('the alarm of a canary step', () => {
  /** Every call of ten minutes fails. */
  const failures = (delay: number): readonly DataPoint[] =>
    Array.from({ length: 40 }, (_, index) => ({
      ...{ namespace: 'AWS/Lambda', metric: 'Errors', dimensions: {} },
      ...{ value: 1, at: 5.2 + index / 4, delay },
    }));
  const rings = (resource: AlarmResource, delay: number) =>
    [1, 2, 5].map((extraPoints) =>
      replay([resource], failures(delay), { minutes: 30, extraPoints }).notifications.some(
        ({ state }) => state === 'ALARM',
      ),
    );
  const [always, never] = [Array(3).fill(true), Array(3).fill(false)];

  it('rang in its former form while metrics arrived at once, and never if they are 1 to 3 minutes late', () => {
    expect(rings(formerCanary, 0)).toStrictEqual(always);
    for (const delay of [1, 2, 3]) expect(rings(formerCanary, delay), String(delay)).toStrictEqual(never);
  });

  it('rings as 1 of 5 points of the metric itself', () => {
    const { Namespace, MetricName } = failedMetric;
    const plain = alarm({
      ...{ Namespace, MetricName, Statistic: 'Sum', Period: 60 },
      ...{ ...quiet, EvaluationPeriods: 5, DatapointsToAlarm: 1, AlarmActions: ['page'] },
    });
    for (const delay of [0, 1, 2, 3]) expect(rings(plain, delay), String(delay)).toStrictEqual(always);
  });
});

describe('a composite alarm', () => {
  /** Alarms that are on in these minutes, by name. */
  const children = (on: Readonly<Record<string, readonly number[]>>) => ({
    resources: Object.keys(on).map((MetricName) => alarm({ ...one, MetricName, Dimensions: [] }, MetricName)),
    timeline: Object.entries(on).flatMap(([metricName, minutes]) =>
      Array.from({ length: 20 }, (_, minute) => ({
        ...{ namespace: 'n', metric: metricName, dimensions: {} },
        ...{ value: minutes.includes(minute + 1) ? 1 : 0, at: minute },
      })),
    ),
  });

  it.each([
    ['ALARM(x)', [3, 4]],
    ['ALARM("x")', [3, 4]],
    ['ALARM("arn:aws:cloudwatch:eu-central-1:111122223333:alarm:x")', [3, 4]],
    ['ALARM("x.Arn")', [3, 4]],
    ['ALARM(x) AND ALARM(y)', [4]],
    ['ALARM(x) OR ALARM(y)', [3, 4, 5]],
    ['ALARM(x) AND NOT ALARM(y)', [3]],
    ['NOT (OK(x) AND OK(y))', [3, 4, 5]],
    ['ALARM(x) OR ALARM(y) AND FALSE', [3, 4]],
    ['INSUFFICIENT_DATA(x)', []],
    ['TRUE', [1, 2, 3, 4, 5, 6]],
  ])('%s is on in %j', (AlarmRule, minutes) => {
    const { resources, timeline } = children({ x: [3, 4], y: [4, 5] });
    const replayed = replay([composite({ AlarmRule }), ...resources], timeline, { minutes: 6 }).changes;
    const on = [1, 2, 3, 4, 5, 6].filter(
      (minute) =>
        replayed.findLast(({ at: since, alarm: name }) => name === 'c' && since <= minute)?.state === 'ALARM',
    );
    expect(on).toStrictEqual(minutes);
  });

  it('reads composite alarms, in any order', () => {
    const { resources, timeline } = children({ x: [3] });
    const outer = composite({ AlarmRule: 'ALARM(inner)', AlarmActions: ['page'] }, 'outer');
    const inner = composite({ AlarmRule: 'ALARM(x)' }, 'inner');
    expect(replay([outer, inner, ...resources], timeline, { minutes: 9 }).notifications).toStrictEqual([
      { at: 3, alarm: 'outer', state: 'ALARM', topic: 'page' },
    ]);
  });

  /* "In the following examples, WaitPeriod is configured as 2 time units, and ExtensionPeriod is configured as 3 time units." A unit is a minute. */
  it.each([
    ['1: actions are not suppressed after WaitPeriod', { x: [2, 3, 4, 5, 6, 7, 8, 9], s: [] }, ['4 ALARM']],
    [
      '2: suppressed by alarm before WaitPeriod expires',
      { x: [2, 3, 4, 5, 6, 7, 8, 9], s: [3, 4, 5, 6, 7, 8, 9] },
      [],
    ],
    ['3: state transition when suppressed by WaitPeriod', { x: [2], s: [] }, ['5 OK']],
    ['4: state transition when suppressed by alarm', { x: [2, 3, 4], s: [1, 2, 3, 4, 5, 6, 7, 8, 9] }, []],
    [
      '5: actions are not suppressed after ExtensionPeriod',
      { x: [2, 3, 4, 5, 6, 7, 8, 9], s: [3, 4, 5] },
      ['9 ALARM'],
    ],
    [
      '6: state transition when suppressed by ExtensionPeriod',
      { x: [2, 3, 4, 5, 6], s: [3, 4, 5] },
      ['9 OK'],
    ],
  ] as const)('keeps AWS’s example %s', (_, on, expected) => {
    const { resources, timeline } = children(on);
    const suppressed = composite({
      ...{ AlarmRule: 'ALARM(x)', AlarmActions: ['t'], OKActions: ['t'] },
      ...{ ActionsSuppressor: 's', ActionsSuppressorWaitPeriod: 120, ActionsSuppressorExtensionPeriod: 180 },
    });
    const { notifications } = replay([suppressed, ...resources], timeline, { minutes: 9 });
    expect(
      notifications.flatMap(({ at: minute, alarm: name, state }) =>
        name === 'c' ? [`${String(minute)} ${state}`] : [],
      ),
    ).toStrictEqual(expected);
  });
});

describe('what the evaluator does not know', () => {
  const math = (Metrics: readonly object[], more = {}) =>
    alarm({ Metrics, ...quiet, EvaluationPeriods: 1, ...more });
  const m1 = canaryQuery('m1', failedMetric);
  it.each([
    ['a property', alarm({ ...one, ThresholdMetricId: 'm' }), 'ThresholdMetricId'],
    ['an unresolved reference', alarm({ ...one, Namespace: { Ref: 'x' } }), 'Namespace'],
    ['a unit', alarm({ ...one, Unit: 'Count' }), 'Unit'],
    ['a statistic', alarm({ ...one, Statistic: undefined, ExtendedStatistic: 'tm99' }), 'ExtendedStatistic'],
    ['no statistic', alarm({ ...one, Statistic: undefined }), 'Stat'],
    ['two statistics', alarm({ ...one, ExtendedStatistic: 'p99' }), 'two statistics'],
    ['a comparison with a band', alarm({ ...one, ComparisonOperator: 'LessThanLowerThreshold' }), 'Operator'],
    ['a period of ten seconds', alarm({ ...one, Period: 10 }), 'Period'],
    ['more than a day', alarm({ ...one, Period: 3600, EvaluationPeriods: 25 }), 'exceed one day'],
    ['M above N', alarm({ ...one, DatapointsToAlarm: 2 }), 'above EvaluationPeriods'],
    ['an action that is no topic', alarm({ ...one, AlarmActions: ['arn:aws:lambda:x'] }), 'AlarmActions'],
    ['low samples of a sum', alarm({ ...one, EvaluateLowSampleCountPercentile: 'ignore' }), 'low samples'],
    ['another account', math([{ ...m1, ReturnData: true, AccountId: '1' }]), 'AccountId'],
    [
      'two results',
      math([
        { ...m1, ReturnData: true },
        { Id: 'e', Expression: 'm1' },
      ]),
      'one entry must',
    ],
    ['an empty entry', math([m1, { Id: 'e' }]), 'one entry must'],
    [
      'two periods',
      math([
        { ...m1, MetricStat: { ...m1.MetricStat, Period: 300 } },
        { ...m1, Id: 'm2' },
        { Id: 'e', Expression: 'm1+m2' },
      ]),
      'one period',
    ],
    [
      'eleven metrics',
      math([
        { Id: 'e', Expression: 'SUM(METRICS())' },
        ...Array.from({ length: 11 }, (_, index) => ({ ...m1, Id: `m${String(index)}` })),
      ]),
      'up to ten',
    ],
    ['a metric next to Metrics', math([{ ...m1, ReturnData: true }], { Period: 60 }), 'next to Metrics'],
    ['another resource', { name: 'x', type: 'AWS::SNS::Topic', properties: {} }, 'composite alarms only'],
    ['a rule’s function', composite({ AlarmRule: 'AT_LEAST(1, ALARM, (a))' }), 'AT_LEAST'],
    ['a rule that ends early', composite({ AlarmRule: 'ALARM(a) OR' }), 'ends too early'],
    ['a rule without an operator', composite({ AlarmRule: 'TRUE FALSE' }), 'expected AND'],
    ['an alarm that does not exist', composite({ AlarmRule: 'ALARM(other)' }), 'no alarm other'],
    ['a cycle', composite({ AlarmRule: 'ALARM(c)' }), 'a cycle'],
    ['a suppressor without periods', composite({ AlarmRule: 'TRUE', ActionsSuppressor: 'c' }), 'both of its'],
  ])('is rejected: %s', (_, resource, message) => {
    expect(() => replay([resource], [], { minutes: 1 })).toThrow(message);
  });
});
