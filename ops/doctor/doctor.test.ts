import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { localTables } from '#local/aws/resources.ts';
import type { Restore } from '#local/aws/wire.ts';
import { keyPurposes } from '#shared/keys/key-ring.ts';
import { localCredentials, localRegion } from '#shared/stage/local-stage.ts';
import { ALARM_TOPIC_OUTPUT, stackIds, stackName, type StackId } from '#shared/stage/stack-names.ts';
import { stages, type Stage } from '#shared/stage/stages.ts';
import { useSettings } from '#shared/stores/clients.ts';
import { writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { createServiceProfileParameters } from '#shared/stores/service-profile-parameters.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { startTestAws, type TestAws } from '#test/support/aws.ts';
import { accountChecks } from './account-checks.ts';
import { mendAll, renderLine, runChecks, subjectOf, type Line, type Subject } from './finding.ts';
import { stageChecks } from './stage-checks.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:alarms';
const CERTIFICATE = 'arn:aws:acm:us-east-1:000000000000:certificate/1';
const MARKER = '/prod/gates/marker';
const settingsTable = 'mastery-reports-prod-records-and-keys-Settings01234567-ABC';
const prod: Stage['config'] = {
  ...stages.prod,
  token: { ...stages.prod.token, issuer: 'https://id.school.org', jwksUrl: 'https://id.school.org/jwks' },
  releaseKey: {
    kty: 'EC',
    crv: 'P-256',
    x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
    y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
  },
  approvedHosts: ['platform.school.org'],
  problemsUrl: 'https://docs.school.org/problems',
  runbookUrl: 'https://docs.school.org/runbook',
  alarmsEmail: 'operators@school.org',
  documentation: { domain: 'docs.school.org', certificateArn: CERTIFICATE },
};

let test: TestAws;
let restore: Restore;
/** What the deployed addresses return: the status and the code of the problem. */
let replies: Map<string, readonly [number, string]>;

beforeAll(async () => {
  test = await startTestAws({
    tables: localTables().map(({ tableName, ...table }) => ({
      ...table,
      tableName: tableName.replace(
        /^local-(.)(.*)$/,
        (_, first: string, rest: string) =>
          `mastery-reports-prod-records-and-keys-${first.toUpperCase()}${rest}01234567-ABC`,
      ),
    })),
    keyAliases: ['alias/mastery-reports/prod'],
  });
  for (const [name, value] of Object.entries(test.env)) vi.stubEnv(name, value);
  useSettings({ region: localRegion, credentials: localCredentials });
  await makeSound();
  restore = await test.aws.snapshot();
});
afterAll(async () => {
  useSettings({});
  vi.unstubAllEnvs();
  await test.close();
});
beforeEach(() => {
  replies = new Map([
    ['https://mastery.test/v1/', [401, 'authentication-required']],
    ['https://reports.test/v1/', [404, 'not-found']],
    ['https://receipts.test/', [404, 'not-found']],
    ['https://sandbox.test/v1/', [404, 'not-found']],
    ['https://docs.school.org/', [200, '']],
  ]);
});
afterEach(() => restore());

/** A deployed stage with nothing to complain of. */
async function makeSound(): Promise<void> {
  const { account } = test.aws;
  await writeGateParameter(test.ssm, '/cdk-bootstrap/hnb659fds/version', '25');
  await writeGateParameter(test.ssm, MARKER, 'prod');
  const outputs: Partial<Record<StackId, Record<string, string>>> = {
    mastery: { BaseUrl: 'https://mastery.test' },
    reports: { BaseUrl: 'https://reports.test', ReceiptsUrl: 'https://receipts.test' },
    sandbox: { BaseUrl: 'https://sandbox.test' },
    documentation: { SiteUrl: 'https://docs.school.org' },
    operations: { [ALARM_TOPIC_OUTPUT]: TOPIC },
  };
  for (const id of stackIds)
    account.stacks.set(stackName('prod', id), {
      status: 'UPDATE_COMPLETE',
      terminationProtection: true,
      outputs: outputs[id] ?? {},
    });
  account.settings.set('apigateway', 'arn:aws:iam::000000000000:role/logs');
  account.subscriptions.set(TOPIC, [{ endpoint: 'operators@school.org', confirmed: true }]);
  account.certificates.set(CERTIFICATE, { status: 'ISSUED', notAfter: NOW + 90 * 86_400_000 });
  await createServiceProfileParameters(test.ssm, '/prod/profiles').write('tenant', {
    tenant: 'tenant',
    url: 'https://platform.school.org',
    jwt: 'credential',
    analysisPolicyId: undefined,
    resultsKcComponents: undefined,
  });
  const found = await examine({ only: ['keys'] });
  expect(found.map(({ message }) => message)).toStrictEqual(
    keyPurposes.map((purpose) => `${purpose} has 0 active keys: requests that need one return 500`),
  );
  await mendAll(found);
}

const get: typeof fetch = (url) => {
  const [status, code] = [...replies].find(([base]) => (url as string).startsWith(base))?.[1] ?? [0, ''];
  return status === 0
    ? Promise.reject(
        new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) }),
      )
    : Promise.resolve(new Response(JSON.stringify({ type: `${prod.problemsUrl}/${code}` }), { status }));
};

interface Asked {
  readonly config?: Stage['config'];
  readonly only?: readonly string[];
  readonly now?: number;
}

function subject({ config = prod, now = NOW }: Asked): Subject {
  const place = { account: '000000000000', region: localRegion, credentials: localCredentials } as const;
  return {
    ...subjectOf({ name: 'prod', config }, place),
    now,
    fetch: get,
    pause: () => Promise.resolve(),
  };
}

async function examine(asked: Asked = {}): Promise<readonly Line[]> {
  const checks = Object.entries({ ...accountChecks, ...stageChecks }).filter(([name]) =>
    // Whether this folder was built is no question of the account.
    asked.only === undefined ? name !== 'build' : asked.only.includes(name),
  );
  return runChecks(Object.fromEntries(checks), subject(asked));
}

/** The lines that are not ok, as they are printed. */
async function complaints(asked: Asked = {}): Promise<string> {
  const lines = await examine(asked);
  return lines
    .filter(({ status }) => status !== 'ok')
    .map(renderLine)
    .join('\n');
}

const stack = (id: StackId, changed: { status?: string; terminationProtection?: boolean }): void => {
  const name = stackName('prod', id);
  const known = test.aws.account.stacks.get(name);
  if (known !== undefined) test.aws.account.stacks.set(name, { ...known, ...changed });
};

it('finds nothing wrong with a stage that is sound, and says what it has looked at', async () => {
  const lines = await examine();
  expect(lines.map(renderLine).filter((line) => !line.startsWith('ok '))).toStrictEqual([]);
  expect(new Set(lines.map(({ check }) => check))).toStrictEqual(
    new Set([...Object.keys(accountChecks), ...Object.keys(stageChecks)].filter((name) => name !== 'build')),
  );
});

const faults: readonly (readonly [string, RegExp, () => unknown, Asked?])[] = [
  [
    'a setting to fill in',
    /^failure +settings +placeholder settings: alarmsEmail\. .*step 2/,
    () => undefined,
    { config: { ...prod, alarmsEmail: 'operators@school.example' } },
  ],
  [
    'an account that is not bootstrapped',
    /^failure +bootstrap .*npx cdk bootstrap -c stage=prod/,
    () => test.aws.faults.refuse('GetParameter', 'ParameterNotFound', 1),
  ],
  [
    'an old bootstrap',
    /^failure +bootstrap .*version 5 is older/,
    () => writeGateParameter(test.ssm, '/cdk-bootstrap/hnb659fds/version', '5'),
  ],
  ['no role for logs', /^failure +log role .*--stage prod --fix/, () => test.aws.account.settings.clear()],
  [
    'a certificate that ends',
    /^warning +certificate .* valid for 29 days\. /,
    () =>
      test.aws.account.certificates.set(CERTIFICATE, { status: 'ISSUED', notAfter: NOW + 29.5 * 86_400_000 }),
  ],
  [
    'a certificate that has ended',
    /^failure +certificate .* no longer valid\. /,
    () => test.aws.account.certificates.set(CERTIFICATE, { status: 'ISSUED', notAfter: NOW }),
  ],
  [
    'a certificate that waits',
    /^failure +certificate .* is PENDING_VALIDATION/,
    () => test.aws.account.certificates.set(CERTIFICATE, { status: 'PENDING_VALIDATION', notAfter: 0 }),
  ],
  [
    'a flag without a manifest',
    /^failure +release .*\/prod\/gates\/A is "open", but no applied manifest.*gates -- show/,
    () => writeGateParameter(test.ssm, '/prod/gates/A', 'open'),
  ],
  [
    'a stack without protection',
    /^failure +stacks .*-sandbox has no termination protection/,
    () => stack('sandbox', { terminationProtection: false }),
  ],
  [
    'stores without protection, on any stage',
    /^failure +stacks .*-records-and-keys has no termination protection/,
    () => stack('records-and-keys', { terminationProtection: false }),
    { config: { ...prod, production: false } },
  ],
  [
    'a stack that is stuck',
    /^failure +stacks .*aws cloudformation continue-update-rollback/,
    () => stack('reports', { status: 'UPDATE_ROLLBACK_FAILED' }),
  ],
  [
    'a first deployment that failed',
    /^failure +stacks .*deploy again/,
    () => stack('reports', { status: 'ROLLBACK_COMPLETE' }),
  ],
  [
    'a stack that is gone',
    /^failure +stacks .*-operations does not exist/,
    () => test.aws.account.stacks.delete(stackName('prod', 'operations')),
  ],
  [
    'a deployment under way',
    /^warning +stacks .*UPDATE_IN_PROGRESS/,
    () => stack('reports', { status: 'UPDATE_IN_PROGRESS' }),
  ],
  [
    'a deployment that was rolled back',
    /^warning +stacks .*describe-stack-events/,
    () => stack('reports', { status: 'UPDATE_ROLLBACK_COMPLETE' }),
  ],
  [
    'a tenant without a credential',
    /^failure +profiles .*dGVuYW50Mg lacks PLATFORM_JWT/,
    () => writeBare('tenant2', 'https://platform.school.org'),
  ],
  [
    'a tenant at another host',
    /^failure +profiles .*points to elsewhere.org/,
    () => writeBare('tenant', 'https://elsewhere.org'),
  ],
  [
    'an address that waits for its confirmation',
    /^failure +alarms .*operators@school.org has not confirmed.*aws sns subscribe/,
    () => test.aws.account.subscriptions.set(TOPIC, [{ endpoint: 'operators@school.org', confirmed: false }]),
  ],
  [
    'the same on a stage for trials',
    /^warning +alarms .*has not confirmed/,
    () => test.aws.account.subscriptions.set(TOPIC, [{ endpoint: 'operators@school.org', confirmed: false }]),
    { config: { ...prod, production: false } },
  ],
  [
    'a topic without a subscription',
    /^failure +alarms .*nothing subscribes/,
    () => test.aws.account.subscriptions.set(TOPIC, []),
  ],
  [
    'an API that serves without a token',
    /^failure +health .*mastery: .* returned 200; expected 401/,
    () => replies.set('https://mastery.test/v1/', [200, '']),
  ],
  [
    'an API with another problem',
    /^failure +health .*sandbox: .* returned the type/,
    () => replies.set('https://sandbox.test/v1/', [404, 'other']),
  ],
  [
    'an address that leads nowhere',
    /^failure +health .*receipts: .*cannot be reached \(ENOTFOUND\)/,
    () => replies.delete('https://receipts.test/'),
  ],
  [
    'a call that AWS refuses',
    /^failure +alarms .*not checked: AWS refused: AuthorizationError.*permissions/,
    () => test.aws.faults.refuse('ListSubscriptionsByTopic', 'AuthorizationError', 1),
  ],
  [
    'a call that AWS throttles',
    /^failure +certificate .*not checked: AWS refused: ThrottlingException/,
    () => test.aws.faults.throttle('DescribeCertificate', 3),
  ],
];
it.each(faults.map(([title, ...fault]) => [title, fault] as const))(
  '%s is the one complaint',
  async (_, [line, spoil, asked]) => {
    await spoil();
    expect(await complaints(asked)).toMatch(new RegExp(`${line.source}[^\\n]*$`));
  },
);

async function writeBare(tenant: string, url: string): Promise<void> {
  const folder = `/prod/profiles/${Buffer.from(tenant).toString('base64url')}`;
  await writeGateParameter(test.ssm, `${folder}/PLATFORM_TENANT`, tenant);
  await writeGateParameter(test.ssm, `${folder}/PLATFORM_URL`, url);
}

describe('keys', () => {
  const ring = () => createWritableKeySettings(test.dynamo, settingsTable);

  it('that wait for longer than they need are named with the command', async () => {
    const record = { kid: 'k2', state: 'pending', wrappedKey: Buffer.from('x'), createdAt: NOW } as const;
    await ring().write([{ kind: 'create', record: { ...record, purpose: 'cursor' } }]);
    expect(await complaints({ only: ['keys'] })).toBe('');
    expect(await complaints({ only: ['keys'], now: NOW + 3_600_000 })).toMatch(
      /^warning +keys +cursor: k2 is still pending\. To mend it: npm run keys -- rotate --stage prod --purpose cursor$/,
    );
  });

  it('that were lost are never made anew: a restore would not bring the old ones back', async () => {
    for (const id of ['k1']) await lose('pseudonym', id);
    const lines = await examine({ only: ['keys'] });
    expect(lines.map(renderLine).join('\n')).toMatch(
      /^failure +keys +pseudonym had keys, .*disaster-recovery/,
    );
    expect(await mendAll(lines)).toStrictEqual([]);
  });

  async function lose(purpose: string, kid: string): Promise<void> {
    const { DeleteItemCommand } = await import('@aws-sdk/client-dynamodb');
    await test.dynamo.send(
      new DeleteItemCommand({
        TableName: settingsTable,
        Key: { pk: { S: `key#${purpose}` }, sk: { S: kid } },
      }),
    );
  }
});

it('--fix makes the role for logs, once IAM knows it, and protects stacks; it finds nothing to do then', async () => {
  test.aws.account.settings.clear();
  test.aws.faults.refuse('PATCH /account', 'BadRequestException', 2);
  stack('sandbox', { terminationProtection: false });
  const mended = await mendAll(await examine());
  expect(mended.map(renderLine)).toStrictEqual([
    'ok       log role     mended: API Gateway writes logs as arn:aws:iam::000000000000:role/mastery-reports-api-gateway-logs',
    'ok       stacks       mended: mastery-reports-prod-sandbox has termination protection',
  ]);
  expect(await complaints()).toBe('');
  // Another operator’s half-done role is completed.
  test.aws.account.settings.clear();
  test.aws.account.roles.set('mastery-reports-api-gateway-logs', []);
  await mendAll(await examine());
  expect(await complaints()).toBe('');
  // Who may not, is told.
  test.aws.account.settings.clear();
  test.aws.faults.refuse('CreateRole', 'AccessDenied', 1);
  expect((await mendAll(await examine())).map(renderLine)[0]).toMatch(/^failure +log role .*AccessDenied/);
});

it('before the first deployment, it looks at the account alone, and names the command', async () => {
  for (const id of stackIds) test.aws.account.stacks.delete(stackName('prod', id));
  const { DeleteParameterCommand } = await import('@aws-sdk/client-ssm');
  await test.ssm.send(new DeleteParameterCommand({ Name: MARKER }));
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
