/** The stacks of a stage, in the order in which they are deployed. */
export const stackIds = [
  'records-and-keys',
  'mastery',
  'reports',
  'sandbox',
  'operations',
  'documentation',
] as const;
export type StackId = (typeof stackIds)[number];

/** What CloudFormation calls a stack of a stage. */
export function stackName(stage: string, id: StackId): string {
  return `mastery-reports-${stage}-${id}`;
}

/** The output of `operations` that holds the ARN of the alarms' topic. */
export const ALARM_TOPIC_OUTPUT = 'AlarmTopicArn';
