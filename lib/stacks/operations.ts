import { Duration, Stack, type App } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmRule,
  AlarmState,
  CompositeAlarm,
  type AlarmBase,
  type IAlarm,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { tables, type TableDefinition } from '#shared/stores/tables.ts';
import { serviceNames } from '#shared/contract/route.ts';
import { severities, type Severity } from '#shared/observability/watches.ts';
import { deploymentOf, isRoute, type DeployedFunction } from '#shared/contract/functions.ts';
import { alarmTopic } from '../constructs/alarm-topic.ts';
import { firewallAlarms } from '../constructs/edge-alarms.ts';
import * as alarms from '../constructs/alarms.ts';
import type { AlarmDefinition } from '../constructs/alarms.ts';
import { logVolumeAlarms, stageAlarms } from '../constructs/stage-alarms.ts';
import { canaryAlarms, canaryComposites } from '../constructs/canary-alarms.ts';
import { budget } from '../constructs/budget.ts';
import { dashboard, savedQueries } from '../constructs/dashboard.ts';
import type { ApiName } from '#shared/stage/stage.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { storeReferences } from './records-and-keys.ts';
import { prefix, stackProps } from '../names.ts';

/**
 * Creates alarms and a dashboard over everything that is deployed. It finds functions, APIs and firewalls by name, tables and queues by weak outputs:
 * it blocks no other stack.
 * @param functions those with open gates of every service, and the sandbox
 */
export function operations(
  app: App,
  stage: Stage,
  functions: readonly DeployedFunction[],
  stores: Stack,
  openGates: readonly string[],
): Stack {
  const stack = new Stack(app, 'Operations', {
    ...stackProps(stage, 'operations'),
    description: 'Mastery reports: alarms and dashboard',
  });
  stack.addStackDependency(stores);

  const { config } = stage;
  const actions = {
    page: new SnsAction(alarmTopic(stack, stage, 'page', config.alarmsTopicArn?.page)),
    ticket: new SnsAction(alarmTopic(stack, stage, 'ticket', config.alarmsTopicArn?.ticket)),
  };
  const references = storeReferences(stores);
  const sections: readonly (readonly [name: string, definitions: readonly AlarmDefinition[]])[] = [
    ...[...Map.groupBy(functions, deploymentOf)].map(
      ([name, own]) =>
        [
          name,
          [
            ...(own.some(isRoute) ? alarms.apiAlarms(stage, name) : []),
            ...own.flatMap((row) => [
              ...alarms.functionAlarms(stage, row),
              ...(isRoute(row) ? [] : alarms.triggerAlarms(stage, row, references)),
            ]),
          ],
        ] as const,
    ),
    ['firewalls', apisOf(functions).flatMap((api) => firewallAlarms(stage, api))],
    ['log codes', alarms.codeAlarms(stage)],
    ['owners', alarms.ownerAlarms(stage)],
    ['watcher', [...stageAlarms(stage), ...logVolumeAlarms(stage)]],
    ['canary', canaryAlarms(stage)],
    [
      'learners',
      serviceNames
        .filter((service) => functions.some((row) => isRoute(row) && row.service === service))
        .flatMap((service) => alarms.learnerAlarms(stage, service))
        .flatMap((composite) => composite.alarms),
    ],
    [
      'tables',
      (tables as readonly TableDefinition[]).flatMap(({ name }) =>
        alarms.tableAlarms(name, references[name].name),
      ),
    ],
  ];
  const notify = (alarm: AlarmBase, severity: Severity): void => {
    alarm.addAlarmAction(actions[severity]);
    // A ticket is closed by the operator who works on it; its end is on the dashboard.
    if (severity === 'page') alarm.addOkAction(actions[severity]);
  };
  const children = new Map<string, IAlarm[]>();
  const raise = (definition: AlarmDefinition): IAlarm => {
    const alarm = new Alarm(stack, definition.id, {
      ...alarms.alarmProps(stage, definition),
      metric: definition.metric,
    });
    const { within, severity } = definition;
    if (within === undefined) notify(alarm, severity);
    else children.set(within, [...(children.get(within) ?? []), alarm]);
    return alarm;
  };
  const raised = sections.map(
    ([name, definitions]) => [name, definitions.map((each) => ({ ...each, alarm: raise(each) }))] as const,
  );
  const combined = new Map<string, CompositeAlarm>();
  for (const definition of [...alarms.composites(stage, functions), ...canaryComposites(stage)]) {
    const { id, all, severity, explainedBy } = definition;
    const rules = (children.get(id) ?? []).map((child) => AlarmRule.fromAlarm(child, AlarmState.ALARM));
    const cause = explainedBy && combined.get(explainedBy);
    const composite = new CompositeAlarm(stack, `All-${id}`, {
      ...compositeProps(alarms.wordsOf(stage, definition)),
      alarmRule: all === true ? AlarmRule.allOf(...rules) : AlarmRule.anyOf(...rules),
      ...(cause && {
        actionsSuppressor: cause,
        // The alarm of the stores goes off within three minutes of the first line: a message waits for it that long.
        actionsSuppressorWaitPeriod: Duration.minutes(3),
        actionsSuppressorExtensionPeriod: Duration.minutes(10),
      }),
    });
    notify(composite, severity);
    combined.set(id, composite);
    if (id === alarms.DEPENDENCIES.of.at(-1))
      combined.set(alarms.DEPENDENCIES.id, explanation(stack, stage, combined));
  }

  const notifying: readonly (readonly [Severity, IAlarm])[] = [
    ...alarms
      .composites(stage, functions)
      .concat(canaryComposites(stage))
      .flatMap(({ id, severity }) => {
        const composite = combined.get(id);
        return composite === undefined ? [] : [[severity, composite] as const];
      }),
    ...raised
      .flatMap(([, own]) => own)
      .flatMap(({ within, severity, alarm }) => (within === undefined ? [[severity, alarm] as const] : [])),
  ];
  dashboard(stack, stage, {
    release: `open gates: ${openGates.join(', ') || 'none'}`,
    notifying: new Map(
      severities.map((severity) => [
        severity === 'page' ? 'Pages' : 'Tickets',
        notifying.filter(([own]) => own === severity).map(([, alarm]) => alarm),
      ]),
    ),
    others: new Map(
      raised.map(([name, own]) => [
        name,
        own.filter(({ within }) => within !== undefined).map(({ alarm }) => alarm),
      ]),
    ),
    queueAge: alarms.queueAge(references.runs.name),
  });
  savedQueries(stack, stage);
  budget(stack, stage);
  return stack;
}

/** Creates the alarm that keeps others back while one of its own is on. */
function explanation(
  stack: Stack,
  stage: Stage,
  combined: ReadonlyMap<string, CompositeAlarm>,
): CompositeAlarm {
  const { id, of } = alarms.DEPENDENCIES;
  return new CompositeAlarm(stack, `All-${id}`, {
    compositeAlarmName: `${prefix(stage)}-${id}`,
    alarmDescription:
      'A store or an owner is out. It sends no message: the alarms that follow from it wait for it.',
    alarmRule: AlarmRule.anyOf(
      ...of
        .flatMap((name) => combined.get(name) ?? [])
        .map((one) => AlarmRule.fromAlarm(one, AlarmState.ALARM)),
    ),
  });
}

/** A composite alarm names its text otherwise than an alarm on a metric. */
function compositeProps({ alarmName, alarmDescription }: ReturnType<typeof alarms.wordsOf>) {
  return { compositeAlarmName: alarmName, alarmDescription };
}

/** Returns the APIs that serve these functions, each with its firewall. */
function apisOf(functions: readonly DeployedFunction[]): readonly ApiName[] {
  const apis = functions.flatMap((row): readonly ApiName[] => {
    if (isRoute(row)) return [row.service];
    return row.trigger === 'link' ? ['receipts'] : row.trigger === 'sandbox' ? ['sandbox'] : [];
  });
  return [...new Set(apis)];
}
