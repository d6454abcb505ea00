import { SITE_REGION } from './stage.ts';

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

/** Returns the region of a stack, in a stage of that region. */
export function stackRegion(id: StackId, region: string): string {
  return id === 'documentation' ? SITE_REGION : region;
}

/** The output of `operations` with the ARN of the alarms' topic. */
export const ALARM_TOPIC_OUTPUT = 'AlarmTopicArn';

/** The output of `documentation` with the `{sandbox_url}`. */
export const SANDBOX_URL_OUTPUT = 'SandboxUrl';

/** The output of `sandbox` with the host of its API, which refuses what does not come through the site's distribution. */
export const SANDBOX_HOST_OUTPUT = 'Host';
