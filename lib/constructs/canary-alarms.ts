import { Duration } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { runCanary } from '#shared/contract/background.ts';
import { canaryFigures, METRIC_NAMESPACE } from '#shared/observability/log-codes.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { metricOf, type AlarmDefinition, type CompositeDefinition } from './alarms.ts';

const runFails: CompositeDefinition = {
  id: 'canary-run',
  severity: 'page',
  title: 'No test can be started and inspected from outside',
  impact: 'Learners of every tenant probably cannot start or continue a test, even if none is online yet.',
  section: 'canary-run',
  explainedBy: 'stores',
};

type Step = Pick<AlarmDefinition, 'id' | 'severity' | 'title' | 'impact' | 'section' | 'within'> & {
  readonly step: string;
};

/** Returns the composite alarms of the canary: an outage of the stores, which stops its runs too, is one message. */
export function canaryComposites({ config }: Stage): readonly CompositeDefinition[] {
  return config.canary?.run === undefined ? [] : [runFails];
}

/** Returns the alarms on the canary's steps. One or two calls that fail notify no operator: a deployment may be under way. */
export function canaryAlarms({ name, config }: Stage): readonly AlarmDefinition[] {
  const steps: readonly Step[] = [
    {
      step: 'sandbox',
      id: 'canary-sandbox',
      severity: 'ticket',
      title: 'The sandbox does not serve its report',
      impact: 'Client developers cannot test against the sandbox. No learner is hurt.',
      section: 'canary-sandbox',
    },
    ...(config.canary?.run === undefined
      ? []
      : ([
          {
            step: 'credential',
            id: 'canary-credential',
            severity: 'ticket',
            title: 'The token of the canary cannot be used, or soon expires',
            impact:
              'No learner is hurt. Without a token an outage at night is noticed only by the first learner.',
            section: 'canary-credential',
          },
          { ...runFails, step: 'run', id: 'canary-run-steps', within: runFails.id },
        ] as const)),
  ];
  return steps.map(({ step, ...words }) => ({
    ...words,
    metric: metricOf(
      METRIC_NAMESPACE,
      canaryFigures.success.name,
      { stage: name, step },
      Stats.MINIMUM,
      Duration.minutes(runCanary.everyMinutes),
    ),
    threshold: 1,
    below: true,
    periods: { breaching: 3, of: 4 },
  }));
}
