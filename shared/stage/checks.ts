import type { AlarmWords, Severity } from '#shared/observability/watches.ts';
import type { StageConfig } from './stage.ts';

/** The settings that the checks compare with what is deployed. The watcher has them in its environment. */
export type WatchedSettings = Pick<
  StageConfig,
  | 'production'
  | 'terminationProtection'
  | 'releaseKey'
  | 'problemsUrl'
  | 'documentation'
  | 'domains'
  | 'throttle'
  | 'warmThroughput'
  | 'expected'
  | 'alarmsTopicArn'
>;

/** Returns the settings of a stage that the checks compare. */
export function watchedSettings({
  production,
  terminationProtection,
  releaseKey,
  problemsUrl,
  documentation,
  domains,
  throttle,
  warmThroughput,
  expected,
  alarmsTopicArn,
}: StageConfig): WatchedSettings {
  return {
    ...{ releaseKey, problemsUrl, throttle },
    ...(production !== undefined && { production }),
    ...(terminationProtection !== undefined && { terminationProtection }),
    ...(documentation && { documentation }),
    ...(domains && { domains }),
    ...(warmThroughput && { warmThroughput }),
    ...(expected && { expected }),
    ...(alarmsTopicArn && { alarmsTopicArn }),
  };
}

/** Returns the certificates that the settings of a stage name. */
export function certificatesOf({
  documentation,
  domains = {},
}: Pick<StageConfig, 'documentation' | 'domains'>): readonly string[] {
  const named = [...Object.values(domains), ...(documentation ? [documentation] : [])];
  return [...new Set(named.map(({ certificateArn }) => certificateArn))];
}

/** The metrics of what is left of something that ends, in days; with several things of a kind, of the one that ends first. */
export const daysLeft = ['ManifestDaysLeft', 'CredentialDaysLeft', 'CertificateDaysLeft'] as const;
export type DaysLeft = (typeof daysLeft)[number];

/** When a check runs: every hour, with the alarm for what it finds; or only when a person asks, with the reason. */
export type Scheduling =
  | (AlarmWords & { readonly severity: Severity; readonly daysLeft?: DaysLeft })
  | { readonly unscheduled: string };

/**
 * Every check of `npm run doctor`, in the order of its report. A check without a row does not compile, nor a row that has neither an alarm nor a
 * reason; its name is a dimension of the metric `StageFindings`.
 */
export const checks = {
  build: { unscheduled: 'The bundles are on the machine that deploys.' },
  settings: { unscheduled: 'A synth reads the settings. What is deployed has no placeholders.' },
  bootstrap: { unscheduled: 'Only a deployment needs it, and checks it first.' },
  'log role': {
    severity: 'ticket',
    title: 'API Gateway has no role to write logs with',
    impact: 'Access logs are lost, and the next deployment of an API fails. Requests are served.',
    section: 'stage-log-role',
  },
  certificate: {
    severity: 'ticket',
    title: 'A certificate is not valid',
    impact: 'Clients refuse the connection to the addresses that have it.',
    section: 'certificate-ends',
    daysLeft: 'CertificateDaysLeft',
  },
  quotas: {
    severity: 'ticket',
    title: 'The expected traffic exceeds a quota',
    impact: 'In its busiest seconds the stage returns 429 or 503 to learners.',
    section: 'stage-quotas',
  },
  release: {
    severity: 'ticket',
    title: 'What proves the open release gates is not in order',
    impact: 'The next deployment is refused, or functions close their routes.',
    section: 'manifest-ends',
    daysLeft: 'ManifestDaysLeft',
  },
  stacks: {
    severity: 'ticket',
    title: 'A stack of the stage is missing, failed or unprotected',
    impact: 'What is deployed keeps working, but cannot be updated, or can be deleted by mistake.',
    section: 'stage-stacks',
  },
  keys: {
    severity: 'page',
    title: 'The key ring is not in order',
    impact: 'Without its active key, runs cannot be started or advanced, and links to receipts do not open.',
    section: 'stage-key-ring',
  },
  'kms key': {
    severity: 'page',
    title: 'The KMS key of the stage is not enabled',
    impact:
      'New containers cannot open keys or service profiles: requests fail as Lambda replaces containers, in the end all of them.',
    section: 'stage-kms-key',
  },
  profiles: {
    unscheduled:
      'It compares with Systems Manager, where credentials can be decrypted; the watcher may not read them.',
  },
  credentials: {
    severity: 'ticket',
    title: 'The credential of a tenant has expired',
    impact: 'Every request of that tenant fails, and its learners cannot continue their tests.',
    section: 'credential-ends',
    daysLeft: 'CredentialDaysLeft',
  },
  firewall: {
    severity: 'ticket',
    title: 'An API has no firewall',
    impact: 'Nobody is hurt yet: one address can send as many requests as the throttle of the stage admits.',
    section: 'stage-firewall',
  },
  blocked: {
    unscheduled: 'A block is a deliberate act and stays for good: an alarm would ring as long.',
  },
  alarms: {
    severity: 'ticket',
    title: 'Alarms reach nobody of one severity',
    impact: 'Nobody is hurt yet: trouble would be noticed only on the dashboard.',
    section: 'stage-alarms',
  },
  health: {
    severity: 'ticket',
    title: 'An address of the stage does not respond as it should',
    impact: 'Clients of that address receive errors, or reach nothing.',
    section: 'stage-health',
  },
} as const satisfies Readonly<Record<string, Scheduling>>;

export type CheckName = keyof typeof checks;

/** A check that the watcher runs. */
export type ScheduledCheck = {
  [Name in CheckName]: (typeof checks)[Name] extends { readonly unscheduled: string } ? never : Name;
}[CheckName];

/** The checks that the watcher runs, with their alarms. */
export const scheduledChecks: readonly (readonly [
  ScheduledCheck,
  Exclude<Scheduling, { readonly unscheduled: string }>,
])[] = Object.entries<Scheduling>(checks).flatMap(([name, scheduling]) =>
  // SAFETY: it has an alarm.
  'unscheduled' in scheduling ? [] : [[name as ScheduledCheck, scheduling] as const],
);
