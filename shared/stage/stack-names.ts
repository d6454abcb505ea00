import type { Severity } from '#shared/observability/watches.ts';
import type { ApiName } from './stage.ts';

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

/** Returns the name of an API, and of its firewall. */
export function apiName(stage: string, api: ApiName): string {
  return `mastery-reports-${stage}-${api}`;
}

/** The outputs of `operations` with the ARNs of the alarms' topics. */
export const alarmTopicOutputs = {
  page: 'PageTopicArn',
  ticket: 'TicketTopicArn',
} as const satisfies Readonly<Record<Severity, string>>;
