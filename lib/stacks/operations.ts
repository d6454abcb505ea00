import { CfnOutput, Stack, type App } from 'aws-cdk-lib';
import { Alarm, AlarmStatusWidget, Dashboard, GraphWidget, type IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { tables, type TableDefinition } from '#shared/stores/tables.ts';
import { deploymentOf, isRoute, type DeployedFunction } from '#shared/contract/functions.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import * as alarms from '../constructs/alarms.ts';
import type { AlarmDefinition } from '../constructs/alarms.ts';
import { ALARM_TOPIC_OUTPUT } from '#shared/stage/stack-names.ts';
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
): Stack {
  const stack = new Stack(app, 'Operations', {
    ...stackProps(stage, 'operations'),
    description: 'Mastery reports: alarms and dashboard',
  });
  stack.addStackDependency(stores);

  const topic = alarmTopic(stack, stage);
  new CfnOutput(stack, ALARM_TOPIC_OUTPUT, { value: topic.topicArn, description: 'The topic of the alarms' });
  const action = new SnsAction(topic);
  const raise = (definition: AlarmDefinition): IAlarm => {
    const alarm = new Alarm(stack, definition.id, {
      ...alarms.alarmProps(stage, definition),
      metric: definition.metric,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  };

  const dashboard = new Dashboard(stack, 'Dashboard', { dashboardName: prefix(stage) });
  const show = (name: string, height: number, definitions: readonly AlarmDefinition[]): AlarmStatusWidget =>
    new AlarmStatusWidget({ title: `${name}: alarms`, width: 24, height, alarms: definitions.map(raise) });
  const references = storeReferences(stores);
  for (const [name, own] of Map.groupBy(functions, deploymentOf)) {
    const definitions = [
      ...(own.some(isRoute) ? alarms.apiAlarms(stage, name) : []),
      ...own.flatMap((row) => [
        ...alarms.functionAlarms(stage, row),
        ...(isRoute(row) ? [] : alarms.triggerAlarms(stage, row, references)),
      ]),
    ];
    dashboard.addWidgets(show(name, 4, definitions));
    dashboard.addWidgets(...graphs(name, definitions));
  }
  const logged = alarms.codeAlarms(stage);
  dashboard.addWidgets(show('log codes', 2, logged), ...graphs('log codes', logged));
  const ofTables = (tables as readonly TableDefinition[]).flatMap(({ name }) =>
    alarms.tableAlarms(name, references[name].name),
  );
  dashboard.addWidgets(show('tables', 3, ofTables));
  return stack;
}

/** Returns the topic of the alarms: the stage's own, or the one that its settings name. */
function alarmTopic(stack: Stack, { name, config }: Stage): ITopic {
  const { alarmsEmail, alarmsTopicArn } = config;
  const topic: ITopic =
    alarmsTopicArn === undefined
      ? new Topic(stack, 'Alarms', { displayName: `Mastery reports ${name}`, enforceSSL: true })
      : Topic.fromTopicArn(stack, 'Alarms', alarmsTopicArn);
  // The policy of our own topic replaces the default one, which would have let CloudWatch publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  );
  if (alarmsEmail !== undefined) {
    topic.addSubscription(new EmailSubscription(alarmsEmail));
    acknowledge(topic, {
      'Serverless-SNSRedrivePolicy':
        'Undeliverable mail has no use later: the alarm itself stays visible in CloudWatch and on the dashboard.',
    });
  }
  return topic;
}

/** Returns a graph per kind of alarm: the watched figures of all functions together. */
function graphs(name: string, definitions: readonly AlarmDefinition[]): readonly GraphWidget[] {
  return [...Map.groupBy(definitions, ({ section }) => section)].map(
    ([section, own]) =>
      new GraphWidget({
        title: `${name}: ${section.replaceAll('-', ' ')}`,
        width: 8,
        left: own.map(({ metric }) => metric),
      }),
  );
}
