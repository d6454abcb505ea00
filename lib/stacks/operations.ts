import { Stack, type App } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  TreatMissingData,
  type IAlarm,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { tables, type TableDefinition } from '#shared/aws/tables.ts';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import {
  alarmProps,
  functionAlarms,
  serviceAlarms,
  tableAlarms,
  type AlarmDefinition,
} from '../constructs/alarms.ts';
import type { Stage } from '../stage-config/stages.ts';
import { storeReferences } from './records-and-keys.ts';
import { prefix, stackProps } from './stack-props.ts';

/**
 * Alarms and a dashboard over everything that is deployed. Functions, APIs and firewalls are found by their names, tables by weak outputs:
 * nothing here holds another stack back.
 * @param routes the routes with open gates of every service
 */
export function operations(app: App, stage: Stage, routes: readonly Route[], stores: Stack): Stack {
  const stack = new Stack(app, 'Operations', {
    ...stackProps(stage, 'operations'),
    description: 'Mastery reports: alarms and dashboard',
  });
  stack.addStackDependency(stores);

  const topic = new Topic(stack, 'Alarms', {
    displayName: `Mastery reports ${stage.name}`,
    enforceSSL: true,
  });
  // The topic's policy takes the place of the default one, which would have let CloudWatch publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  );
  if (stage.config.alarmsEmail !== undefined) {
    topic.addSubscription(new EmailSubscription(stage.config.alarmsEmail));
    acknowledge(topic, {
      'Serverless-SNSRedrivePolicy':
        'Undeliverable mail has no use later: the alarm itself stays visible in CloudWatch and on the dashboard.',
    });
  }
  const action = new SnsAction(topic);
  const raise = (definition: AlarmDefinition): IAlarm => {
    const alarm = new Alarm(stack, definition.id, {
      ...alarmProps(stage, definition),
      metric: definition.metric,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  };

  const services = [...new Set(routes.map((route) => route.service))];
  const references = storeReferences(stores);
  const dashboard = new Dashboard(stack, 'Dashboard', { dashboardName: prefix(stage) });
  for (const service of services) {
    const ofService = routes.filter((route) => route.service === service);
    const definitions = [
      ...serviceAlarms(stage, service, stack.region),
      ...ofService.flatMap((route) => functionAlarms(stage, route)),
    ];
    dashboard.addWidgets(
      new AlarmStatusWidget({
        title: `${service}: alarms`,
        width: 24,
        height: 4,
        alarms: definitions.map(raise),
      }),
    );
    dashboard.addWidgets(...graphs(service, definitions));
  }
  const tableDefinitions = (tables as readonly TableDefinition[]).flatMap(({ name }) =>
    tableAlarms(name, references[name].name),
  );
  dashboard.addWidgets(
    new AlarmStatusWidget({
      title: 'tables: alarms',
      width: 24,
      height: 3,
      alarms: tableDefinitions.map(raise),
    }),
  );
  return stack;
}

/** A graph for each kind of alarm: the watched figures of all functions side by side. */
function graphs(service: ServiceName, definitions: readonly AlarmDefinition[]): readonly GraphWidget[] {
  const sections = [...new Set(definitions.map(({ section }) => section))];
  return sections.map(
    (section) =>
      new GraphWidget({
        title: `${service}: ${section.replaceAll('-', ' ')}`,
        width: 8,
        left: definitions.filter((definition) => definition.section === section).map(({ metric }) => metric),
      }),
  );
}
