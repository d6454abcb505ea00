import type { Severity } from '#shared/observability/watches.ts';
import { SITE_REGION, type ApiName } from './stage.ts';

/** The stacks of a stage, in the order in which they are deployed. */
export const stackIds = [
  'records-and-keys',
  'mastery',
  'sandbox',
  'documentation',
  'reports',
  'operations',
] as const;
export type StackId = (typeof stackIds)[number];

export function stackName(stage: string, id: StackId): string {
  return `mastery-reports-${stage}-${id}`;
}

/** Returns the name of an API, and of its firewall. */
export function apiName(stage: string, api: ApiName): string {
  return `mastery-reports-${stage}-${api}`;
}

/** Returns the region of a stack, in a stage of that region. */
export function stackRegion(id: StackId, region: string): string {
  return id === 'documentation' ? SITE_REGION : region;
}

/** The outputs of `operations` with the ARNs of the alarms' topics. */
export const alarmTopicOutputs = {
  page: 'PageTopicArn',
  ticket: 'TicketTopicArn',
} as const satisfies Readonly<Record<Severity, string>>;

/** The output of `documentation` with the `{sandbox_url}`. */
export const SANDBOX_URL_OUTPUT = 'SandboxUrl';

/** The output of `sandbox` with the host of its API, which refuses what does not come through the site's distribution. */
export const SANDBOX_HOST_OUTPUT = 'Host';
