import { DisableKeyCommand } from '@aws-sdk/client-kms';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stageAlarms } from '#lib/constructs/stage-alarms.ts';
import { openProfiles } from '#ops/release/profiles.ts';
import { createAwsClients, processRuntime } from '#shared/lambda/process-runtime.ts';
import { checks, scheduledChecks, watchedSettings } from '#shared/stage/checks.ts';
import { localCredentials, localRegion } from '#shared/stage/local-stage.ts';
import { apiName } from '#shared/stage/stack-names.ts';
import { createServiceProfileParameters } from '#shared/stores/service-profile-parameters.ts';
import { CERTIFICATE, NOW, prod, startSoundStage, type SoundStage } from '#test/support/sound-stage.ts';
import { bind } from './handler.ts';
import { createWatchFunction } from './watch-stage.ts';

const SETTINGS = 'mastery-reports-prod-records-and-keys-Settings01234567-ABC';
const DAY = 86_400_000;

let stage: SoundStage;
beforeAll(async () => {
  stage = await startSoundStage();
});
afterAll(() => stage.close());
afterEach(() => stage.reset());

type Line = Readonly<Record<string, unknown>>;

/** Calls the watcher as its schedule does, and returns what it logs. */
async function watch(now = NOW): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const own = processRuntime();
  const call = bind({
    ...own,
    environment: {
      STAGE: 'prod',
      SETTINGS_TABLE: SETTINGS,
      STAGE_SETTINGS: JSON.stringify(watchedSettings(prod)),
    },
    aws: createAwsClients(() => ({ region: localRegion, credentials: localCredentials })),
    fetch: stage.subject().fetch,
    now: () => now,
    write: (line) => lines.push(JSON.parse(line) as Line),
  });
  await call({}, { awsRequestId: 'f-1', getRemainingTimeInMillis: () => 120_000 });
  return lines;
}

const findings = (lines: readonly Line[]) => lines.filter(({ code }) => code === 'STAGE_FINDING');
const summary = (lines: readonly Line[]) => lines.find(({ code }) => code === 'STAGE_WATCHED') ?? {};

const jwt = (exp: number): string =>
  ['{"alg":"none"}', JSON.stringify({ exp: exp / 1_000 }), '']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

/** Provisions a credential of a tenant, and stores it where functions read it. */
async function provision(tenant: string, credential: string): Promise<void> {
  await createServiceProfileParameters(stage.test.ssm, '/prod/profiles').write(tenant, {
    PLATFORM_TENANT: tenant,
    PLATFORM_URL: 'https://platform.school.org',
    PLATFORM_JWT: credential,
  });
  const stored = await openProfiles({
    ...{ dynamo: stage.test.dynamo, kms: stage.test.kms, ssm: stage.test.ssm, now: () => NOW },
    ...{ stage: 'prod', approvedHosts: prod.approvedHosts, settingsTable: SETTINGS },
    keyId: 'alias/mastery-reports/prod',
  }).move(tenant);
  if (!stored.ok) throw new Error(stored.error);
}

it('finds nothing on a sound stage, and says how many checks it ran', async () => {
  const lines = await watch();
  expect(findings(lines)).toStrictEqual([]);
  expect(summary(lines)).toMatchObject({
    checks: scheduledChecks.length,
    findings: 0,
    certificateDaysLeft: 90,
    CertificateDaysLeft: 90,
  });
  // No gate is open, and the credential does not show its end: nothing is measured, which no alarm takes for an end.
  expect(summary(lines)).not.toHaveProperty('ManifestDaysLeft');
  expect(summary(lines)).not.toHaveProperty('CredentialDaysLeft');
});

it('every check runs on the schedule, or says why it does not', () => {
  expect(Object.entries(checks).flatMap(([name, row]) => ('unscheduled' in row ? [name] : []))).toStrictEqual(
    ['build', 'settings', 'bootstrap', 'profiles', 'blocked'],
  );
});

it.each([
  [
    'kms key',
    'kms-key-not-enabled',
    () => stage.test.kms.send(new DisableKeyCommand({ KeyId: 'alias/mastery-reports/prod' })),
  ],
  [
    'firewall',
    'firewall-missing',
    () => stage.test.aws.account.restApis.set(apiName('prod', 'reports'), { hasFirewall: false }),
  ],
  [
    'stacks',
    'stack-failed',
    () => {
      stage.change('reports', { status: 'UPDATE_ROLLBACK_FAILED' });
    },
  ],
  [
    'alarms',
    'subscription-missing',
    () => stage.test.aws.account.subscriptions.set('arn:aws:sns:us-east-1:000000000000:alarms', []),
  ],
  ['health', 'no-sound-answer', () => stage.replies.set('https://docs.school.org/docs/', [403, ''])],
  ['log role', 'log-role-missing', () => stage.test.aws.account.settings.clear()],
  ['quotas', 'quota-unknown', () => stage.test.aws.account.quotas.delete('executions')],
  [
    'certificate',
    'certificate-invalid',
    () => stage.test.aws.account.certificates.set(CERTIFICATE, { status: 'REVOKED', notAfter: NOW + DAY }),
  ],
] as const)('counts what the check %s finds: %s', async (check, finding, spoil) => {
  await spoil();
  const found = findings(await watch());
  expect(found).toMatchObject([{ check, finding, status: 'failure', rings: true, StageFindings: 1 }]);
  expect(JSON.stringify(found[0]?.['_aws'])).toContain('"Dimensions":[["stage","check"]]');
});

it('does not count a stack that is being changed, so that a deployment rings nothing', async () => {
  stage.change('reports', { status: 'UPDATE_IN_PROGRESS' });
  const [found, ...others] = findings(await watch());
  expect(others).toStrictEqual([]);
  expect(found).toMatchObject({ finding: 'stack-changing', status: 'warning', rings: false });
  expect(found).not.toHaveProperty('StageFindings');
});

it('counts a check that AWS refuses, and runs the others', async () => {
  stage.test.aws.faults.refuse('ListSubscriptionsByTopic', 'AuthorizationError', 2);
  const lines = await watch();
  expect(findings(lines)).toMatchObject([{ check: 'alarms', finding: 'not-checked', rings: true }]);
  expect(summary(lines)).toMatchObject({ checks: scheduledChecks.length });
});

it('counts a check whose store is overloaded, and ends without an error', async () => {
  stage.test.aws.faults.throttle('DescribeKey', 3);
  expect(findings(await watch())).toMatchObject([{ check: 'kms key', finding: 'not-checked', rings: true }]);
});

it('ends with an error after a defect of one check, and has run the others', async () => {
  const lines: Line[] = [];
  const call = createWatchFunction(
    {
      release: () => [{ status: 'ok', message: 'fine', daysLeft: 3 }],
      keys: () => {
        throw new TypeError('a defect');
      },
    },
    () => stage.subject(),
    { environment: { STAGE: 'prod' }, now: () => NOW, write: (line) => lines.push(JSON.parse(line) as Line) },
  );
  await expect(call({}, { awsRequestId: 'f-1', getRemainingTimeInMillis: () => 1 })).rejects.toThrow(
    'BACKGROUND_WORK_BROKEN',
  );
  expect(lines).toMatchObject([
    { code: 'BACKGROUND_WORK_BROKEN', purpose: 'keys' },
    { code: 'STAGE_WATCHED', checks: 1, manifestDaysLeft: 3 },
  ]);
});

it('names the tenants whose credential ends, measures the least, and logs no part of a credential', async () => {
  const [soon, later] = [jwt(NOW + 20.5 * DAY), jwt(NOW + 25.5 * DAY)];
  await provision('tenant-a', later);
  await provision('tenant-b', soon);
  const lines = await watch();
  expect(
    findings(lines)
      .map(({ about }) => about)
      .toSorted(),
  ).toStrictEqual(['tenant-a', 'tenant-b']);
  expect(summary(lines)).toMatchObject({ CredentialDaysLeft: 20 });
  for (const secret of [soon, later, 'credential"']) expect(JSON.stringify(lines)).not.toContain(secret);
});

describe('with the clock moved, each alarm on days left rings before anything fails', () => {
  const END = NOW + 60.5 * DAY;
  it.each([
    ['ManifestDaysLeft', 'release', () => stage.open(['A'], new Date(END).toISOString())],
    ['CredentialDaysLeft', 'credentials', () => provision('tenant', jwt(END))],
    [
      'CertificateDaysLeft',
      'certificate',
      () => stage.test.aws.account.certificates.set(CERTIFICATE, { status: 'ISSUED', notAfter: END }),
    ],
  ] as const)('%s', async (metric, check, prepare) => {
    await prepare();
    stage.replies.set('https://reports.test/v1/', [401, 'authentication-required']);
    const alarms = stageAlarms({ name: 'prod', config: prod }).filter(
      (alarm) => 'metricName' in alarm.metric && alarm.metric.metricName === metric,
    );
    expect(alarms.map(({ severity, below }) => [severity, below])).toStrictEqual([
      ['ticket', true],
      ['page', true],
    ]);
    const seen: Record<string, number> = {};
    for (const day of [60, 40, 31, 30, 29, 20, 8, 7, 6, 1, 0, -1]) {
      const lines = await watch(END - (day + 0.5) * DAY);
      const value = summary(lines)[metric];
      for (const { severity, threshold = 0 } of alarms)
        if (typeof value === 'number' && value < threshold) seen[severity] ??= day;
      if (findings(lines).some((line) => line['check'] === check && line['rings'] === true))
        seen['fails'] ??= day;
    }
    expect(seen).toStrictEqual({ ticket: 29, page: 6, fails: check === 'certificate' ? 0 : -1 });
  });
});
