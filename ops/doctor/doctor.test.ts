import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DisableKeyCommand } from '@aws-sdk/client-kms';
import { DeleteParameterCommand } from '@aws-sdk/client-ssm';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ProfileParameters } from '#shared/platform/service-profiles.ts';
import { openProfiles } from '#ops/release/profiles.ts';
import { stackIds, stackName, stackRegion } from '#shared/stage/stack-names.ts';
import { localCredentials } from '#shared/stage/local-stage.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import {
  CERTIFICATE,
  MARKER,
  NOW,
  prod,
  startSoundStage,
  SITE_TICKETS,
  TOPIC,
  type SoundStage,
} from '#test/support/sound-stage.ts';
import { accountChecks } from './account-checks.ts';
import { mendAll, renderLine, runChecks, subjectOf, type Line } from './finding.ts';
import { protectStack, readChangeSet } from './stacks.ts';
import { stageChecks } from './stage-checks.ts';

const settingsTable = 'mastery-reports-prod-records-and-keys-Settings01234567-ABC';
const recordsTable = settingsTable.replace('Settings', 'Records');

let stage: SoundStage;
beforeAll(async () => {
  stage = await startSoundStage();
});
afterAll(() => stage.close());
afterEach(() => stage.reset());

interface Asked {
  readonly config?: Stage['config'];
  readonly only?: readonly string[];
  readonly now?: number;
}

async function examine({ only, ...changed }: Asked = {}): Promise<readonly Line[]> {
  const checks = Object.entries({ ...accountChecks, ...stageChecks }).filter(([name]) =>
    // Whether this folder was built is no question of the account.
    only === undefined ? name !== 'build' : only.includes(name),
  );
  return runChecks(Object.fromEntries(checks), stage.subject(changed));
}

/** The lines that are not ok, as they are printed. */
async function complaints(asked: Asked = {}): Promise<string> {
  const lines = await examine(asked);
  return lines
    .filter(({ status }) => status !== 'ok')
    .map(renderLine)
    .join('\n');
}

it('finds nothing wrong with a stage that is sound, and says what it has looked at', async () => {
  const lines = await examine();
  expect(lines.map(renderLine).filter((line) => !line.startsWith('ok '))).toStrictEqual([]);
  expect(new Set(lines.map(({ check }) => check))).toStrictEqual(
    new Set([...Object.keys(accountChecks), ...Object.keys(stageChecks)].filter((name) => name !== 'build')),
  );
});

const account = () => stage.test.aws.account;
const faults = () => stage.test.aws.faults;
const gate = (path: string, value: string) => writeGateParameter(stage.test.ssm, path, value);
const certificate = (status: string, notAfter: number) =>
  account().certificates.set(CERTIFICATE, { status, notAfter });
const subscribed = (...endpoints: readonly string[]) =>
  account().subscriptions.set(
    TOPIC,
    endpoints.map((endpoint) => ({ endpoint, confirmed: false })),
  );
const { expected: _, ...unexpecting } = prod;
/** A stage for trials. */
const trial = { config: { ...prod, production: false } };

const change =
  (...given: Parameters<SoundStage['change']>) =>
  () =>
    stage.change(...given);
/** What spoils a stage, and how it is asked for then, by the line that complains: a space in it stands for any number of them. */
const spoiled: Readonly<Record<string, readonly [spoil: () => unknown, asked?: Asked]>> = {
  'failure settings placeholder settings: alarmsEmail\\. .*step 2': [
    () => undefined,
    { config: { ...prod, alarmsEmail: { page: 'on-call@school.org', ticket: 'operators@school.example' } } },
  ],
  'failure bootstrap .*npx cdk bootstrap -c stage=prod': [
    () => faults().refuse('GetParameter', 'ParameterNotFound', 1),
  ],
  'failure bootstrap .*version 5 is older': [() => gate('/cdk-bootstrap/hnb659fds/version', '5')],
  'failure bootstrap .*not a number: "5a"': [() => gate('/cdk-bootstrap/hnb659fds/version', '5a')],
  'failure log role .*--stage prod --fix': [() => account().settings.clear()],
  'warning certificate .* valid for 29 days\\. ': [() => certificate('ISSUED', NOW + 29.5 * 86_400_000)],
  'failure certificate .* no longer valid\\. ': [() => certificate('ISSUED', NOW)],
  'failure quotas functions at once: .* of 10 executions .*Concurrent executions': [
    () => account().quotas.set('executions', 10),
    { config: { ...prod, expected: { runsPerMonth: 100_000, reportsPerMonth: 400_000 } } },
  ],
  'failure quotas Lambda returned no quota: .* unknown\\.': [() => account().quotas.delete('executions')],
  'warning quotas .*does not say what traffic it expects.*docs/scale\\.md\\)': [
    () => undefined,
    { config: unexpecting },
  ],
  'warning quotas requests to all APIs: .* of 50 requests/s': [
    () => account().quotas.set('apiRequests', 50),
    { config: { ...prod, expected: { runsPerMonth: 100_000, reportsPerMonth: 400_000 } } },
  ],
  'failure certificate .* is PENDING_VALIDATION': [() => certificate('PENDING_VALIDATION', 0)],
  'failure release .*/prod/gates/A is "open", but no applied manifest.*gates -- show': [
    () => gate('/prod/gates/A', 'open'),
  ],
  'failure stacks .*-sandbox has no termination protection': [
    change('sandbox', { terminationProtection: false }),
  ],
  'failure stacks .*-records-and-keys has no termination protection': [
    change('records-and-keys', { terminationProtection: false }),
    trial,
  ],
  'failure stacks .*aws cloudformation continue-update-rollback': [
    change('reports', { status: 'UPDATE_ROLLBACK_FAILED' }),
  ],
  'failure stacks .*deploy again': [change('reports', { status: 'ROLLBACK_COMPLETE' })],
  'failure stacks .*-operations does not exist': [
    () => account().stacks.delete(stackName('prod', 'operations')),
  ],
  'warning stacks .*UPDATE_IN_PROGRESS': [change('reports', { status: 'UPDATE_IN_PROGRESS' })],
  'warning stacks .*describe-stack-events': [change('reports', { status: 'UPDATE_ROLLBACK_COMPLETE' })],
  'failure profiles .*dGVuYW50Mg lacks PLATFORM_JWT': [
    () => writeBare('tenant2', 'https://platform.school.org'),
  ],
  'failure profiles .*points to elsewhere.org': [() => writeBare('tenant', 'https://elsewhere.org')],
  'failure profiles .*dGVuYW50Mg is not stored where .*release -- profile --stage prod --tenant tenant2': [
    () => provide('tenant2', {}),
  ],
  'failure profiles .*dGVuYW50 has other facts .*release -- profile --stage prod --tenant tenant': [
    () => gate('/prod/profiles/dGVuYW50/RESULTS_KC_COMPONENTS', 'supported'),
  ],
  'failure profiles .*dGVuYW50 has another credential .*release -- profile --stage prod --tenant tenant': [
    () => provide('tenant', { PLATFORM_JWT: 'another' }),
  ],
  'failure profiles .*dGVuYW50 is stored in a damaged item.*release -- profile': [
    () =>
      stage.test.dynamo.send(
        new PutItemCommand({
          TableName: settingsTable,
          Item: { pk: { S: 'profile#dGVuYW50' }, sk: { S: 'profile' } },
        }),
      ),
  ],
  'failure profiles .*dGVuYW50Mw is read by functions, .*release -- profile --stage prod --tenant tenant3 --remove':
    [
      async () => {
        await provide('tenant3', {});
        await openProfiles(places()).move('tenant3');
        await openProfiles(places()).parameters.remove('tenant3');
      },
    ],
  "failure profiles .* is not stored where .*--tenant 'the owner'\\\\''s school'": [
    () => provide("the owner's school", {}),
  ],
  'failure kms key .* is Disabled: .*aws kms enable-key': [
    () => stage.test.kms.send(new DisableKeyCommand({ KeyId: 'alias/mastery-reports/prod' })),
  ],
  'failure firewall the API mastery-reports-prod-receipts has no firewall': [
    () => account().restApis.set('mastery-reports-prod-receipts', { hasFirewall: false }),
  ],
  'failure credentials the credential of tenant expired at 2029-12-31T12:00:00.000Z .*--tenant tenant': [
    () => expiring('2029-12-31T12:00:00Z'),
  ],
  'warning credentials the credential of tenant expires at 2030-01-21T00:00:00.000Z \\(20 days\\)': [
    () => expiring('2030-01-21T00:00:00Z'),
  ],
  'warning blocked the policy p-1 of a/b has been blocked since 2029-12-01T00:00:00Z: wrong items\\. ': [
    () =>
      createRecordsTable(stage.test.dynamo, recordsTable).changeLifecycle(
        { kind: 'policy', id: 'p-1', tenantId: 'a/b' },
        { blockedAt: '2029-12-01T00:00:00Z', blockedBecause: 'wrong items' },
      ),
  ],
  'failure alarms .*operators@school.org has not confirmed.*aws sns subscribe': [
    () => subscribed('operators@school.org'),
  ],
  'warning alarms .*has not confirmed': [() => subscribed('operators@school.org'), trial],
  'failure alarms .*nothing subscribes': [() => subscribed()],
  'failure alarms .*nothing subscribes to the topic of the alarms of the site': [
    () => account().subscriptions.set(SITE_TICKETS, []),
  ],
  'failure health .*mastery: .* returned 200; expected 401': [
    () => stage.replies.set('https://mastery.test/v1/', [200, '']),
  ],
  'failure health .*sandbox: https://docs.* returned the type': [
    () => stage.replies.set('https://docs.school.org/sandbox/v1/', [404, 'other']),
  ],
  'failure health .*sandbox: https://sandbox.* returned 404; expected 400 validation': [
    () => stage.replies.set('https://sandbox.test/prod/v1/', [404, 'not-found']),
  ],
  'failure health .*receipts: .*cannot be reached \\(ENOTFOUND\\)': [
    () => stage.replies.delete('https://receipts.test/'),
  ],
  'failure alarms .*not checked: AWS refused: AuthorizationError.*permissions': [
    () => faults().refuse('ListSubscriptionsByTopic', 'AuthorizationError', 1),
  ],
  'failure certificate .*not checked: AWS refused: ThrottlingException': [
    () => faults().throttle('DescribeCertificate', 3),
  ],
};
it.each(Object.entries(spoiled))('%s is the one complaint', async (line, [spoil, asked]) => {
  await spoil();
  expect(await complaints(asked)).toMatch(new RegExp(`^${line.replaceAll(' ', ' +')}[^\\n]*$`));
});

/** Gives the tenant a credential that ends then. */
async function expiring(end: string): Promise<void> {
  const claims = Buffer.from(JSON.stringify({ exp: Date.parse(end) / 1_000 })).toString('base64url');
  await provide('tenant', { PLATFORM_JWT: `e30.${claims}.x` });
  await openProfiles(places()).move('tenant');
}

async function writeBare(tenant: string, url: string): Promise<void> {
  const folder = `/prod/profiles/${Buffer.from(tenant).toString('base64url')}`;
  await writeGateParameter(stage.test.ssm, `${folder}/PLATFORM_TENANT`, tenant);
  await writeGateParameter(stage.test.ssm, `${folder}/PLATFORM_URL`, url);
}

const places = () => ({
  ...{ dynamo: stage.test.dynamo, kms: stage.test.kms, ssm: stage.test.ssm, now: () => NOW },
  ...{ stage: 'prod', approvedHosts: prod.approvedHosts, settingsTable },
  keyId: 'alias/mastery-reports/prod',
});

async function provide(tenant: string, changed: ProfileParameters): Promise<void> {
  await openProfiles(places()).parameters.write(tenant, {
    PLATFORM_TENANT: tenant,
    PLATFORM_URL: 'https://platform.school.org',
    PLATFORM_JWT: 'credential',
    ...changed,
  });
}

it('a stage of another region has the site, and so a bootstrap, in us-east-1', async () => {
  const place = { account: '000000000000', region: 'eu-central-1', credentials: localCredentials } as const;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const region = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(request.headers.authorization ?? '')?.[1] ?? '';
    void text(request).then((body) => {
      const { StackName = '', Name = '' } = Object.fromEntries(
        new URLSearchParams(body.startsWith('{') ? (JSON.parse(body) as Record<string, string>) : body),
      );
      asked.push(`${StackName}${Name} ${region}`);
      response.writeHead(400, { 'x-amzn-errortype': 'ParameterNotFound', 'content-type': 'text/xml' });
      response.end(
        '<ErrorResponse><Error><Code>ValidationError</Code><Message>It does not exist</Message></Error></ErrorResponse>',
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await subjectOf({ name: 'prod', config: prod }, place).stacks();
  await protectStack(place, stackName('prod', 'documentation')).catch(() => undefined);
  await readChangeSet(place, stackName('prod', 'documentation'), 'review').catch(() => undefined);
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', undefined);
  server.close();
  const site = `${stackName('prod', 'documentation')} us-east-1`;
  expect(asked).toStrictEqual([
    ...stackIds.map((id) => `${stackName('prod', id)} ${stackRegion(id, 'eu-central-1')}`),
    ...[site, site],
  ]);

  const bootstrapped = await runChecks({ bootstrap: accountChecks.bootstrap }, { ...stage.subject(), place });
  expect(bootstrapped.map(({ message }) => message)).toStrictEqual([
    'eu-central-1: CDK bootstrap version 25',
    'us-east-1: CDK bootstrap version 25',
  ]);
});

it('--fix says as a failure what it could not store', async () => {
  await provide('tenant2', {});
  const found = await examine({ only: ['profiles'] });
  await openProfiles(places()).parameters.remove('tenant2');
  expect((await mendAll(found)).map(renderLine)).toStrictEqual([
    expect.stringMatching(/^failure +profiles +not mended: .*dGVuYW50Mg has no parameters/),
  ]);
});

it('--fix stores each profile that functions do not read as it is provisioned', async () => {
  await provide('tenant2', {});
  await gate('/prod/profiles/dGVuYW50/RESULTS_KC_COMPONENTS', 'supported');
  const mended = await mendAll(await examine({ only: ['profiles'] }));
  expect(mended.map(({ message }) => message)).toStrictEqual([
    expect.stringMatching(/^mended: profile of tenant: stored for https:\/\/platform\.school\.org; /),
    expect.stringMatching(/^mended: profile of tenant2: stored for https:\/\/platform\.school\.org; /),
  ]);
  expect(await complaints()).toBe('');
});

describe('open gates', () => {
  it('need a manifest that lasts, and show in what the service returns', async () => {
    await stage.open(['A', 'B', 'C', 'D'], '2030-02-15T00:00:00Z');
    expect(await complaints()).toMatch(/^failure +health +reports: .* returned 404; expected 401[^\n]*$/);
    stage.replies.set('https://reports.test/v1/', [401, 'authentication-required']);
    expect(await complaints()).toBe('');
    expect(await complaints({ only: ['release'], now: NOW + 20 * 86_400_000 })).toMatch(
      /^warning +release +the manifest is valid until 2030-02-15T00:00:00Z \(25 days\); then its gates close/,
    );
    expect(await complaints({ only: ['release'], now: NOW + 50 * 86_400_000 })).toMatch(/^failure .*expired/);
  });

  it('D and F need a released analysis policy for each tenant', async () => {
    await stage.open(['D', 'F'], '2030-04-01T00:00:00Z');
    const only = ['profiles'];
    expect(await complaints({ only })).toMatch(/^failure +profiles .* lacks ANALYSIS_POLICY_ID/);
    // A deployment stores it nevertheless: analyses are not all that needs it.
    await provide('tenant2', {});
    expect(await complaints({ only })).toMatch(
      /dGVuYW50Mg lacks ANALYSIS_POLICY_ID[^\n]*\n[^\n]*dGVuYW50Mg is not stored/,
    );
    expect((await mendAll(await examine({ only }))).map(({ message }) => message)).toStrictEqual([
      expect.stringMatching(/^mended: profile of tenant2: stored/),
    ]);
    await openProfiles(places()).remove('tenant2');
    await writeGateParameter(stage.test.ssm, `/prod/profiles/dGVuYW50/ANALYSIS_POLICY_ID`, 'thresholds-1');
    expect(await complaints({ only })).toMatch(/^failure +profiles .*thresholds-1, which is not released/);
    const records = createRecordsTable(stage.test.dynamo, recordsTable);
    await records.writeOnce({ kind: 'analysis-policy', id: 'thresholds-1' }, { document: '{}' });
    expect(await complaints({ only })).toMatch(/^failure +profiles .* has other facts than functions read/);
    await openProfiles(places()).move('tenant');
    expect(await complaints({ only })).toBe('');
  });
});

describe('keys', () => {
  const ring = () => createWritableKeySettings(stage.test.dynamo, settingsTable);

  it('that wait for longer than they need are named with the command', async () => {
    const record = { kid: 'k2', state: 'pending', wrappedKey: Buffer.from('x'), createdAt: NOW } as const;
    await ring().write([{ kind: 'create', record: { ...record, purpose: 'cursor' } }]);
    expect(await complaints({ only: ['keys'] })).toBe('');
    expect(await complaints({ only: ['keys'], now: NOW + 3_600_000 })).toMatch(
      /^warning +keys +cursor: k2 is still pending\. To mend it: npm run keys -- rotate --stage prod --purpose cursor$/,
    );
  });

  it('that were lost are never made anew: a restore would not bring the old ones back', async () => {
    const Key = { pk: { S: 'key#pseudonym' }, sk: { S: 'k1' } };
    await stage.test.dynamo.send(new DeleteItemCommand({ TableName: settingsTable, Key }));
    const lines = await examine({ only: ['keys'] });
    expect(lines.map(renderLine).join('\n')).toMatch(
      /^failure +keys +pseudonym had keys, .*disaster-recovery/,
    );
    expect(await mendAll(lines)).toStrictEqual([]);
  });
});

it('--fix makes the role for logs, once IAM knows it, and protects stacks; it finds nothing to do then', async () => {
  stage.test.aws.account.settings.clear();
  stage.test.aws.faults.refuse('PATCH /account', 'BadRequestException', 2);
  stage.change('sandbox', { terminationProtection: false });
  const mended = await mendAll(await examine());
  expect(mended.map(renderLine)).toStrictEqual([
    'ok       log role     mended: API Gateway writes logs as arn:aws:iam::000000000000:role/mastery-reports-api-gateway-logs',
    'ok       stacks       mended: mastery-reports-prod-sandbox has termination protection',
  ]);
  expect(await complaints()).toBe('');
  // Another operator’s half-done role is completed.
  stage.test.aws.account.settings.clear();
  stage.test.aws.account.roles.set('mastery-reports-api-gateway-logs', []);
  await mendAll(await examine());
  expect(await complaints()).toBe('');
  // Who may not, is told.
  stage.test.aws.account.settings.clear();
  stage.test.aws.faults.refuse('CreateRole', 'AccessDenied', 1);
  expect((await mendAll(await examine())).map(renderLine)[0]).toMatch(/^failure +log role .*AccessDenied/);
});

it('before the first deployment, it looks at the account alone, and names the command', async () => {
  for (const id of stackIds) stage.test.aws.account.stacks.delete(stackName('prod', id));
  await stage.test.ssm.send(new DeleteParameterCommand({ Name: MARKER }));
  const lines = await examine();
  expect(
    lines
      .filter(({ status }) => status !== 'ok')
      .map(renderLine)
      .join('\n'),
  ).toMatch(/^warning +release .*npm run deploy -- -c stage=prod -c first=000000000000\/us-east-1$/);
  expect(new Set(lines.map(({ check }) => check))).toStrictEqual(
    new Set([...Object.keys(accountChecks), 'release'].filter((name) => name !== 'build')),
  );
});
