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

export function stackName(stage: string, id: StackId): string {
  return `mastery-reports-${stage}-${id}`;
}

/** The output of `operations` with the ARN of the alarms' topic. */
export const ALARM_TOPIC_OUTPUT = 'AlarmTopicArn';
