import { describe, expect, it } from 'vitest';
import { replay, type AlarmResource, type DataPoint } from './cloudwatch/evaluator.ts';
import { deployed, resourcesOf } from './deployed.ts';

/** The parts of an alarm that this test reads or replaces. */
interface Properties {
  readonly Metrics: readonly {
    readonly MetricStat?: {
      readonly Metric: {
        readonly Namespace: string;
        readonly MetricName: string;
        readonly Dimensions: readonly { readonly Name: string; readonly Value: string }[];
      };
    };
  }[];
}

// The alarms of new versions are all made alike.
const [first] = resourcesOf(deployed(), 'AWS::CloudWatch::Alarm', 'mastery');
// SAFETY: from the template.
const properties = first?.properties as unknown as Properties;
const type = 'AWS::CloudWatch::Alarm';
const now: AlarmResource = { name: 'alarm', type, properties };
/** As it was before: one period, in which what has not come yet is filled with zeros. */
const former: AlarmResource = {
  ...now,
  properties: {
    ...properties,
    EvaluationPeriods: 1,
    DatapointsToAlarm: 1,
    Metrics: [
      { ...properties.Metrics[0], Expression: 'FILL(failed, 0) + FILL(lines, 0)' },
      ...properties.Metrics.slice(1),
    ],
  },
};

/** When the fault happens, within its minute. */
const FAULT_AT = 5.5;
const MINUTES = 25;

/** A minute's values of one of the two metrics: a fault at one time, and else zeros, if the metric has them. */
function figures(name: 'Errors' | 'ReleaseFaults', fault: boolean, delay: number): readonly DataPoint[] {
  const metric = properties.Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []).find(
    ({ MetricName }) => MetricName === name,
  );
  if (metric === undefined) throw new Error(`the alarm does not watch ${name}`);
  const point = (at: number, value: number): DataPoint => ({
    namespace: metric.Namespace,
    metric: name,
    dimensions: Object.fromEntries(metric.Dimensions.map(({ Name, Value }) => [Name, Value])),
    ...{ value, at, delay },
  });
  // Lambda counts no error of each call; a log line is counted only if it is written.
  const quiet =
    name === 'Errors' ? Array.from({ length: MINUTES }, (_, minute) => point(minute + 0.5, 0)) : [];
  return [...quiet, ...(fault ? [point(FAULT_AT, 1)] : [])];
}

const rings = (alarm: AlarmResource, points: readonly DataPoint[]): readonly number[] =>
  replay([alarm], points, { minutes: MINUTES })
    .changes.filter(({ state }) => state === 'ALARM')
    .map(({ at }) => at);

describe.each([0, 1, 2, 3])('the alarm of a new version, with figures that are %i minutes late', (late) => {
  const cases = [0, 1, 2, 3].flatMap(
    (other) =>
      [
        [
          'a failed invocation',
          [...figures('Errors', true, late), ...figures('ReleaseFaults', false, other)],
        ],
        [
          'a line that blames the release',
          [...figures('Errors', false, other), ...figures('ReleaseFaults', true, late)],
        ],
      ] as const,
  );

  it('goes off once for a single fault, within five minutes', () => {
    for (const [what, points] of cases) {
      const at = rings(now, points);
      expect(at, what).toHaveLength(1);
      expect(at[0], what).toBeLessThanOrEqual(FAULT_AT + 5);
    }
  });

  it(`did ${late === 0 ? '' : 'not '}go off in its former form`, () => {
    for (const [what, points] of cases) expect(rings(former, points).length > 0, what).toBe(late === 0);
  });
});
