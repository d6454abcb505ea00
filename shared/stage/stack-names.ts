import type { Severity } from '#shared/observability/watches.ts';

/** The stacks of a stage, in the order in which they are deployed. */
export const stackIds = [
  'records-and-keys',
  'mastery',
  'sandbox',
  'reports',
  'operations',
  'documentation',
] as const;
export type StackId = (typeof stackIds)[number];

export function stackName(stage: string, id: StackId): string {
  return `mastery-reports-${stage}-${id}`;
}

/** The outputs of `operations` with the ARNs of the alarms' topics. */
export const alarmTopicOutputs = {
  page: 'PageTopicArn',
  ticket: 'TicketTopicArn',
} as const satisfies Readonly<Record<Severity, string>>;
