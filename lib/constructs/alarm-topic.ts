import { CfnOutput, type Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Severity } from '#shared/observability/watches.ts';
import { alarmTopicOutputs } from '#shared/stage/stack-names.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { acknowledge } from './acknowledge.ts';

const topics = {
  page: {
    id: 'Pages',
    output: alarmTopicOutputs.page,
    meaning: 'The topic of the alarms for the operator on call',
  },
  ticket: {
    id: 'Tickets',
    output: alarmTopicOutputs.ticket,
    meaning: 'The topic of the alarms that wait for a working day',
  },
} as const satisfies Readonly<Record<Severity, unknown>>;

/**
 * Returns the topic of a stack's alarms of a severity: the stage's own, or a given one.
 * @param given the ARN of a topic in the region of the stack
 */
export function alarmTopic(
  stack: Stack,
  { name, config }: Stage,
  severity: Severity,
  given?: string,
): ITopic {
  const email = config.alarmsEmail?.[severity];
  const { id, output, meaning } = topics[severity];
  const topic: ITopic =
    given === undefined
      ? new Topic(stack, id, { displayName: `Mastery reports ${name}: ${severity}`, enforceSSL: true })
      : Topic.fromTopicArn(stack, id, given);
  new CfnOutput(stack, output, { value: topic.topicArn, description: meaning });
  // The policy of our own topic replaces the default one, which would have let CloudWatch publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  );
  if (email !== undefined) {
    topic.addSubscription(new EmailSubscription(email));
    acknowledge(topic, {
      'Serverless-SNSRedrivePolicy':
        'Undeliverable mail has no use later: the alarm itself stays visible in CloudWatch and on the dashboard.',
    });
  }
  return topic;
}
